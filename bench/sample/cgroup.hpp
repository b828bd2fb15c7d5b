#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// What the control groups that a process belongs to allow it, in versions 1 and 2. A limit of any
/// enclosing group binds, so every group from the process's own to the outermost visible is asked.
namespace bench::sample {

/// The folders that govern one controller, the process's own first. In version 1 a controller has
/// a hierarchy of its own; a controller that is mounted nowhere in version 1 belongs to version 2.
struct CgroupFolders {
    int version = 2;
    std::vector<std::filesystem::path> folders;  ///< Empty when nothing is mounted.
};

/// From the texts of /proc/PID/cgroup and /proc/PID/mountinfo. A group outside of what is mounted,
/// as in containers, is taken for the mount's root.
CgroupFolders find_cgroup(const std::string& proc_cgroup, const std::string& mountinfo,
                          const std::string& controller);
/// Of this process.
CgroupFolders own_cgroup(const std::string& controller);

/// CPUs that a quota allows: "150000 100000" of version 2's cpu.max is 1.5; none for no quota.
std::optional<double> parse_cpu_max(const std::string& cpu_max);
/// The same of version 1's cpu.cfs_quota_us and cpu.cfs_period_us; a quota of -1 is none.
std::optional<double> parse_cfs_quota(const std::string& quota_us, const std::string& period_us);
/// The smallest quota of the folders, in CPUs; none when no group has one.
std::optional<double> cpu_quota(const CgroupFolders& cpu);

/// Periods in which a quota stopped somebody of these groups, since they were made; the counter is
/// called nr_throttled in both versions. None when no group counts them.
std::optional<std::uint64_t> throttled_periods(const CgroupFolders& cpu);

/// Processes and threads that the groups still allow; none without a limit.
std::optional<std::uint64_t> free_pids(const CgroupFolders& pids);
/// The smallest memory limit in bytes; none without a limit.
std::optional<std::uint64_t> memory_limit_bytes(const CgroupFolders& memory);

}  // namespace bench::sample
