#pragma once

#include <sys/uio.h>
#include <atomic>
#include <boost/asio/buffer.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <string_view>

/// How blocking code waits. The handlers and the downstream client beside this file are written
/// against these declarations and compiled once. `waiting_on_threads.cpp` implements them with
/// blocking system calls; `waiting_on_fibers.cpp` parks the fiber and gives its carrier back.
/// Which of the two is linked is the only difference between the two servers' handlers.
namespace waiting {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;
using boost::system::error_code;

/// Waits as the model waits. Returns early only when the server ends its drain (see `TcpStream`).
void sleep_for(std::chrono::milliseconds duration);

/// Blocks the OS thread in every model: the plain mistake, made on purpose.
void block_for(std::chrono::milliseconds duration);

/// Runs `task` `count` times as the model starts tasks (pool jobs, fibers) and returns when all
/// have ended. The caller helps or parks, so several calls at once do not deadlock.
void run_all(std::size_t count, const std::function<void()>& task);

/// A lock whose holder and waiters may park (Java's ReentrantLock). Not recursive.
/// Satisfies BasicLockable; costs one pointer until first locked.
class Mutex {
  public:
    Mutex() = default;
    Mutex(const Mutex&) = delete;
    Mutex& operator=(const Mutex&) = delete;
    ~Mutex();
    void lock();
    void unlock();

  private:
    struct State;
    std::atomic<State*> state_ = nullptr;
};

/// A lock that the OS thread owns (Java's synchronized before JDK 24): a fiber that holds one is
/// pinned, it cannot park, and whatever it waits for blocks its carrier. On threads it is a plain
/// lock. Satisfies BasicLockable; costs one pointer until first locked.
class Monitor {
  public:
    Monitor() = default;
    Monitor(const Monitor&) = delete;
    Monitor& operator=(const Monitor&) = delete;
    ~Monitor();
    void lock();
    void unlock();

  private:
    struct State;
    std::atomic<State*> state_ = nullptr;
};

/// What a lock is made of, made by whoever comes first: most locks are never taken.
template <class State>
State& made_once(std::atomic<State*>& place) {
    State* state = place.load(std::memory_order_acquire);
    if (state == nullptr) {
        auto made = std::make_unique<State>();
        if (place.compare_exchange_strong(state, made.get(), std::memory_order_acq_rel)) {
            state = made.release();
        }
    }
    return *state;
}

/// A TCP connection with blocking-style calls that models Beast's SyncReadStream and
/// SyncWriteStream, so that `beast::http::read(stream, ...)` works as it stands. One thread or
/// fiber uses it at a time. Errors: the system's; `asio::error::eof` at the end of the stream;
/// `asio::error::timed_out` when the instant given to `expires_at` has passed and the socket is
/// empty (or full); `asio::error::operation_aborted` when the server's drain has run out.
class TcpStream {
  public:
    TcpStream() = default;
    TcpStream(TcpStream&& other) noexcept;
    TcpStream& operator=(TcpStream&& other) noexcept;
    ~TcpStream();

    /// Opens a socket and connects it within the deadline. TCP_NODELAY is set.
    void connect(const boost::asio::ip::tcp::endpoint& endpoint, error_code& error);
    bool is_open() const;

    /// The instant by which every later call must have ended; `Instant::max()` for none.
    void expires_at(Instant deadline);

    /// Whether a kept connection may be used again: the peer has neither closed it nor sent
    /// anything. Does not wait.
    bool is_quiet();

    /// Receives at least one byte, or says why not.
    template <class MutableBufferSequence>
    std::size_t read_some(const MutableBufferSequence& buffers, error_code& error) {
        iovec vectors[kMaxBuffers];
        return read_vectors(vectors, to_vectors(buffers, vectors), error);
    }
    /// Sends at least one byte, or says why not.
    template <class ConstBufferSequence>
    std::size_t write_some(const ConstBufferSequence& buffers, error_code& error) {
        iovec vectors[kMaxBuffers];
        return write_vectors(vectors, to_vectors(buffers, vectors), error);
    }
    /// The same with an exception, which the stream concepts ask for.
    template <class MutableBufferSequence>
    std::size_t read_some(const MutableBufferSequence& buffers) {
        error_code error;
        const std::size_t bytes = read_some(buffers, error);
        return throw_if(error), bytes;
    }
    template <class ConstBufferSequence>
    std::size_t write_some(const ConstBufferSequence& buffers) {
        error_code error;
        const std::size_t bytes = write_some(buffers, error);
        return throw_if(error), bytes;
    }

  private:
    static constexpr std::size_t kMaxBuffers = 8;

    template <class BufferSequence>
    static std::size_t to_vectors(const BufferSequence& buffers, iovec (&vectors)[kMaxBuffers]) {
        std::size_t count = 0;
        const auto end = boost::asio::buffer_sequence_end(buffers);
        for (auto it = boost::asio::buffer_sequence_begin(buffers);
             it != end && count < kMaxBuffers; ++it) {
            const boost::asio::const_buffer buffer = *it;
            vectors[count++] = {const_cast<void*>(buffer.data()), buffer.size()};
        }
        return count;
    }
    std::size_t read_vectors(iovec* vectors, std::size_t count, error_code& error);
    std::size_t write_vectors(iovec* vectors, std::size_t count, error_code& error);
    static void throw_if(const error_code& error);

    struct State;
    State* state_ = nullptr;
};

}  // namespace waiting
