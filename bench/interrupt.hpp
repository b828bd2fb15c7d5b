#pragma once

namespace bench {

/// SIGINT, SIGTERM and SIGHUP only set a flag, which every loop of the runner looks at.
void catch_interrupts();
bool interrupted();

}  // namespace bench
