#include "wrapped_server.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <stdexcept>

namespace {

client::Flags whole(client::Flags command, client::Port downstream, const client::Flags& flags) {
    const client::Programs& programs = client::programs();
    command.push_back(programs.server);
    command.insert(command.end(), programs.server_flags.begin(), programs.server_flags.end());
    command.insert(command.end(),
                   {"--port", "0", "--downstream", "127.0.0.1:" + std::to_string(downstream)});
    command.insert(command.end(), flags.begin(), flags.end());
    return command;
}

}  // namespace

WrappedServer::WrappedServer(client::Flags command, client::Port downstream,
                             const client::Flags& flags)
    : process_(whole(std::move(command), downstream, flags)) {
    const auto line = process_.first_line();
    if (!line || line->find(" listening on 127.0.0.1:") == std::string::npos) {
        throw std::runtime_error("the server does not start: " + process_.standard_error());
    }
    port_ = static_cast<client::Port>(std::stoi(line->substr(line->rfind(':') + 1)));
}

WrappedServer::~WrappedServer() {
    process_.signal(SIGTERM);
    EXPECT_EQ(process_.wait(), 0) << process_.standard_error();
}

client::Flags under_thread_limit(int threads, std::string& why_not) {
    if (getuid() != 0) {
        why_not = "only root can start a program as a user who runs nothing else";
        return {};
    }
    // By our own number, so that no two suites that run at once count each other's threads.
    const std::string user = std::to_string(1'000'000 + getpid());
    client::Flags command{"/usr/bin/prlimit", "--nproc=" + std::to_string(threads),
                          "/usr/bin/setpriv", "--reuid=" + user,
                          "--regid=" + user,  "--clear-groups"};
    client::Flags trial = command;
    trial.insert(trial.end(), {client::programs().server, "--version"});
    try {
        client::Process process(trial);
        if (process.wait() == 0) {
            return command;
        }
        why_not = "another user cannot run the server: " + process.standard_error();
    } catch (const std::runtime_error& error) {
        why_not = error.what();
    }
    return {};
}

client::Flags under_watch_limit(int highest_descriptor) {
    return {"/proc/self/exe", kWatchBelow, std::to_string(highest_descriptor)};
}

int run_with_few_watches(int highest_descriptor, char** command) {
    // epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, event) fails for descriptors from there on. The
    // arguments' low halves come first on every machine that this suite is for.
    constexpr auto kArgument = [](int n) {
        return static_cast<unsigned>(offsetof(seccomp_data, args)) + 8u * static_cast<unsigned>(n);
    };
    std::array filter = {
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_ctl, 0, 5)),
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument(1))),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, EPOLL_CTL_ADD, 0, 3)),
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kArgument(2))),
        sock_filter(
            BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, static_cast<unsigned>(highest_descriptor), 0, 1)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSPC)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)),
    };
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0) {
        execv(command[0], command);
    }
    return 77;
}
