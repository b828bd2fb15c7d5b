#pragma once

#include <sys/uio.h>

#include <boost/asio/ip/tcp.hpp>
#include <boost/system/error_code.hpp>
#include <cstddef>

#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {

struct Descriptor;
class Scheduler;

/// A TCP connection on which a fiber waits by parking. One fiber uses it at a time, any fiber of
/// the runtime; only `interrupt` may come from another thread. Errors: the system's,
/// `asio::error::eof`, and, always after one more try on a socket that was still empty (or full),
/// `timed_out`, `interrupted` or `operation_aborted` (the runtime was abandoned).
class Stream {
  public:
    using error_code = boost::system::error_code;

    Stream() = default;
    /// Takes over a connected, non-blocking socket and registers it with the calling fiber's
    /// scheduler. Not open afterwards, and the socket still the caller's, when there is no room.
    explicit Stream(int socket);
    Stream(Stream&& other) noexcept;
    Stream& operator=(Stream&& other) noexcept;
    ~Stream() { close(); }

    /// Opens a socket and connects it by the deadline.
    error_code connect(const boost::asio::ip::tcp::endpoint& endpoint);
    int socket() const { return socket_; }
    bool is_open() const { return socket_ >= 0; }
    void close();
    /// Tells the peer that nothing more will be sent.
    void shut_down();

    /// The instant by which later calls must end, give or take a sweep; `Instant::max()` for none.
    void expires_at(Instant deadline);

    /// Whether the peer has neither closed nor sent anything that was not received.
    bool is_quiet();

    /// At least one byte, or an error.
    std::size_t read(iovec* vectors, std::size_t count, error_code& error);
    std::size_t write(iovec* vectors, std::size_t count, error_code& error);

    /// Lets the read that waits now, or else the next that would, end with `interrupted` if the
    /// socket is empty. Any thread, as long as nobody opens, closes or moves the stream meanwhile.
    void interrupt();

  private:
    bool adopt(int socket);
    void give_turns();
    void wait_until_readable();
    void wait_until_writable();
    /// Why a try on an empty or full socket shall not be repeated; no error if it shall.
    error_code reason_to_end(bool reading);

    int socket_ = -1;
    /// The last read got less than it asked for: the socket is empty unless an event says other.
    bool drained_ = true;
    /// Reads since the last wait: whoever is sent bytes without a pause must not keep the carrier.
    unsigned operations_in_a_row_ = 0;
    Descriptor* descriptor_ = nullptr;
    Scheduler* scheduler_ = nullptr;
    Instant deadline_ = Instant::max();
};

}  // namespace stackful::runtime
