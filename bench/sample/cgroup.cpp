#include "bench/sample/cgroup.hpp"

#include <algorithm>
#include <sstream>

#include "bench/sample/text.hpp"

namespace bench::sample {
namespace {

/// Version 1 has no word for "no limit" but the largest multiple of a page.
constexpr std::uint64_t kNoMemoryLimit = std::uint64_t{1} << 62;

struct Mount {
    std::string root;   ///< The group that is seen at `point`.
    std::string point;  ///< Empty when it is mounted nowhere.
};

bool has_word(const std::string& list, const std::string& word) {
    return ("," + list + ",").find("," + word + ",") != std::string::npos;
}

/// Of the first mount of a type; in version 1 of the one that has the controller among its options.
Mount find_mount(const std::string& mountinfo, const std::string& type,
                 const std::string& controller) {
    std::istringstream lines(mountinfo);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t separator = line.find(" - ");  // Behind a variable number of fields.
        if (separator == std::string::npos) {
            continue;
        }
        std::string id, parent, device, this_type, source, options;
        Mount mount;
        std::istringstream(line) >> id >> parent >> device >> mount.root >> mount.point;
        std::istringstream(line.substr(separator + 3)) >> this_type >> source >> options;
        if (this_type == type && (controller.empty() || has_word(options, controller))) {
            return mount;
        }
    }
    return {};
}

/// Of the line "ID:CONTROLLERS:PATH"; version 2's has no controllers.
std::string find_path(const std::string& proc_cgroup, const std::string& controller) {
    std::istringstream lines(proc_cgroup);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t first = line.find(':');
        const std::size_t second = line.find(':', first + 1);
        if (second == std::string::npos) {
            continue;
        }
        const std::string controllers = line.substr(first + 1, second - first - 1);
        if (controller.empty() ? controllers.empty() : has_word(controllers, controller)) {
            return line.substr(second + 1);
        }
    }
    return "/";
}

/// The smallest that `read` finds in any folder.
template <class Value, class Read>
std::optional<Value> smallest(const CgroupFolders& cgroup, Read read) {
    std::optional<Value> result;
    for (const auto& folder : cgroup.folders) {
        const std::optional<Value> one = read(folder);
        if (one && (!result || *one < *result)) {
            result = one;
        }
    }
    return result;
}

}  // namespace

CgroupFolders find_cgroup(const std::string& proc_cgroup, const std::string& mountinfo,
                          const std::string& controller) {
    CgroupFolders result;
    Mount mount = find_mount(mountinfo, "cgroup", controller);
    std::string path = find_path(proc_cgroup, controller);
    if (!mount.point.empty()) {
        result.version = 1;
    } else {
        mount = find_mount(mountinfo, "cgroup2", "");
        path = find_path(proc_cgroup, "");
    }
    if (mount.point.empty()) {
        return result;
    }
    const std::string root = mount.root == "/" ? "" : mount.root;
    const bool inside = path.starts_with(root + "/") && path.find("..") == std::string::npos;
    const std::filesystem::path top = mount.point;
    std::filesystem::path folder = top;
    if (inside && path.size() > root.size() + 1) {
        folder /= path.substr(root.size() + 1);
    }
    for (; folder != top; folder = folder.parent_path()) {
        result.folders.push_back(folder);
    }
    result.folders.push_back(top);
    return result;
}

CgroupFolders own_cgroup(const std::string& controller) {
    return find_cgroup(contents("/proc/self/cgroup"), contents("/proc/self/mountinfo"), controller);
}

std::optional<double> parse_cpu_max(const std::string& cpu_max) {
    std::istringstream words(cpu_max);
    std::string quota_us, period_us;
    words >> quota_us >> period_us;
    return parse_cfs_quota(quota_us, period_us);  // "max" is no number, as "-1" is none.
}

std::optional<double> parse_cfs_quota(const std::string& quota_us, const std::string& period_us) {
    const auto quota = number(quota_us);
    const auto period = number(period_us);
    if (!quota || !period || *period == 0) {
        return std::nullopt;
    }
    return static_cast<double>(*quota) / static_cast<double>(*period);
}

std::optional<double> cpu_quota(const CgroupFolders& cpu) {
    return smallest<double>(cpu, [&](const std::filesystem::path& folder) {
        return cpu.version == 2 ? parse_cpu_max(contents(folder / "cpu.max"))
                                : parse_cfs_quota(contents(folder / "cpu.cfs_quota_us"),
                                                  contents(folder / "cpu.cfs_period_us"));
    });
}

std::optional<std::uint64_t> throttled_periods(const CgroupFolders& cpu) {
    std::optional<std::uint64_t> sum;
    for (const auto& folder : cpu.folders) {
        if (const auto periods = number_behind("nr_throttled", contents(folder / "cpu.stat"))) {
            sum = sum.value_or(0) + *periods;
        }
    }
    return sum;
}

std::optional<std::uint64_t> free_pids(const CgroupFolders& pids) {
    using Pids = std::optional<std::uint64_t>;
    return smallest<std::uint64_t>(pids, [](const std::filesystem::path& folder) -> Pids {
        const auto most = number(contents(folder / "pids.max"));
        const auto current = number(contents(folder / "pids.current"));
        return most && current ? Pids(*most - std::min(*most, *current)) : std::nullopt;
    });
}

std::optional<std::uint64_t> memory_limit_bytes(const CgroupFolders& memory) {
    const char* file = memory.version == 2 ? "memory.max" : "memory.limit_in_bytes";
    const auto limit = smallest<std::uint64_t>(
        memory, [&](const auto& folder) { return number(contents(folder / file)); });
    return limit && *limit < kNoMemoryLimit ? limit : std::nullopt;
}

}  // namespace bench::sample
