#include "client/process.hpp"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <thread>

extern char** environ;

namespace client {
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kPollInterval{2};

int file_in_memory() {
    const int file = memfd_create("output", MFD_CLOEXEC);
    if (file < 0) {
        throw std::runtime_error(std::string("memfd_create: ") + std::strerror(errno));
    }
    return file;
}

std::string contents(int file) {
    std::string all;
    char piece[4096];
    ssize_t bytes = 0;
    while ((bytes = pread(file, piece, sizeof piece, static_cast<off_t>(all.size()))) > 0) {
        all.append(piece, static_cast<std::size_t>(bytes));
    }
    return all;
}

}  // namespace

Process::Process(const std::vector<std::string>& command)
    : output_(file_in_memory()), error_(file_in_memory()) {
    std::vector<char*> arguments;
    for (const std::string& argument : command) {
        arguments.push_back(const_cast<char*>(argument.c_str()));
    }
    arguments.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_adddup2(&actions, output_, STDOUT_FILENO);
    posix_spawn_file_actions_adddup2(&actions, error_, STDERR_FILENO);
    const int failed =
        posix_spawn(&pid_, arguments[0], &actions, nullptr, arguments.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
        close(output_);
        close(error_);
        throw std::runtime_error("cannot start " + command[0] + ": " + std::strerror(failed));
    }
}

Process::~Process() {
    if (!status_) {
        kill(pid_, SIGKILL);
        waitpid(pid_, nullptr, 0);
    }
    close(output_);
    close(error_);
}

void Process::signal(int number) const {
    if (!status_) {  // not yet waited for, so the pid is still its own
        kill(pid_, number);
    }
}

std::optional<int> Process::wait(std::chrono::milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    while (!status_) {
        int status = 0;
        if (waitpid(pid_, &status, WNOHANG) == pid_) {
            status_ = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        } else if (Clock::now() >= deadline) {
            return std::nullopt;
        } else {
            std::this_thread::sleep_for(kPollInterval);
        }
    }
    return status_;
}

std::string Process::standard_output() const {
    return contents(output_);
}
std::string Process::standard_error() const {
    return contents(error_);
}

std::optional<std::string> Process::first_line(std::chrono::milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    while (true) {
        const bool running = is_running();
        const std::string output = standard_output();
        if (const auto end = output.find('\n'); end != std::string::npos) {
            return output.substr(0, end);
        }
        if (!running || Clock::now() >= deadline) {
            return std::nullopt;
        }
        std::this_thread::sleep_for(kPollInterval);
    }
}

}  // namespace client
