#include "bench/sample/process.hpp"

#include <sched.h>
#include <time.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace bench::sample {
namespace {

std::filesystem::path proc(pid_t pid) {
    return "/proc/" + std::to_string(pid);
}

std::string contents(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

/// The number behind "NAME:" at the start of a line.
std::uint64_t field(const std::string& text, const std::string& name) {
    const std::size_t found = text.find("\n" + name + ":");
    return found == std::string::npos
               ? 0
               : std::strtoull(text.c_str() + found + name.size() + 2, nullptr, 10);
}

}  // namespace

Status parse_status(const std::string& proc_status) {
    return {static_cast<int>(field(proc_status, "Threads")), field(proc_status, "VmRSS") * 1024,
            field(proc_status, "VmHWM") * 1024};
}

Status status(pid_t pid) {
    return parse_status(contents(proc(pid) / "status"));
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
        sum += field(text, "voluntary_ctxt_switches") + field(text, "nonvoluntary_ctxt_switches");
    }
    return sum;
}

double parse_busy_cpu_s(const std::string& proc_stat, double ticks_per_s) {
    std::istringstream line(proc_stat);
    std::string name;
    double user = 0, nice = 0, system = 0, idle = 0, io_wait = 0, irq = 0, soft_irq = 0, steal = 0;
    line >> name >> user >> nice >> system >> idle >> io_wait >> irq >> soft_irq >> steal;
    return (user + nice + system + irq + soft_irq + steal) / ticks_per_s;
}

double busy_cpu_s() {
    return parse_busy_cpu_s(contents("/proc/stat"), static_cast<double>(sysconf(_SC_CLK_TCK)));
}

int usable_cpus() {
    cpu_set_t set;
    return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

}  // namespace bench::sample
