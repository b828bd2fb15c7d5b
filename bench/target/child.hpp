#pragma once

#include <sys/types.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "bench/result.hpp"
#include "bench/target/pinning.hpp"

namespace bench::target {

/// A program that the runner started. It never outlives the runner: the destructor ends it, and
/// the kernel kills it when the runner dies. It has its own process group, so that Ctrl-C reaches
/// the runner alone. Standard output and error go to files. Used from the thread that started it.
class Child {
  public:
    /// Starts PROGRAM with `arguments` on these CPUs; its output goes to FILE.out and FILE.err.
    static Result<Child> start(const std::filesystem::path& program,
                               const std::vector<std::string>& arguments,
                               const std::filesystem::path& file, const Cpus& cpus = {});
    Child(Child&&) noexcept;
    Child& operator=(Child&&) noexcept;
    ~Child();

    pid_t pid() const;
    std::string output() const;
    std::string errors() const;
    /// Leaves the ended process unreaped, so that its CPU clock can still be read.
    bool has_ended() const;
    /// Reaps a process that has ended: its exit status, or 128 and the signal that ended it.
    int exit_status();
    /// SIGTERM, a second one when it does not end, at last SIGKILL. Returns as `exit_status`.
    int stop();

  private:
    struct State;
    explicit Child(std::unique_ptr<State> state);
    std::unique_ptr<State> state_;
};

/// Looks along PATH; empty when it is not there.
std::filesystem::path find_program(const std::string& name);

/// Waits for "NAME listening on 127.0.0.1:PORT" on standard output; the port, or why not.
Result<int> wait_for_port(Child& child);

/// The port in a listening line, or 0.
int parse_listening_line(const std::string& output);

}  // namespace bench::target
