#pragma once

#include <string>

#include "client/programs.hpp"

/// The server under test, started by another command that ends with executing it, such as
/// `prlimit --nproc=20`. Must exit with 0 when it goes out of scope, as every server.
class WrappedServer {
  public:
    /// Throws std::runtime_error when it does not say where it listens.
    WrappedServer(client::Flags command, client::Port downstream, const client::Flags& flags = {});
    ~WrappedServer();

    client::Port port() const { return port_; }
    client::Process& process() { return process_; }

  private:
    client::Process process_;
    client::Port port_ = 0;
};

/// The words to put before a program that shall run under such a limit as an ordinary user, whom
/// nobody else runs as; empty where that cannot be had: the reason is in `why_not`.
client::Flags under_thread_limit(int threads, std::string& why_not);

/// The first argument of this very program when it shall start another (argument 3 and following)
/// for which the kernel watches no socket from this number (argument 2) on.
inline constexpr const char* kWatchBelow = "--watch-below";
/// The words to put before such a program.
client::Flags under_watch_limit(int highest_descriptor);
/// What `main` does then. Returns only when it fails.
int run_with_few_watches(int highest_descriptor, char** command);
