#pragma once

#include <memory>
#include <vector>

#include "common/app/call.hpp"
#include "common/http/context.hpp"
#include "common/net/control.hpp"

namespace common::http {

class ConnectorLoop;
class ConnectorSession;

/// A complete request on its way to an executor and its answer on its way back. Movable; one thread
/// at a time. While it is out, the connector's loop does not touch the connection.
class Exchange {
  public:
    Exchange(std::shared_ptr<ConnectorSession> session, app::Call call);
    Exchange(Exchange&&) noexcept;
    Exchange& operator=(Exchange&&) noexcept;
    ~Exchange();

    const app::Call& call() const { return call_; }
    /// Counts the request as waiting or running instead of queued. Called once, by the worker.
    void begin();
    /// Sends what the socket takes at once, then gives the connection back to its loop, which sends
    /// the rest under the write deadline. Never blocks. Called once.
    void respond(const app::Answer& answer);

  private:
    std::shared_ptr<ConnectorSession> session_;
    app::Call call_;
};

/// What runs complete requests: a pool, or a scheduler of fibers. `execute` is called from the
/// connector's loops and must not block; its queue is bounded by the connections.
class Executor {
  public:
    virtual ~Executor() = default;
    virtual void execute(Exchange exchange) = 0;
};

/// A small event loop in front of blocking workers, as Tomcat and Kestrel have one: it reads whole
/// requests under their deadlines and hands each to the executor, so an idle, half-sent or slowly
/// read connection holds no worker. What needs no model (/health, /metrics, /, every refusal) is
/// answered on the loop, so it is answered while the workers are starved.
class Connector final : public net::FrontEnd {
  public:
    /// Starts the loops' threads. `context` and `executor` must outlive the connector.
    Connector(Context& context, Executor& executor, unsigned threads);
    /// Stops and joins the loops; connections still open are cut off.
    ~Connector() override;

    void adopt(net::Accepted connection) override;
    void drain() override;
    void abandon() override;

  private:
    std::vector<std::unique_ptr<ConnectorLoop>> loops_;
    std::size_t next_loop_ = 0;
};

}  // namespace common::http
