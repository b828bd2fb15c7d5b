#pragma once

#include <sys/types.h>

#include <cstdint>
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

/// Starts VmHWM anew.
void reset_peak(pid_t pid);

/// CPU seconds of all its threads, ended ones included, also when it has ended but is not reaped.
double cpu_s(pid_t pid);

/// Context switches of the threads that it has now, voluntary and not.
std::uint64_t context_switches(pid_t pid);

/// CPU seconds that the whole machine was busy since it started, stolen time included.
double busy_cpu_s();
double parse_busy_cpu_s(const std::string& proc_stat, double ticks_per_s);

/// CPUs that this process may run on.
int usable_cpus();

}  // namespace bench::sample
