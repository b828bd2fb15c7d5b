// blocking/waiting.hpp on OS threads: every wait is a blocking system call, bounded by poll.

#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/system/system_error.hpp>
#include <cerrno>
#include <memory>
#include <mutex>
#include <thread>

#include "blocking/waiting.hpp"
#include "common/net/socket.hpp"
#include "thread_pool/worker_pool.hpp"

namespace waiting {
namespace {

error_code last_error() {
    return {errno, boost::system::system_category()};
}

bool would_block() {
    return errno == EAGAIN || errno == EWOULDBLOCK;
}

/// Blocks until the socket is ready for `events`, at most until the deadline.
void wait_for(int descriptor, short events, Instant deadline, error_code& error) {
    for (;;) {
        int timeout_ms = -1;
        if (deadline != Instant::max()) {
            const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now());
            timeout_ms = static_cast<int>(std::clamp<std::int64_t>(left.count(), 0, 1 << 30));
        }
        pollfd polled{descriptor, events, 0};
        const int ready = ::poll(&polled, 1, timeout_ms);
        if (ready > 0) {
            return;
        }
        if (ready == 0 && timeout_ms >= 0 && Clock::now() >= deadline) {
            error = boost::asio::error::timed_out;
            return;
        }
        if (ready < 0 && errno != EINTR) {
            error = last_error();
            return;
        }
    }
}

}  // namespace

// [sleep]
void sleep_for(std::chrono::milliseconds duration) {
    std::this_thread::sleep_for(duration);
}
// [/sleep]

void block_for(std::chrono::milliseconds duration) {
    std::this_thread::sleep_for(duration);
}

void run_all(std::size_t count, const std::function<void()>& task) {
    thread_pool::WorkerPool::run_all(count, task);
}

// On threads a lock is a lock: both park the thread that waits for them.
struct Mutex::State {
    std::mutex mutex;
};
Mutex::~Mutex() {
    delete state_.load();
}
void Mutex::lock() {
    made_once(state_).mutex.lock();
}
void Mutex::unlock() {
    made_once(state_).mutex.unlock();
}

struct Monitor::State {
    std::mutex mutex;
};
Monitor::~Monitor() {
    delete state_.load();
}
void Monitor::lock() {
    made_once(state_).mutex.lock();
}
void Monitor::unlock() {
    made_once(state_).mutex.unlock();
}

struct TcpStream::State {
    common::net::Descriptor descriptor;
    Instant deadline = Instant::max();
};

TcpStream::TcpStream(TcpStream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
TcpStream& TcpStream::operator=(TcpStream&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}
TcpStream::~TcpStream() {
    delete state_;
}

bool TcpStream::is_open() const {
    return state_ != nullptr && state_->descriptor.get() >= 0;
}

void TcpStream::expires_at(Instant deadline) {
    if (state_ == nullptr) {
        state_ = new State;
    }
    state_->deadline = deadline;
}

bool TcpStream::is_quiet() {
    return common::net::is_quiet(state_->descriptor.get());
}

void TcpStream::connect(const boost::asio::ip::tcp::endpoint& endpoint, error_code& error) {
    if (state_ == nullptr) {
        state_ = new State;
    }
    common::net::Descriptor& descriptor = state_->descriptor;
    descriptor.reset(
        ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    if (descriptor.get() < 0) {
        error = last_error();
        return;
    }
    const int on = 1;
    ::setsockopt(descriptor.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    if (::connect(descriptor.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) !=
            0 &&
        errno != EINPROGRESS) {
        error = last_error();
    } else {
        wait_for(descriptor.get(), POLLOUT, state_->deadline, error);
    }
    if (!error) {
        int outcome = 0;
        socklen_t bytes = sizeof(outcome);
        ::getsockopt(descriptor.get(), SOL_SOCKET, SO_ERROR, &outcome, &bytes);
        error.assign(outcome, boost::system::system_category());
    }
    if (error) {
        descriptor.reset(-1);
    }
}

std::size_t TcpStream::read_vectors(iovec* vectors, std::size_t count, error_code& error) {
    msghdr message{};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    for (error = {}; !error;) {
        wait_for(state_->descriptor.get(), POLLIN, state_->deadline, error);
        if (error) {
            break;
        }
        const ssize_t bytes = ::recvmsg(state_->descriptor.get(), &message, 0);
        if (bytes > 0) {
            return static_cast<std::size_t>(bytes);
        }
        if (bytes == 0) {
            error = boost::asio::error::eof;
        } else if (!would_block() && errno != EINTR) {
            error = last_error();
        }
    }
    return 0;
}

std::size_t TcpStream::write_vectors(iovec* vectors, std::size_t count, error_code& error) {
    msghdr message{};
    message.msg_iov = vectors;
    message.msg_iovlen = count;
    for (error = {}; !error;) {
        const ssize_t bytes = ::sendmsg(state_->descriptor.get(), &message, MSG_NOSIGNAL);
        if (bytes >= 0) {
            return static_cast<std::size_t>(bytes);
        }
        if (would_block()) {
            wait_for(state_->descriptor.get(), POLLOUT, state_->deadline, error);
        } else if (errno != EINTR) {
            error = last_error();
        }
    }
    return 0;
}

void TcpStream::throw_if(const error_code& error) {
    if (error) {
        throw boost::system::system_error(error);
    }
}

}  // namespace waiting
