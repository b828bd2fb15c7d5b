#include "observation.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <stdexcept>
#include <thread>

namespace {

std::string proc(pid_t pid, const char* file) {
    return "/proc/" + std::to_string(pid) + "/" + file;
}

}  // namespace

std::size_t open_descriptors(pid_t pid) {
    const std::filesystem::directory_iterator all(proc(pid, "fd"));
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

std::size_t limit_with_free_descriptors(pid_t pid, int free_descriptors) {
    std::set<std::size_t> open;
    for (const auto& entry : std::filesystem::directory_iterator(proc(pid, "fd"))) {
        open.insert(std::stoul(entry.path().filename()));
    }
    std::size_t limit = 0;
    while (open.contains(limit) || free_descriptors-- > 0) {
        ++limit;
    }
    return limit;
}

std::size_t process_status(pid_t pid, const std::string& name) {
    std::ifstream status(proc(pid, "status"));
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) {
            return std::stoul(line.substr(name.size() + 1));
        }
    }
    throw std::runtime_error("no " + name + " in /proc/PID/status");
}

std::chrono::milliseconds cpu_time(pid_t pid) {
    std::ifstream file(proc(pid, "stat"));
    std::string text;
    std::getline(file, text);
    // What follows the name, which may hold anything: the state, ten numbers, then the two times.
    std::istringstream fields(text.substr(text.rfind(')') + 1));
    std::string skipped;
    for (int n = 0; n < 11; ++n) {
        fields >> skipped;
    }
    long user = 0, system = 0;
    fields >> user >> system;
    return std::chrono::milliseconds((user + system) * 1000 / sysconf(_SC_CLK_TCK));
}

std::chrono::milliseconds cpu_time_during(pid_t pid, std::chrono::milliseconds duration) {
    const auto before = cpu_time(pid);
    std::this_thread::sleep_for(duration);
    return cpu_time(pid) - before;
}

LoweredLimit::LoweredLimit(pid_t pid, int resource, std::size_t value)
    : pid_(pid), resource_(resource) {
    rlimit limit{};
    const auto kind = static_cast<__rlimit_resource>(resource);
    if (prlimit(pid, kind, nullptr, &limit) == 0) {
        before_ = limit.rlim_cur;
        limit.rlim_cur = std::min<rlim_t>(value, limit.rlim_max);
        if (prlimit(pid, kind, &limit, nullptr) == 0) {
            return;
        }
    }
    throw std::runtime_error(std::string("prlimit: ") + std::strerror(errno));
}

LoweredLimit::~LoweredLimit() {
    rlimit limit{};
    const auto kind = static_cast<__rlimit_resource>(resource_);
    if (prlimit(pid_, kind, nullptr, &limit) == 0) {
        limit.rlim_cur = before_;
        prlimit(pid_, kind, &limit, nullptr);
    }
}

bool becomes_true(const std::function<bool()>& holds, std::chrono::milliseconds patience) {
    const auto deadline = std::chrono::steady_clock::now() + patience;
    while (!holds()) {
        if (std::chrono::steady_clock::now() >= deadline) {
            return false;
        }
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    return true;
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}
