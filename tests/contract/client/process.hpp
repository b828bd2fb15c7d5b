#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <vector>

namespace client {

/// How long a test waits for something that must happen. Reached only when it does not.
inline constexpr std::chrono::seconds kPatience{120};

/// A program under test with its output caught. Ended by its own pid, at the latest (with SIGKILL)
/// by the destructor. Throws std::runtime_error where the operating system refuses.
class Process {
  public:
    /// Starts `command[0]` with the rest as its arguments, standard input empty.
    explicit Process(const std::vector<std::string>& command);
    Process(const Process&) = delete;
    Process& operator=(const Process&) = delete;
    ~Process();

    pid_t pid() const { return pid_; }
    void signal(int number) const;
    /// The exit status, or 128 + the number of the signal that ended it; nothing if it still runs.
    std::optional<int> wait(std::chrono::milliseconds patience = kPatience);
    bool is_running() { return !wait(std::chrono::milliseconds(0)); }

    /// All that it has written so far.
    std::string standard_output() const;
    std::string standard_error() const;
    /// The first line of standard output, without its end; nothing if it never comes.
    std::optional<std::string> first_line(std::chrono::milliseconds patience = kPatience);

  private:
    pid_t pid_ = -1;
    int output_ = -1;  ///< files in memory, so that no pipe can fill and block the program
    int error_ = -1;
    std::optional<int> status_;
};

}  // namespace client
