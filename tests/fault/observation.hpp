#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>

// What a process shows of itself in /proc, and the limits that another may lower for it.

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool kSanitized = true;
#else
inline constexpr bool kSanitized = false;
#endif

std::size_t open_descriptors(pid_t pid);
/// The limit under which the process can open this many more descriptors, whatever it has
/// inherited.
std::size_t limit_with_free_descriptors(pid_t pid, int free_descriptors);
/// A line of /proc/PID/status: `Threads`, or memory in KiB.
std::size_t process_status(pid_t pid, const std::string& name);
/// User and system time that the process has used so far.
std::chrono::milliseconds cpu_time(pid_t pid);
/// CPU time that the process uses during this time.
std::chrono::milliseconds cpu_time_during(pid_t pid, std::chrono::milliseconds duration);

/// Lowers (or raises again) a soft limit of a running process, such as RLIMIT_NOFILE; gives it back
/// when it goes out of scope. Throws std::runtime_error where the system refuses.
class LoweredLimit {
  public:
    LoweredLimit(pid_t pid, int resource, std::size_t value);
    LoweredLimit(const LoweredLimit&) = delete;
    LoweredLimit& operator=(const LoweredLimit&) = delete;
    ~LoweredLimit();

  private:
    pid_t pid_;
    int resource_;
    std::size_t before_ = 0;
};

/// Looks again and again until it holds; false when patience ends.
bool becomes_true(const std::function<bool()>& holds,
                  std::chrono::milliseconds patience = std::chrono::seconds(30));

std::size_t occurrences(const std::string& text, const std::string& part);
