#include "common/net/socket.hpp"

#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace common::net {

void Descriptor::reset(int descriptor) {
    if (descriptor_ >= 0) {
        ::close(descriptor_);
    }
    descriptor_ = descriptor;
}

std::size_t raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const rlimit raised{limit.rlim_max, limit.rlim_max};
    return setrlimit(RLIMIT_NOFILE, &raised) == 0 ? raised.rlim_cur : limit.rlim_cur;
}

unsigned usable_cpus() {
    cpu_set_t mask;
    CPU_ZERO(&mask);
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0) {
        return 1;
    }
    return static_cast<unsigned>(std::max(1, CPU_COUNT(&mask)));
}

std::size_t unread_bytes(int descriptor) {
    int bytes = 0;
    return ::ioctl(descriptor, FIONREAD, &bytes) == 0 ? static_cast<std::size_t>(bytes) : 0;
}

bool is_writable(int descriptor) {
    pollfd polled{descriptor, POLLOUT, 0};
    return ::poll(&polled, 1, 0) > 0;
}

bool is_ipv6(int descriptor) {
    sockaddr_storage address{};
    socklen_t bytes = sizeof(address);
    return ::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &bytes) == 0 &&
           address.ss_family == AF_INET6;
}

bool is_quiet(int descriptor) {
    char byte;
    return ::recv(descriptor, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK);
}

}  // namespace common::net
