#include "bench/validity/doctor.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <thread>

#include "bench/sample/cgroup.hpp"
#include "bench/sample/text.hpp"
#include "bench/statistics/statistics.hpp"
#include "bench/validity/figures.hpp"

namespace bench::validity {
namespace {

// Gathering.
constexpr std::chrono::milliseconds kLoadWindow{500};
constexpr int kCanaries = 15;

// What the experiments need: `wait` has 1,000 connections, `sweep` up to 8,000, and
// sync_over_async with --min-threads 1100 has the most threads.
constexpr std::uint64_t kUsualConnections = 1000, kMostConnections = 8000;
constexpr std::uint64_t kOtherDescriptors = 100;
constexpr std::uint64_t kUsualThreads = 300, kMostThreads = 1300;
/// Servers, stub and load generator get a CPU each, and one more is for everybody else.
constexpr double kComfortableCpus = 4, kLeastCpus = 2;
constexpr double kLoadLimited = 0.1, kLoadUnfit = 0.5;
constexpr double kStealLimited = 0.01, kStealUnfit = 0.1;
constexpr double kJitterLimited = 0.1, kJitterUnfit = 0.5;
constexpr int kBacklog = 4096;
/// 100,000 fibers with two mappings each, and what a process has anyway.
constexpr std::uint64_t kMappings = 262'144;
constexpr std::pair kLightGuards{6, 13};
constexpr std::pair kWrk{4, 1};
/// 100,000 sleeping tasks take 0.8 GB; 1,100 threads and their load generator far less.
constexpr std::uint64_t kMebibyte = 1024 * 1024;
constexpr std::uint64_t kMuchMemory = 2048 * kMebibyte, kLeastMemory = 512 * kMebibyte;

/// Limited from one bound on, unfit from the other; more is worse.
Fitness grade(double value, double limited, double unfit) {
    return value > unfit ? Fitness::unfit : value > limited ? Fitness::limited : Fitness::fit;
}

/// Fit from one bound on, limited from the other; more is better.
Fitness grade_room(std::uint64_t value, std::uint64_t fit, std::uint64_t limited) {
    return value >= fit ? Fitness::fit : value >= limited ? Fitness::limited : Fitness::unfit;
}

/// A finding keeps its advice only when it needs it.
Finding finding(std::string check, std::string value, Fitness fitness, std::string advice) {
    return {std::move(check), std::move(value), fitness,
            fitness == Fitness::fit ? "" : std::move(advice)};
}

Finding unknown(std::string check, std::string advice) {
    return finding(std::move(check), "unknown", Fitness::limited, std::move(advice));
}

/// The first "MAJOR.MINOR" of a text: "wrk debian/4.1.0-3" has 4.1.
std::optional<std::pair<int, int>> parse_version(const std::string& line) {
    for (std::size_t i = line.find_first_of("0123456789"); i != std::string::npos;
         i = line.find_first_of("0123456789", i + 1)) {
        int major = 0, minor = 0;
        if (std::sscanf(line.c_str() + i, "%d.%d", &major, &minor) == 2) {
            return std::pair(major, minor);
        }
    }
    return std::nullopt;
}

Finding wrk(const MachineFacts& facts) {
    const std::string advice = "Install wrk 4.1 or newer (on Debian: apt-get install wrk).";
    if (facts.wrk_version.empty()) {
        return finding("wrk", "not installed", Fitness::unfit, advice);
    }
    const auto version = parse_version(facts.wrk_version);
    if (!version) {
        return finding("wrk", facts.wrk_version, Fitness::limited,
                       "Make sure that it is wrk 4.1 or newer: it does not say.");
    }
    return finding("wrk", facts.wrk_version, *version < kWrk ? Fitness::unfit : Fitness::fit,
                   advice);
}

Finding tool(const std::string& name, const std::string& version, const std::string& advice) {
    return version.empty() ? finding(name, "not installed", Fitness::limited, advice)
                           : finding(name, version, Fitness::fit, "");
}

Finding descriptors(const MachineFacts& facts) {
    if (!facts.descriptors_soft || !facts.descriptors_hard) {
        return unknown("descriptors",
                       "Find out what `ulimit -Hn` says: each connection needs two.");
    }
    const std::uint64_t hard = *facts.descriptors_hard;
    const bool is_endless = hard == RLIM_INFINITY;
    const std::uint64_t connections = (std::max(hard, kOtherDescriptors) - kOtherDescriptors) / 2;
    return finding(
        "descriptors",
        is_endless
            ? "no limit"
            : "soft " + std::to_string(*facts.descriptors_soft) + ", hard " + std::to_string(hard) +
                  ": up to " + std::to_string(connections) + " connections",
        grade_room(connections, kMostConnections, kUsualConnections),
        "Raise the hard limit to " + std::to_string(2 * kMostConnections + kOtherDescriptors) +
            " (limits.conf, or LimitNOFILE of the service); the soft one follows.");
}

Finding cpus(const MachineFacts& facts) {
    const double usable = facts.cpus.usable();
    const auto fitness = usable >= kComfortableCpus ? Fitness::fit : Fitness::limited;
    return finding("CPUs", figure(usable, std::floor(usable) == usable ? 0 : 2), fitness,
                   usable < kLeastCpus
                       ? "Get two CPUs at least: on one, server, stub and wrk take turns."
                       : "Use --profile fit: server, stub and wrk share the CPUs, which end the "
                         "fast rows early.");
}

Finding cpu_quota(const MachineFacts& facts) {
    const auto& [affinity, quota] = facts.cpus;
    return finding("CPU quota",
                   quota ? figure(*quota, 2) + " of " + std::to_string(affinity) : "none",
                   quota && *quota < affinity ? Fitness::limited : Fitness::fit,
                   "Lift the cgroup's quota, or set the affinity (taskset) to as many CPUs: a "
                   "quota stops everybody at once.");
}

Finding load(const MachineFacts& facts) {
    if (!facts.other_cpus) {
        return unknown("other load", "Make sure that nothing else runs: /proc/stat does not say.");
    }
    const double share = *facts.other_cpus / facts.cpus.affinity;
    return finding("other load", figure(*facts.other_cpus, 2) + " CPUs busy",
                   grade(share, kLoadLimited, kLoadUnfit),
                   "Stop what else is running (top names it) before you measure.");
}

Finding steal(const MachineFacts& facts) {
    if (!facts.steal_share) {
        return unknown("steal", "Trust the canary instead: /proc/stat does not show steal.");
    }
    return finding("steal", percent(*facts.steal_share),
                   grade(*facts.steal_share, kStealLimited, kStealUnfit),
                   "Use a machine with CPUs of its own: the hypervisor gives these to others.");
}

Finding jitter(const MachineFacts& facts) {
    if (facts.canaries_s.empty()) {
        return unknown("canary jitter", "Run `waitbench doctor` again: nothing was measured.");
    }
    const double jitter = statistics::spread(facts.canaries_s);
    return finding(
        "canary jitter",
        percent(jitter) + " of " + figure(statistics::median(facts.canaries_s) * 1000, 1) + " ms",
        grade(jitter, kJitterLimited, kJitterUnfit),
        "Wait until the machine is quiet, and use more runs: the same computation does "
        "not take the same time.");
}

Finding governor(const MachineFacts& facts) {
    if (facts.governor == "unknown") {
        return unknown("governor",
                       "Nothing to mend here, the host decides (usual in virtual machines); "
                       "trust the canary.");
    }
    return finding("governor", facts.governor,
                   facts.governor == "performance" ? Fitness::fit : Fitness::limited,
                   "Fix the frequency: cpupower frequency-set -g performance.");
}

Finding listen_backlog(const MachineFacts& facts) {
    const std::string advice =
        "Raise it: sysctl net.core.somaxconn=4096; who finds the accept queue full waits a second.";
    if (!facts.listen_backlog) {
        return unknown("somaxconn", advice);
    }
    return finding("somaxconn", std::to_string(*facts.listen_backlog),
                   *facts.listen_backlog >= kBacklog ? Fitness::fit : Fitness::limited, advice);
}

Finding ports(const MachineFacts& facts) {
    const std::string advice =
        "Wait a minute for TIME_WAIT to end, or widen the range: "
        "sysctl net.ipv4.ip_local_port_range=\"16384 60999\".";
    if (!facts.ports) {
        return unknown("ephemeral ports", advice);
    }
    const auto available = static_cast<std::uint64_t>(std::max(0, facts.ports->available()));
    return finding("ephemeral ports",
                   std::to_string(available) + " free, " + std::to_string(facts.ports->time_wait) +
                       " in TIME_WAIT",
                   grade_room(available, 2 * kMostConnections, 2 * kUsualConnections), advice);
}

Finding stack_guards(const MachineFacts& facts) {
    const auto kernel = parse_version(facts.kernel);
    if (kernel && *kernel >= kLightGuards) {
        return finding("stack guards", "light (Linux " + facts.kernel + ")", Fitness::fit, "");
    }
    const std::string advice =
        "Use Linux 6.13 or newer, or sysctl vm.max_map_count=262144: a guarded fiber takes two.";
    if (!facts.most_mappings) {
        return unknown("stack guards", advice);
    }
    return finding("stack guards",
                   "by mappings, of which " + std::to_string(*facts.most_mappings) + " are allowed",
                   *facts.most_mappings >= kMappings ? Fitness::fit : Fitness::limited, advice);
}

Finding task_groups(const MachineFacts& facts) {
    const std::string advice =
        "Turn them on: sysctl kernel.sched_autogroup_enabled=1; without, 200 threads crowd out the "
        "stub.";
    if (!facts.automatic_task_groups) {
        return unknown("automatic task groups", advice);
    }
    const bool on = *facts.automatic_task_groups;
    return finding("automatic task groups", on ? "on" : "off", on ? Fitness::fit : Fitness::limited,
                   advice);
}

Finding memory(const MachineFacts& facts) {
    const std::string advice =
        "Free 2 GiB or leave out the experiment tasks: 100,000 sleeping fibers take 0.8 GB.";
    if (!facts.free_memory_bytes) {
        return unknown("free memory", advice);
    }
    return finding(
        "free memory",
        figure(static_cast<double>(*facts.free_memory_bytes / kMebibyte) / 1024, 1) + " GiB",
        grade_room(*facts.free_memory_bytes, kMuchMemory, kLeastMemory), advice);
}

Finding threads(const MachineFacts& facts) {
    const std::string advice =
        "Raise the limit (ulimit -u, or the cgroup's pids.max) to leave room for " +
        std::to_string(kMostThreads) + " threads.";
    if (!facts.free_threads) {
        return unknown("threads", advice);
    }
    return finding("threads", "room for " + std::to_string(*facts.free_threads),
                   grade_room(*facts.free_threads, kMostThreads, kUsualThreads), advice);
}

Finding clock_source(const MachineFacts& facts) {
    const std::string advice =
        "Boot with clocksource=tsc if the CPU has a stable one: this one costs a system call a "
        "look.";
    if (facts.clock_source.empty()) {
        return unknown("clock source", advice);
    }
    // These are read without entering the kernel.
    constexpr std::array kFast = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page",
                                  "arch_sys_counter"};
    const bool fast = std::ranges::find(kFast, facts.clock_source) != kFast.end();
    return finding("clock source", facts.clock_source, fast ? Fitness::fit : Fitness::limited,
                   advice);
}

// Looking at the machine.

/// The word behind the program's own name in what it prints for --version; empty when it is not
/// there. Bounded, in case it is not the program that it is taken for.
std::string ask_version(const std::string& program) {
    const std::string command = "timeout 2 " + program + " --version 2>&1";
    const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
    std::array<char, 256> buffer{};
    if (!pipe || std::fgets(buffer.data(), buffer.size(), pipe.get()) == nullptr) {
        return {};
    }
    // What the shell says when it is not there begins otherwise.
    const std::string line = buffer.data();
    if (!line.starts_with(program + " ")) {
        return {};
    }
    const std::string version = line.substr(program.size() + 1);
    return version.substr(0, version.find_first_of(" \n"));
}

std::optional<std::uint64_t> least(std::initializer_list<std::optional<std::uint64_t>> limits) {
    std::optional<std::uint64_t> result;
    for (const auto& limit : limits) {
        if (limit && (!result || *limit < *result)) {
            result = limit;
        }
    }
    return result;
}

void look_at_limits(MachineFacts& facts) {
    rlimit limit{};
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        facts.descriptors_soft = limit.rlim_cur;
        facts.descriptors_hard = limit.rlim_max;
    }
    std::optional<std::uint64_t> by_user;
    if (getrlimit(RLIMIT_NPROC, &limit) == 0) {
        by_user = limit.rlim_cur;
    }
    facts.free_threads = least({by_user, sample::free_pids(sample::own_cgroup("pids")),
                                sample::number(sample::contents("/proc/sys/kernel/threads-max"))});
    auto available = sample::number_behind("MemAvailable:", sample::contents("/proc/meminfo"));
    if (available) {
        *available *= 1024;
    }
    facts.free_memory_bytes =
        least({available, sample::memory_limit_bytes(sample::own_cgroup("memory"))});
}

void look_at_load(MachineFacts& facts) {
    const auto before = sample::cpu_times();
    std::this_thread::sleep_for(kLoadWindow);
    const auto after = sample::cpu_times();
    if (before && after && after->total_s > before->total_s) {
        facts.other_cpus =
            (after->busy_s - before->busy_s) / std::chrono::duration<double>(kLoadWindow).count();
        facts.steal_share = (after->steal_s - before->steal_s) / (after->total_s - before->total_s);
    }
    for (int i = 0; i < kCanaries; ++i) {
        facts.canaries_s.push_back(sample::spin_canary_s());
    }
}

}  // namespace

MachineFacts look_at_machine() {
    MachineFacts facts;
    facts.wrk_version = ask_version("wrk");
    facts.h2load_version = ask_version("h2load");
    facts.gnuplot_version = ask_version("gnuplot");
    facts.chart_library = std::filesystem::exists("/usr/share/javascript/chart.js/chart.min.js");
    facts.cpus = sample::cpu_allowance();
    facts.governor = sample::governor();
    facts.listen_backlog = sample::listen_backlog_limit();
    facts.ports = sample::ephemeral_ports();
    utsname system{};
    uname(&system);
    facts.kernel = system.release;
    facts.most_mappings = sample::number(sample::contents("/proc/sys/vm/max_map_count"));
    const auto groups =
        sample::number(sample::contents("/proc/sys/kernel/sched_autogroup_enabled"));
    facts.automatic_task_groups = groups ? std::optional(*groups != 0) : std::nullopt;
    facts.clock_source =
        sample::first_line("/sys/devices/system/clocksource/clocksource0/current_clocksource");
    look_at_limits(facts);
    look_at_load(facts);
    return facts;
}

std::vector<Finding> examine(const MachineFacts& facts) {
    return {
        wrk(facts),
        tool("h2load", facts.h2load_version,
             "Install it for bursts and open loops (on Debian: apt-get install nghttp2-client)."),
        tool("gnuplot", facts.gnuplot_version,
             "Install it for SVG charts (on Debian: apt-get install gnuplot-nox)."),
        tool("Chart.js", facts.chart_library ? "installed" : "",
             "Install it for charts in HTML (on Debian: apt-get install libjs-chart.js)."),
        descriptors(facts),
        threads(facts),
        memory(facts),
        cpus(facts),
        cpu_quota(facts),
        load(facts),
        steal(facts),
        jitter(facts),
        governor(facts),
        clock_source(facts),
        listen_backlog(facts),
        ports(facts),
        task_groups(facts),
        stack_guards(facts)};
}

std::string to_text(const std::vector<Finding>& findings) {
    constexpr std::array kWords = {"fit", "limited", "unfit"};
    std::size_t width = 0;
    for (const Finding& one : findings) {
        width = std::max(width, one.check.size());
    }
    std::string text;
    for (const Finding& one : findings) {
        const std::string word = kWords[static_cast<std::size_t>(one.fitness)];
        text += word + std::string(9 - word.size(), ' ') + one.check +
                std::string(width - one.check.size() + 2, ' ') + one.value + "\n";
        if (!one.advice.empty()) {
            text += std::string(9, ' ') + one.advice + "\n";
        }
    }
    return text;
}

int exit_status(const std::vector<Finding>& findings) {
    return std::ranges::count(findings, Fitness::unfit, &Finding::fitness) > 0 ? 1 : 0;
}

}  // namespace bench::validity
