#include "stackless/downstream.hpp"

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>

#include "common/http/response_parser.hpp"
#include "common/limits.hpp"
#include "common/net/socket.hpp"

namespace stackless {

namespace http = common::http;

/// A connection, and the buffer that it keeps from one call to the next.
struct Downstream::Connection {
    explicit Connection(Executor executor) : socket(executor) {}

    Socket socket;
    boost::beast::flat_buffer buffer{common::limits::kDownstreamHeaderBytes +
                                     common::limits::kReceiveBytes};
};

/// One call's connection and its one deadline.
class Downstream::Call final : public Expiring {
  public:
    Call(Loop& loop, Instant deadline) : loop_(loop), deadline_(deadline) { loop.watch(*this); }

    Instant deadline() const override { return deadline_; }
    void cancel() override {
        if (connection != nullptr) {
            error_code ignored;
            connection->socket.cancel(ignored);
        }
    }
    /// What a wait that was woken and found its socket empty has failed of.
    error_code failure() const {
        return loop_.abandoned() ? asio::error::operation_aborted : asio::error::timed_out;
    }

    std::unique_ptr<Connection> connection;

  private:
    Loop& loop_;
    const Instant deadline_;
};

Downstream::Downstream(Loop& loop, asio::ip::tcp::endpoint endpoint,
                       std::chrono::milliseconds timeout)
    : loop_(loop),
      endpoint_(endpoint),
      timeout_(timeout),
      request_(http::downstream_request(endpoint)) {}

Downstream::~Downstream() = default;

// [downstream]
Awaitable<common::app::DownstreamResult> Downstream::get() {
    Call call(loop_, Clock::now() + timeout_);
    call.connection = take_idle();
    const bool kept = call.connection != nullptr;
    for (bool retried = false;; retried = true) {
        Exchange outcome;
        if (call.connection == nullptr) {
            outcome.error = co_await connect(call);
        }
        if (!outcome.error) {
            outcome = co_await exchange(call);
        }
        if (!outcome.error) {
            co_return std::move(outcome.result);
        }
        if (retried || !http::may_retry(outcome.error, kept, outcome.received_bytes)) {
            co_return http::failure_of(outcome.error);
        }
        call.connection.reset();
    }
}

Awaitable<Downstream::Exchange> Downstream::exchange(Call& call) {
    Exchange outcome;
    auto& [socket, buffer] = *call.connection;
    outcome.error = co_await send(socket);
    if (outcome.error == asio::error::operation_aborted) {
        outcome.error = call.failure();
    }
    if (outcome.error) {
        co_return outcome;
    }
    http::ResponseParser parser;
    std::tie(outcome.error, outcome.received_bytes) =
        co_await boost::beast::http::async_read(socket, buffer, parser, kErrorAsValue);
    if (outcome.error == asio::error::operation_aborted) {
        outcome.received_bytes += boost::beast::http::read(socket, buffer, parser, outcome.error);
        if (outcome.error == asio::error::would_block) {
            outcome.error = call.failure();
        }
    }
    outcome.received_bytes += buffer.size();
    if (!outcome.error) {
        if (parser.may_be_kept() && buffer.size() == 0) {
            keep(std::move(call.connection));
        }
        outcome.result = std::move(parser).result();
    }
    co_return outcome;
}
// [/downstream]

/// The request fits nearly always into the empty send buffer, so it leaves without a wait.
Awaitable<error_code> Downstream::send(Socket& socket) {
    error_code error;
    const std::size_t sent = asio::write(socket, asio::buffer(request_), error);
    if (error == asio::error::would_block) {
        std::tie(error, std::ignore) =
            co_await asio::async_write(socket, asio::buffer(request_) + sent, kErrorAsValue);
    }
    co_return error;
}

Awaitable<error_code> Downstream::connect(Call& call) {
    if (loop_.abandoned()) {
        co_return asio::error::operation_aborted;
    }
    call.connection = std::make_unique<Connection>(loop_.executor());
    Socket& socket = call.connection->socket;
    auto [error] = co_await socket.async_connect(endpoint_, kErrorAsValue);
    if (error == asio::error::operation_aborted) {
        socket.remote_endpoint(error);  // succeeds if the connection stands after all
        if (error) {
            error = call.failure();
        }
    }
    if (!error) {
        socket.set_option(asio::ip::tcp::no_delay(true), error);
        socket.non_blocking(true, error);
    }
    co_return error;
}

std::unique_ptr<Downstream::Connection> Downstream::take_idle() {
    while (!idle_.empty()) {
        std::unique_ptr<Connection> connection = std::move(idle_.back());
        idle_.pop_back();
        if (common::net::is_quiet(connection->socket.native_handle())) {
            return connection;
        }
    }
    return nullptr;
}

void Downstream::keep(std::unique_ptr<Connection> connection) {
    if (idle_.size() < common::limits::kIdleDownstreamConnections) {
        idle_.push_back(std::move(connection));
    }
}

}  // namespace stackless
