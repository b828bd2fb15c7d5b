#include "stackful/runtime/system.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

namespace stackful::runtime {
namespace {

/// Null means for ever.
const timespec* time_left(Instant deadline, timespec& left) {
    if (deadline == Instant::max()) {
        return nullptr;
    }
    left = {};
    const Instant now = deadline == Instant::min() ? deadline : Clock::now();
    if (deadline > now) {
        const std::int64_t nanoseconds = to_nanoseconds(deadline) - to_nanoseconds(now);
        left.tv_sec = nanoseconds / 1'000'000'000;
        left.tv_nsec = nanoseconds % 1'000'000'000;
    }
    return &left;
}

/// Rounded up: a wait that ends early would be followed by another, and another.
int whole_milliseconds(const timespec* left) {
    if (left == nullptr) {
        return -1;
    }
    constexpr std::int64_t kMost = 60'000;
    return static_cast<int>(
        std::min(left->tv_sec * 1000 + (left->tv_nsec + 999'999) / 1'000'000, kMost));
}

ssize_t result(ssize_t value) {
    return value < 0 ? -errno : value;
}

}  // namespace

int wait_for_events(int epoll, epoll_event* events, std::size_t capacity, Instant deadline) {
    timespec buffer;
    const timespec* left = time_left(deadline, buffer);
    int count = ::epoll_pwait2(epoll, events, static_cast<int>(capacity), left, nullptr);
    if (count < 0 && errno == ENOSYS) {
        // Before Linux 5.11, in older sandboxes and in valgrind.
        count = ::epoll_wait(epoll, events, static_cast<int>(capacity), whole_milliseconds(left));
    }
    return std::max(count, 0);
}

[[gnu::noinline]] ssize_t receive(int socket, iovec* vectors, std::size_t count) {
    if (count == 1) {
        return result(::recv(socket, vectors->iov_base, vectors->iov_len, 0));
    }
    return result(::readv(socket, vectors, static_cast<int>(count)));
}

[[gnu::noinline]] ssize_t send(int socket, iovec* vectors, std::size_t count) {
    if (count == 1) {
        return result(::send(socket, vectors->iov_base, vectors->iov_len, MSG_NOSIGNAL));
    }
    msghdr message{};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    return result(::sendmsg(socket, &message, MSG_NOSIGNAL));
}

[[gnu::noinline]] int open_socket(int family) {
    const int socket = ::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (socket < 0) {
        return -errno;
    }
    const int on = 1;
    ::setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return socket;
}

[[gnu::noinline]] int connect_socket(int socket, const void* address, std::size_t bytes) {
    return static_cast<int>(result(
        ::connect(socket, static_cast<const sockaddr*>(address), static_cast<socklen_t>(bytes))));
}

[[gnu::noinline]] int connect_result(int socket) {
    int error = 0;
    socklen_t bytes = sizeof error;
    if (::getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) {
        return -errno;
    }
    if (error != 0) {
        return -error;
    }
    sockaddr_storage peer;
    bytes = sizeof peer;
    if (::getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &bytes) != 0) {
        return errno == ENOTCONN ? -EINPROGRESS : -errno;
    }
    return 0;
}

[[gnu::noinline]] bool nothing_to_receive(int socket) {
    char byte = 0;
    return ::recv(socket, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 && errno == EAGAIN;
}

[[gnu::noinline]] void poll_on_thread(int descriptor, short events, int stop, Instant deadline) {
    pollfd waits[2] = {{stop, POLLIN, 0}, {descriptor, events, 0}};
    timespec left;
    ::ppoll(waits, 2, time_left(deadline, left), nullptr);
}

}  // namespace stackful::runtime
