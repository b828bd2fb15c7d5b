#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

/// What /proc and the kernel's clocks say about a process. All answers are zero once it is gone.
namespace bench::sample {

struct Status {
    int threads = 0;
    std::uint64_t rss_bytes = 0;
    std::uint64_t peak_rss_bytes = 0;  ///< Since the start, or since `reset_peak`.
};

Status parse_status(const std::string& proc_status);
Status status(pid_t pid);

/// Proportional set size: shared pages count as the process's share of them. None once it is gone,
/// or when the process belongs to somebody else. The kernel walks all mappings for it, which takes
/// the process milliseconds, so it is not for use during a measurement.
std::optional<std::uint64_t> parse_pss_bytes(const std::string& smaps_rollup);
std::optional<std::uint64_t> pss_bytes(pid_t pid);

/// The sanitizer runtime that is mapped as a library: "asan", "tsan", "lsan" or "ubsan"; empty for
/// none. A runtime that was linked statically (Clang's default) is not seen. None when /proc does
/// not say.
std::string parse_sanitizer(const std::string& maps);
std::optional<std::string> sanitizer(pid_t pid);

/// The words in parentheses at the end of what `--version` printed: "Release" of
/// "server_stackful 0.1.0 (Release)". None when there are no parentheses.
std::optional<std::string> parse_build_type(const std::string& version);

/// Starts VmHWM anew.
void reset_peak(pid_t pid);

/// CPU seconds of all its threads, ended ones included, also when it has ended but is not reaped.
double cpu_s(pid_t pid);

/// Context switches of the threads that it has now, voluntary and not.
std::uint64_t context_switches(pid_t pid);

/// CPUs that this process may run on.
int usable_cpus();

}  // namespace bench::sample
