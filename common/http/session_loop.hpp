#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <thread>
#include <unordered_set>

#include "common/http/context.hpp"
#include "common/http/server_connection.hpp"
#include "common/net/socket.hpp"

namespace common::http {

class SessionLoop;

/// One connection on an event loop, driven by callbacks. What happens to a complete request is the
/// subclass's matter. All of it runs on the loop's thread.
class AsyncSession : public std::enable_shared_from_this<AsyncSession> {
  public:
    AsyncSession(SessionLoop& loop, net::Accepted accepted);
    virtual ~AsyncSession() = default;

    /// Goes on with whatever the connection needs next.
    void advance();
    /// Wakes the waiting operation if its deadline has passed.
    void sweep(ServerConnection::Instant now);
    /// The drain is over: answers 503 in place of a request that is still out.
    virtual void abandon() = 0;

  protected:
    /// A request is complete: answer it now, or call `hold` and, once it is answered, `release`.
    virtual void handle() = 0;
    /// From now on the loop does not touch the connection.
    void hold() { held_ = true; }
    void release() {
        held_ = false;
        advance();
    }
    bool held() const { return held_; }
    void finish();

    SessionLoop& loop() { return loop_; }
    ServerConnection& connection() { return connection_; }
    boost::asio::ip::tcp::socket& socket() { return socket_; }

  private:
    void receive();
    void send();
    void shut_down();

    SessionLoop& loop_;
    net::Accepted place_;
    boost::asio::ip::tcp::socket socket_;
    ServerConnection connection_;
    bool held_ = false;
};

/// An io_context on a thread of its own, the sessions on it, and one coarse sweep over their
/// deadlines. `adopt`, `drain` and `abandon` may be called from any thread.
class SessionLoop {
  public:
    using MakeSession =
        std::function<std::shared_ptr<AsyncSession>(SessionLoop& loop, net::Accepted accepted)>;

    SessionLoop(Context& context, MakeSession make_session);
    ~SessionLoop();
    /// Stops and joins; connections still open are cut off. For owners whose sessions refer to what
    /// is destroyed before the loop.
    void stop();

    void adopt(net::Accepted accepted);
    void drain();
    void abandon();

    boost::asio::io_context& io() { return io_; }
    Context& context() { return context_; }
    /// The loop's thread.
    void forget(const std::shared_ptr<AsyncSession>& session) { sessions_.erase(session); }

  private:
    void schedule_sweep();
    void sweep();

    Context& context_;
    MakeSession make_session_;
    boost::asio::io_context io_{1};
    boost::asio::steady_timer timer_{io_};
    std::unordered_set<std::shared_ptr<AsyncSession>> sessions_;
    std::thread thread_;
};

}  // namespace common::http
