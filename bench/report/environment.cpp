#include "bench/report/environment.hpp"

#include <sys/resource.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <boost/version.hpp>
#include <fstream>
#include <sstream>
#include <thread>

#include "bench/limits.hpp"
#include "bench/sample/machine.hpp"
#include "bench/target/child.hpp"

namespace bench::report {
namespace {

std::string first_line(const std::filesystem::path& file) {
    std::string line;
    std::getline(std::ifstream(file) >> std::ws, line);
    return line;
}

std::string cpu_model() {
    std::ifstream stream("/proc/cpuinfo");
    for (std::string line; std::getline(stream, line);) {
        if (line.starts_with("model name")) {
            return line.substr(line.find(':') + 2);
        }
    }
    return "unknown";
}

/// First line of a short program's output; empty when it is not there or takes too long.
std::string ask(const std::filesystem::path& program, const std::vector<std::string>& arguments,
                const std::filesystem::path& file) {
    auto child = target::Child::start(program, arguments, file);
    const auto until = std::chrono::steady_clock::now() + limits::kRequest;
    while (child && !child->has_ended() && std::chrono::steady_clock::now() < until) {
        std::this_thread::sleep_for(limits::kLook);
    }
    const std::string output = child ? child->output() : "";
    return output.substr(0, output.find('\n'));
}

}  // namespace

nlohmann::json environment(const target::Places& places) {
    utsname system{};
    uname(&system);
    rlimit descriptors{};
    getrlimit(RLIMIT_NOFILE, &descriptors);
    const std::filesystem::path git = "/usr/bin/git";
    const std::vector<std::string> here = {"-C", WAITBENCH_BENCH_FOLDER};
    auto commit = here, changes = here;
    commit.insert(commit.end(), {"rev-parse", "HEAD"});
    changes.insert(changes.end(), {"status", "--porcelain"});
    const auto& raw = places.raw;
    return {
        {"cpu", cpu_model()},
        {"cpus", places.cpus},
        {"pin", places.pinning.text},
        {"cpus_online", sysconf(_SC_NPROCESSORS_ONLN)},
        {"governor", sample::governor()},
        {"memory_bytes", sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGESIZE)},
        {"kernel", std::string(system.sysname) + " " + system.release + " " + system.machine},
        {"limits",
         {{"descriptors", descriptors.rlim_cur},
          {"listen_backlog", first_line("/proc/sys/net/core/somaxconn")},
          {"ephemeral_ports", first_line("/proc/sys/net/ipv4/ip_local_port_range")}}},
        {"automatic_task_groups", first_line("/proc/sys/kernel/sched_autogroup_enabled")},
        {"load_average", first_line("/proc/loadavg")},
        {"compiler", "GCC " __VERSION__},
        {"compiler_flags", WAITBENCH_COMPILER_FLAGS},
        {"build_type", WAITBENCH_BUILD_TYPE},
        {"tools",
         {{"wrk", ask(places.wrk, {"--version"}, raw / "wrk-version")},
          {"h2load", ask(places.h2load, {"--version"}, raw / "h2load-version")},
          {"boost", BOOST_LIB_VERSION},
          {"waitbench", WAITBENCH_VERSION}}},
        {"commit", ask(git, commit, raw / "git-commit")},
        {"uncommitted_changes", !ask(git, changes, raw / "git-status").empty()},
    };
}

std::string unfit_build() {
#if !defined(NDEBUG)
    return "this is a debug build, whose figures mean nothing: use the preset release";
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return "this is a sanitizer build, whose figures mean nothing: use the preset release";
#else
    return {};
#endif
}

}  // namespace bench::report
