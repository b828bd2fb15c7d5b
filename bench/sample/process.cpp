#include "bench/sample/process.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/sample/machine.hpp"
#include "bench/sample/text.hpp"

namespace bench::sample {
namespace {

std::filesystem::path proc(pid_t pid) {
    return "/proc/" + std::to_string(pid);
}

}  // namespace

Status parse_status(const std::string& proc_status) {
    const auto field = [&](const char* name) {
        return number_behind(name, proc_status).value_or(0);
    };
    return {static_cast<int>(field("Threads:")), field("VmRSS:") * 1024, field("VmHWM:") * 1024};
}

Status status(pid_t pid) {
    return parse_status(contents(proc(pid) / "status"));
}

std::optional<std::uint64_t> parse_pss_bytes(const std::string& smaps_rollup) {
    const auto kib = number_behind("Pss:", smaps_rollup);
    return kib ? std::optional(*kib * 1024) : std::nullopt;
}

std::optional<std::uint64_t> pss_bytes(pid_t pid) {
    return parse_pss_bytes(contents(proc(pid) / "smaps_rollup"));
}

std::string parse_sanitizer(const std::string& maps) {
    for (const char* sanitizer : {"asan", "tsan", "lsan", "ubsan"}) {
        for (const std::string library : {"/lib", "/libclang_rt."}) {  // GCC's name, Clang's.
            if (maps.find(library + sanitizer) != std::string::npos) {
                return sanitizer;
            }
        }
    }
    return {};
}

std::optional<std::string> sanitizer(pid_t pid) {
    const std::string maps = contents(proc(pid) / "maps");
    return maps.empty() ? std::nullopt : std::optional(parse_sanitizer(maps));
}

std::optional<std::string> parse_build_type(const std::string& version) {
    const std::string line = version.substr(0, version.find('\n'));
    const std::size_t open = line.rfind(" (");
    if (open == std::string::npos || !line.ends_with(')')) {
        return std::nullopt;
    }
    return line.substr(open + 2, line.size() - open - 3);
}

void reset_peak(pid_t pid) {
    std::ofstream(proc(pid) / "clear_refs") << "5";
}

double cpu_s(pid_t pid) {
    clockid_t clock;
    timespec time{};
    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &time) != 0) {
        return 0;
    }
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) / 1e9;
}

std::uint64_t context_switches(pid_t pid) {
    std::uint64_t sum = 0;
    std::error_code error;  // Of a thread that ends meanwhile.
    for (std::filesystem::directory_iterator task(proc(pid) / "task", error), end;
         !error && task != end; task.increment(error)) {
        const std::string text = contents(task->path() / "status");
        sum += number_behind("voluntary_ctxt_switches:", text).value_or(0) +
               number_behind("nonvoluntary_ctxt_switches:", text).value_or(0);
    }
    return sum;
}

int usable_cpus() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace bench::sample
