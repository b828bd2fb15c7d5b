#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <thread>

#include "stackful/runtime/system.hpp"

using namespace stackful::runtime;
using namespace std::chrono_literals;

namespace {

/// From here on the calling thread's kernel does not know epoll_pwait2.
bool forget_epoll_pwait2() {
    std::array filter = {
        sock_filter(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr))),
        sock_filter(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS)),
        sock_filter(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)),
    };
    const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
    return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

TEST(System, WaitsWhereTheKernelHasNoEpollPwait2) {
    bool refused = false;
    int early = -1, events_seen = -1;
    Clock::duration waited{};
    std::thread([&] {
        refused = forget_epoll_pwait2() &&
                  ::syscall(SYS_epoll_pwait2, -1, nullptr, 1, nullptr, nullptr, 0) < 0 &&
                  errno == ENOSYS;
        const int epoll = ::epoll_create1(0);
        const int event = ::eventfd(0, 0);
        epoll_event wanted{};
        wanted.events = EPOLLIN;
        ::epoll_ctl(epoll, EPOLL_CTL_ADD, event, &wanted);
        epoll_event seen{};
        const Instant start = Clock::now();
        early = wait_for_events(epoll, &seen, 1, start + 1500us);
        waited = Clock::now() - start;
        ::eventfd_write(event, 1);
        events_seen = wait_for_events(epoll, &seen, 1, Instant::max());
        ::close(event);
        ::close(epoll);
    }).join();
    if (!refused) {
        GTEST_SKIP() << "this system does not let a thread filter its own system calls";
    }
    EXPECT_EQ(early, 0);
    EXPECT_GE(waited, 1500us);
    EXPECT_EQ(events_seen, 1);
}

}  // namespace
