#pragma once

#include <optional>
#include <string>

/// What can disturb a measurement from outside the processes that take part.
namespace bench::sample {

/// CPU seconds of the whole machine since it started, summed over its CPUs.
struct CpuTimes {
    double total_s = 0;  ///< Idle time and steal included.
    double busy_s = 0;   ///< Neither idle nor waiting for a disk; steal included.
    double steal_s = 0;  ///< A CPU was wanted, and the hypervisor gave it to somebody else.
};

/// From the text of /proc/stat; none when it is not as expected.
std::optional<CpuTimes> parse_cpu_times(const std::string& proc_stat, double ticks_per_s);
std::optional<CpuTimes> cpu_times();

/// CPUs that this process may use: those of its affinity, or what a cgroup's quota leaves of them.
struct CpuAllowance {
    int affinity = 1;
    std::optional<double> quota;  ///< In CPUs; none without one.

    double usable() const { return quota && *quota < affinity ? *quota : affinity; }
};
CpuAllowance cpu_allowance();

/// How the first CPU chooses its frequency; "unknown" where the kernel does not say, as in most
/// virtual machines. That is not the same as good.
std::string governor();

/// Wall seconds of a fixed piece of pure computation, about 20 ms on a CPU of 3 GHz that has
/// nothing else to do. It touches no memory and asks the kernel for nothing, so what differs
/// between two calls is the speed of the CPU or the time that somebody else took. The fastest of
/// `times` tells the CPU's speed alone; one call tells the disturbance, too.
double spin_canary_s(int times = 1);

}  // namespace bench::sample
