#pragma once

#include <boost/asio/buffer.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "common/app/call.hpp"
#include "common/http/context.hpp"
#include "common/http/request_parser.hpp"

namespace common::http {

/// What the owner of a connection has to do next.
enum class Step {
    receive,    ///< read into `receive_buffer()`, then `received`, `received_end` or `nothing_came`
    handle,     ///< answer `request()`, then call `answer`
    send,       ///< write `unsent()`, then `sent` (or `nothing_came`)
    shut_down,  ///< shut down the sending side of the socket, then `was_shut_down`
    close,      ///< close the socket; nothing follows
};

/// The protocol side of one HTTP/1 connection, without any I/O: received bytes go in, requests come
/// out, answers go in, bytes to send come out. So every model applies the same limits, checks,
/// deadlines, keep-alive and closing rules, and its own code is only how it waits.
/// Used by one thread at a time.
class ServerConnection {
  public:
    using Clock = std::chrono::steady_clock;
    using Instant = Clock::time_point;

    /// `socket` is asked, when the server drains, how much it holds; nothing else is
    /// ever done with it here. -1: there is none.
    explicit ServerConnection(Context& context, int socket = -1);
    ServerConnection(const ServerConnection&) = delete;
    ServerConnection& operator=(const ServerConnection&) = delete;
    ~ServerConnection();

    Step next();

    /// The instant by which the present step must have made its progress. Only the thread that
    /// owns the connection may ask. It has passed at once when the server drains and this
    /// connection is idle (then one last read decides), and when the drain is over.
    Instant deadline() const;

    boost::asio::mutable_buffer receive_buffer();
    void received(std::size_t bytes);
    /// The peer has shut down its side. Complete requests are still answered.
    void received_end();
    /// The owner was woken, tried the socket once more, and it was empty (or full). If the
    /// deadline has passed the phase fails; otherwise nothing changes.
    void nothing_came();

    /// Valid until `answer` is called.
    app::Request request() const { return parser_->request(); }
    /// Counts the answer under `endpoint` and makes it ready to be sent; when the drain is over,
    /// 503 takes its place.
    void answer(const app::Answer& found, app::Endpoint endpoint);

    std::string_view unsent() const { return std::string_view(out_).substr(sent_bytes_); }
    void sent(std::size_t bytes);
    void was_shut_down();

  private:
    enum class Phase { idle, header, body, handling, lingering, closed };

    Step parse();
    void skip_empty_lines();
    void consume(std::size_t bytes);
    void enter(Phase phase, std::chrono::milliseconds limit);
    void refuse(const app::Answer& answer);
    bool goes_on();

    Context& context_;
    const int socket_;
    boost::beast::flat_buffer in_;
    std::string out_;
    std::size_t sent_bytes_ = 0;
    std::size_t discarded_bytes_ = 0;
    std::uint64_t consumed_bytes_ = 0;
    std::optional<std::uint64_t> drain_ends_at_;  ///< in consumed bytes
    std::optional<RequestParser> parser_;
    Phase phase_ = Phase::idle;
    Instant now_;
    Instant deadline_;
    Instant request_complete_;
    bool keep_alive_ = true;
    bool ended_ = false;  ///< the peer will send no more
    bool shut_down_ = false;
    bool counted_as_lingering_ = false;
};

}  // namespace common::http
