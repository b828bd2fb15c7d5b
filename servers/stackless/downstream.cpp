#include "stackless/downstream.hpp"

#include <boost/asio/write.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <sstream>

#include "common/http/response_parser.hpp"
#include "common/limits.hpp"
#include "common/net/socket.hpp"

namespace stackless {

namespace http = common::http;

namespace {

std::string to_text(const asio::ip::tcp::endpoint& endpoint) {
    std::ostringstream text;
    text << endpoint;
    return text.str();
}

}  // namespace

/// One call's connection and its one deadline.
class Downstream::Call final : public Expiring {
  public:
    Call(Loop& loop, Instant deadline) : loop_(loop), deadline_(deadline) { loop.watch(*this); }

    Instant deadline() const override { return deadline_; }
    void cancel() override {
        if (socket != nullptr) {
            error_code ignored;
            socket->cancel(ignored);
        }
    }
    /// What a wait that was woken and found its socket empty has failed of.
    error_code failure() const {
        return loop_.abandoned() ? asio::error::operation_aborted : asio::error::timed_out;
    }

    std::unique_ptr<Socket> socket;

  private:
    Loop& loop_;
    const Instant deadline_;
};

Downstream::Downstream(Loop& loop, asio::ip::tcp::endpoint endpoint,
                       std::chrono::milliseconds timeout)
    : loop_(loop),
      endpoint_(endpoint),
      timeout_(timeout),
      request_(http::downstream_request(to_text(endpoint))) {}

// [downstream]
Awaitable<common::app::DownstreamResult> Downstream::get() {
    Call call(loop_, Clock::now() + timeout_);
    call.socket = take_idle();
    const bool kept = call.socket != nullptr;
    for (bool retried = false;; retried = true) {
        Exchange outcome;
        if (call.socket == nullptr) {
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
        call.socket.reset();
    }
}

Awaitable<Downstream::Exchange> Downstream::exchange(Call& call) {
    Exchange outcome;
    Socket& socket = *call.socket;
    std::tie(outcome.error, std::ignore) =
        co_await asio::async_write(socket, asio::buffer(request_), kErrorAsValue);
    if (outcome.error) {
        co_return outcome;
    }
    boost::beast::flat_buffer buffer(common::limits::kDownstreamHeaderBytes +
                                     common::limits::kReceiveBytes);
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
        if (parser.keep_alive() && buffer.size() == 0) {
            keep(std::move(call.socket));
        }
        outcome.result = std::move(parser).result();
    }
    co_return outcome;
}
// [/downstream]

Awaitable<error_code> Downstream::connect(Call& call) {
    if (loop_.abandoned()) {
        co_return asio::error::operation_aborted;
    }
    call.socket = std::make_unique<Socket>(loop_.executor());
    auto [error] = co_await call.socket->async_connect(endpoint_, kErrorAsValue);
    if (error == asio::error::operation_aborted) {
        call.socket->remote_endpoint(error);  // succeeds if the connection stands after all
        if (error) {
            error = call.failure();
        }
    }
    if (!error) {
        call.socket->set_option(asio::ip::tcp::no_delay(true), error);
        call.socket->non_blocking(true, error);
    }
    co_return error;
}

std::unique_ptr<Socket> Downstream::take_idle() {
    while (!idle_.empty()) {
        std::unique_ptr<Socket> socket = std::move(idle_.back());
        idle_.pop_back();
        if (common::net::is_quiet(socket->native_handle())) {
            return socket;
        }
    }
    return nullptr;
}

void Downstream::keep(std::unique_ptr<Socket> socket) {
    if (idle_.size() < common::limits::kIdleDownstreamConnections) {
        idle_.push_back(std::move(socket));
    }
}

}  // namespace stackless
