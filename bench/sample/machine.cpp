#include "bench/sample/machine.hpp"

#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>
#include <sstream>

#include "bench/sample/cgroup.hpp"
#include "bench/sample/process.hpp"
#include "bench/sample/text.hpp"

namespace bench::sample {
namespace {

/// Each step is a multiplication and an addition that need the step before: four cycles.
constexpr int kCanarySteps = 15'000'000;

std::uint64_t spin() {
    // The multiplier and the increment of Knuth's 64-bit generator (MMIX); any odd pair would do.
    std::uint64_t value = 1;
    for (int i = 0; i < kCanarySteps; ++i) {
        value = value * 6364136223846793005u + 1442695040888963407u;
        asm volatile("" : "+r"(value));  // The compiler must not fold the steps into fewer.
    }
    return value;
}

}  // namespace

std::optional<CpuTimes> parse_cpu_times(const std::string& proc_stat, double ticks_per_s) {
    std::istringstream line(proc_stat);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0, steal = 0;
    line >> name >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq >> steal;
    if (!line || name != "cpu") {
        return std::nullopt;
    }
    // The guests' times that follow are contained in user and nice.
    const double busy = user + nice + system + irq + soft_irq + steal;
    return CpuTimes{(busy + idle + io_wait) / ticks_per_s, busy / ticks_per_s, steal / ticks_per_s};
}

std::optional<CpuTimes> cpu_times() {
    return parse_cpu_times(contents("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)));
}

CpuAllowance cpu_allowance() {
    return {usable_cpus(), cpu_quota(own_cgroup("cpu"))};
}

std::string governor() {
    const std::string line = first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor");
    return line.empty() ? "unknown" : line;
}

double spin_canary_s(int times) {
    double fastest = std::numeric_limits<double>::infinity();
    for (int i = 0; i < times; ++i) {
        const auto start = std::chrono::steady_clock::now();
        spin();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        fastest = std::min(fastest, took.count());
    }
    return fastest;
}

}  // namespace bench::sample
