#pragma once

#include <sys/epoll.h>
#include <sys/uio.h>

#include <cstddef>

#include "stackful/runtime/fiber.hpp"

/// System calls as values: bytes or 0 on success, a negative error number otherwise. They are not
/// inlined, so that no fiber keeps the address of one thread's `errno` across a switch.
namespace stackful::runtime {

inline std::int64_t to_nanoseconds(Instant instant) {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(instant.time_since_epoch()).count();
}

/// Waits until `deadline` (in the past: not at all; `Instant::max()`: for ever). Returns how many
/// events there are.
int wait_for_events(int epoll, epoll_event* events, std::size_t capacity, Instant deadline);

ssize_t receive(int socket, iovec* vectors, std::size_t count);
ssize_t send(int socket, iovec* vectors, std::size_t count);
/// A new non-blocking TCP socket with TCP_NODELAY.
int open_socket(int family);
int connect_socket(int socket, const void* address, std::size_t bytes);
/// How a connect ended: 0, -EINPROGRESS, or the error.
int connect_result(int socket);
/// Whether the peer has neither closed nor sent anything.
bool nothing_to_receive(int socket);

/// Blocks the thread until the descriptor (-1: none) has one of `events`, `stop` is readable, or
/// the deadline has passed.
void poll_on_thread(int descriptor, short events, int stop, Instant deadline);

}  // namespace stackful::runtime
