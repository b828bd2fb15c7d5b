#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/sample/machine.hpp"
#include "bench/sample/network.hpp"

/// Whether this machine can measure, and how to mend what it lacks.
namespace bench::validity {

/// Limited: some rows or experiments cannot be run, or their figures are less certain. Unfit: the
/// headline experiment cannot be measured properly.
enum class Fitness { fit, limited, unfit };

struct Finding {
    std::string check;
    std::string value;
    Fitness fitness = Fitness::fit;
    std::string advice;  ///< One sentence that says how to mend it; empty when it is fit.
};

/// What was seen of the machine; none where it does not say.
struct MachineFacts {
    std::optional<std::uint64_t> descriptors_soft, descriptors_hard;
    std::string wrk_version, h2load_version, gnuplot_version;  ///< Empty: not there.
    bool chart_library = false;
    sample::CpuAllowance cpus;
    std::optional<double> other_cpus;   ///< CPUs that are busy although nothing is measured.
    std::optional<double> steal_share;  ///< Of all CPU time.
    std::vector<double> canaries_s;     ///< One after the other.
    std::string governor = "unknown";
    std::optional<int> listen_backlog;
    std::optional<sample::EphemeralPorts> ports;
    std::string kernel;                              ///< Its release, such as 6.1.0-18-amd64.
    std::optional<std::uint64_t> most_mappings;      ///< vm.max_map_count
    std::optional<bool> automatic_task_groups;       ///< kernel.sched_autogroup_enabled
    std::optional<std::uint64_t> free_memory_bytes;  ///< Without swapping, within the cgroup.
    std::optional<std::uint64_t> free_threads;       ///< By ulimit, cgroup and kernel.
    std::string clock_source;
};

/// Looks at this machine; takes about a second, because load and canaries have to be measured.
MachineFacts look_at_machine();

/// Every check, in the order in which a reader would mend them.
std::vector<Finding> examine(const MachineFacts& facts);

/// For a terminal: one aligned line for each finding, the advice below it.
std::string to_text(const std::vector<Finding>& findings);

/// The exit status of `waitbench doctor`: 1 when anything is unfit, else 0.
int exit_status(const std::vector<Finding>& findings);

}  // namespace bench::validity
