#pragma once

namespace stackful::runtime {

/// Loads what tracing needs, which takes more stack than a fiber has to spare. Before the first.
void prepare_trace();

/// Logs the calling fiber's stack, once for each distinct one and at most a bounded number.
void trace_pinned_wait();

}  // namespace stackful::runtime
