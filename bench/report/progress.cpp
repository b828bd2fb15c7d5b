#include "bench/report/progress.hpp"

#include <spdlog/spdlog.h>
#include <unistd.h>

#include <cstdio>

namespace bench::report {

Progress::Progress(std::size_t steps) : steps_(steps), terminal_(isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
    clear();
}

void Progress::show(const std::string& step, std::chrono::milliseconds left) {
    const long seconds = std::chrono::duration_cast<std::chrono::seconds>(left).count();
    clear();
    std::fprintf(stderr, "[%zu/%zu] %s, about %ld:%02ld left%s", ++step_, steps_, step.c_str(),
                 seconds / 60, seconds % 60, terminal_ ? "" : "\n");
    std::fflush(stderr);
}

void Progress::note(const std::string& text) {
    clear();
    spdlog::warn("{}", text);
}

void Progress::clear() const {
    if (terminal_) {
        std::fputs("\r\033[K", stderr);
    }
}

}  // namespace bench::report
