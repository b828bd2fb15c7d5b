#pragma once

#include <string>
#include <vector>

#include "client/connection.hpp"
#include "client/process.hpp"

namespace client {

using Flags = std::vector<std::string>;

/// The programs under test, from the flags `--server=PATH`, `--server-flags=FLAG,VALUE` (what every
/// server is started with) and `--stub=PATH`.
struct Programs {
    std::string server;
    Flags server_flags;
    std::string stub;

    /// What the server calls itself, for instance `stackful`.
    std::string model() const;
};
const Programs& programs();

/// What every `main` of these suites does.
int run_all_tests(int argc, char** argv);

/// A server or stub that listens. When it goes out of scope it is told to stop, and the test fails
/// unless it exits with 0, which a sanitizer's finding would prevent.
class Listening {
  public:
    /// Starts `path FLAGS`, with `--port 0` unless the flags say otherwise, and waits for the line
    /// that says where it listens. Throws std::runtime_error without it.
    Listening(const std::string& path, const Flags& flags);
    ~Listening();

    Port port() const { return port_; }
    Process& process() { return process_; }
    /// Sends SIGTERM and checks that it exits with this status.
    void stop(int expected_status = 0);
    /// Checks that it exits with this status by itself, or because of what the test has done.
    void expect_exit(int expected_status);

  private:
    Process process_;
    Port port_ = 0;
    bool ended_ = false;
};

struct Stub : Listening {
    explicit Stub(const Flags& flags = {});
};
/// The server under test, calling the stub at `downstream`.
struct Server : Listening {
    explicit Server(Port downstream, const Flags& flags = {});
};

/// One stub and one server with default flags, started at first use, for tests that change neither.
Port shared_stub();
Port shared_server();

}  // namespace client
