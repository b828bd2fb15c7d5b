#include "stackful/runtime/stream.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <boost/asio/error.hpp>
#include <utility>

#include "stackful/runtime/pinning.hpp"
#include "stackful/runtime/runtime.hpp"
#include "stackful/runtime/system.hpp"

namespace stackful::runtime {
namespace {

namespace errors = boost::asio::error;

/// After so many reads and writes without a wait the other fibers get their turn.
constexpr unsigned kOperationsInARow = 16;

boost::system::error_code system_error(ssize_t result) {
    return {static_cast<int>(-result), boost::system::system_category()};
}

std::size_t total_bytes(const iovec* vectors, std::size_t count) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < count; ++i) {
        bytes += vectors[i].iov_len;
    }
    return bytes;
}

// [pinned]
void wait_for(Readiness& readiness, int socket, short events, Instant deadline) {
    Fiber& self = *current_fiber();
    Runtime& runtime = self.home->runtime();
    if (self.monitors > 0) {
        const PinnedWait wait(self);
        poll_on_thread(socket, events, runtime.abandon_event(), deadline);
        readiness.take();
    } else if (!runtime.is_abandoned()) {
        park(
            self,
            [](Fiber& fiber, void* word) { return static_cast<Readiness*>(word)->park(fiber); },
            &readiness);
    }
}
// [/pinned]

}  // namespace

Stream::Stream(int socket) {
    adopt(socket);
}

Stream::Stream(Stream&& other) noexcept {
    *this = std::move(other);
}

Stream& Stream::operator=(Stream&& other) noexcept {
    std::swap(socket_, other.socket_);
    std::swap(drained_, other.drained_);
    std::swap(operations_in_a_row_, other.operations_in_a_row_);
    std::swap(descriptor_, other.descriptor_);
    std::swap(scheduler_, other.scheduler_);
    std::swap(deadline_, other.deadline_);
    return *this;
}

bool Stream::adopt(int socket) {
    Scheduler* scheduler = current_fiber()->home;
    descriptor_ = scheduler->watch(socket);
    if (descriptor_ == nullptr) {
        return false;
    }
    scheduler_ = scheduler;
    socket_ = socket;
    drained_ = true;
    expires_at(deadline_);
    return true;
}

void Stream::close() {
    if (!is_open()) {
        return;
    }
    // In this order: events of this socket are dropped before its number can be used again.
    scheduler_->descriptors().give_back(*std::exchange(descriptor_, nullptr));
    ::close(std::exchange(socket_, -1));
}

void Stream::shut_down() {
    if (is_open()) {
        ::shutdown(socket_, SHUT_WR);
    }
}

void Stream::expires_at(Instant deadline) {
    deadline_ = deadline;
    if (descriptor_ != nullptr) {
        descriptor_->deadline.store(to_nanoseconds(deadline), std::memory_order_relaxed);
    }
}

boost::system::error_code Stream::connect(const boost::asio::ip::tcp::endpoint& endpoint) {
    close();
    const int socket = open_socket(endpoint.protocol().family());
    if (socket < 0) {
        return system_error(socket);
    }
    int result = connect_socket(socket, endpoint.data(), endpoint.size());
    if (result != 0 && result != -EINPROGRESS) {
        ::close(socket);
        return system_error(result);
    }
    // Registered only now: before its connect, epoll would report a hang-up.
    if (!adopt(socket)) {
        ::close(socket);
        return errors::no_memory;
    }
    while (result == -EINPROGRESS) {
        wait_until_writable();
        result = connect_result(socket_);
        const error_code reason = reason_to_end(false);
        if (result == -EINPROGRESS && reason) {
            close();
            return reason;
        }
    }
    if (result == 0) {
        return {};
    }
    close();
    return system_error(result);
}

bool Stream::is_quiet() {
    if (!is_open() || descriptor_->hung_up.load(std::memory_order_acquire)) {
        return false;
    }
    // Without an event since the read that drained it, the socket is empty.
    return (drained_ && !descriptor_->read.is_noted()) || nothing_to_receive(socket_);
}

std::size_t Stream::read(iovec* vectors, std::size_t count, error_code& error) {
    const std::size_t wanted = total_bytes(vectors, count);
    error = {};
    if (wanted == 0) {
        return 0;
    }
    if (drained_ && !descriptor_->hung_up.load(std::memory_order_acquire)) {
        wait_until_readable();
    }
    for (;;) {
        const ssize_t got = receive(socket_, vectors, count);
        if (got > 0) {
            give_turns();
            drained_ = static_cast<std::size_t>(got) < wanted;
            return static_cast<std::size_t>(got);
        }
        if (got == 0) {
            error = errors::eof;
        } else if (got != -EAGAIN && got != -EINTR) {
            error = system_error(got);
        } else {
            error = reason_to_end(true);
        }
        if (error) {
            return 0;
        }
        if (got == -EAGAIN) {
            wait_until_readable();
        }
    }
}

std::size_t Stream::write(iovec* vectors, std::size_t count, error_code& error) {
    error = {};
    for (;;) {
        const ssize_t sent = send(socket_, vectors, count);
        if (sent >= 0) {
            give_turns();
            return static_cast<std::size_t>(sent);
        }
        error = sent == -EAGAIN || sent == -EINTR ? reason_to_end(false) : system_error(sent);
        if (error) {
            return 0;
        }
        if (sent == -EAGAIN) {
            wait_until_writable();
        }
    }
}

void Stream::interrupt() {
    if (descriptor_ == nullptr) {
        return;
    }
    descriptor_->interrupted.store(true);
    if (Fiber* fiber = descriptor_->read.note()) {
        make_ready(*fiber);
    }
}

void Stream::give_turns() {
    if (++operations_in_a_row_ >= kOperationsInARow) {
        operations_in_a_row_ = 0;
        yield();
    }
}

void Stream::wait_until_readable() {
    operations_in_a_row_ = 0;
    wait_for(descriptor_->read, socket_, POLLIN, deadline_);
}

void Stream::wait_until_writable() {
    operations_in_a_row_ = 0;
    wait_for(descriptor_->write, socket_, POLLOUT, deadline_);
}

boost::system::error_code Stream::reason_to_end(bool reading) {
    if (scheduler_->runtime().is_abandoned()) {
        return errors::operation_aborted;
    }
    if (reading && descriptor_->interrupted.exchange(false)) {
        return errors::interrupted;
    }
    if (deadline_ != Instant::max() && Clock::now() >= deadline_) {
        return errors::timed_out;
    }
    return {};
}

}  // namespace stackful::runtime
