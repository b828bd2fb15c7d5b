#include "sync_over_async/async_client.hpp"

#include <poll.h>

#include <atomic>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/read.hpp>
#include <optional>

#include "common/http/response_parser.hpp"
#include "common/limits.hpp"
#include "common/net/socket.hpp"

namespace sync_over_async {

namespace http = common::http;

/// One GET: connect, send, receive, each as far as the socket goes.
class AsyncClient::Call final : public Operation, public std::enable_shared_from_this<Call> {
  public:
    explicit Call(AsyncClient& client)
        : client_(client), deadline_(Clock::now() + client.timeout_), socket_(client.take_idle()) {}

    std::future<common::app::DownstreamResult> start();

    Instant deadline() const override { return deadline_; }
    void wait(Woken woken) override;
    void cancel() override {
        error_code ignored;
        socket_->cancel(ignored);
    }
    error_code look() override;
    void go_on(const error_code& error) override;
    void abandon() override { finish(common::app::DownstreamFailure::shutting_down); }

  private:
    enum class Step { connect, send, receive };

    void connect();
    error_code send();
    error_code receive();
    void succeed();
    void fail(const error_code& error);
    void finish(common::app::DownstreamResult result);

    AsyncClient& client_;
    const Instant deadline_;
    std::unique_ptr<Socket> socket_;
    const bool kept_ = socket_ != nullptr;
    bool retried_ = false;
    Step step_ = Step::send;
    std::size_t sent_bytes_ = 0;
    std::size_t received_bytes_ = 0;
    boost::beast::flat_buffer buffer_{common::limits::kDownstreamHeaderBytes +
                                      common::limits::kReceiveBytes};
    std::optional<http::ResponseParser> parser_{std::in_place};
    std::atomic<bool> finished_ = false;
    std::promise<common::app::DownstreamResult> promise_;
};

std::future<common::app::DownstreamResult> AsyncClient::Call::start() {
    auto future = promise_.get_future();
    if (kept_) {
        go_on({});
    } else {
        connect();
    }
    return future;
}

void AsyncClient::Call::connect() {
    step_ = Step::connect;
    sent_bytes_ = 0;
    received_bytes_ = 0;
    buffer_.clear();
    parser_.emplace();
    socket_ = std::make_unique<Socket>(client_.completions_.io().get_executor());
    client_.completions_.await(shared_from_this());
}

void AsyncClient::Call::wait(Woken woken) {
    switch (step_) {
        case Step::connect:
            return socket_->async_connect(client_.endpoint_, std::move(woken));
        case Step::send:
            return socket_->async_wait(Socket::wait_write, std::move(woken));
        case Step::receive:
            return socket_->async_wait(Socket::wait_read, std::move(woken));
    }
}

error_code AsyncClient::Call::look() {
    if (step_ == Step::connect) {
        error_code not_connected;
        socket_->remote_endpoint(not_connected);
        return not_connected ? asio::error::timed_out : error_code();
    }
    pollfd polled{socket_->native_handle(),
                  static_cast<short>(step_ == Step::send ? POLLOUT : POLLIN), 0};
    return ::poll(&polled, 1, 0) > 0 ? error_code() : asio::error::timed_out;
}

// [client]
void AsyncClient::Call::go_on(const error_code& outcome) {
    error_code error = outcome;
    if (!error && step_ == Step::connect) {
        socket_->set_option(asio::ip::tcp::no_delay(true), error);
        socket_->non_blocking(true, error);
        step_ = Step::send;
    }
    if (!error && step_ == Step::send) {
        error = send();
    }
    if (!error && step_ == Step::receive) {
        error = receive();
    }
    if (error == asio::error::would_block) {
        client_.completions_.await(shared_from_this());
    } else if (error) {
        fail(error);
    } else {
        succeed();
    }
}
// [/client]

/// `would_block` when the answer is to be waited for, which is nearly always.
error_code AsyncClient::Call::send() {
    error_code error;
    while (!error && sent_bytes_ < client_.request_.size()) {
        sent_bytes_ += socket_->write_some(asio::buffer(client_.request_) + sent_bytes_, error);
    }
    if (!error) {
        step_ = Step::receive;
        error = asio::error::would_block;
    }
    return error;
}

error_code AsyncClient::Call::receive() {
    error_code error;
    received_bytes_ += boost::beast::http::read(*socket_, buffer_, *parser_, error);
    return error;
}

void AsyncClient::Call::succeed() {
    if (parser_->may_be_kept() && buffer_.size() == 0) {
        client_.keep(std::move(socket_));
    }
    finish(std::move(*parser_).result());
}

void AsyncClient::Call::fail(const error_code& error) {
    if (!retried_ && http::may_retry(error, kept_, received_bytes_ + buffer_.size())) {
        retried_ = true;
        return connect();
    }
    socket_.reset();
    finish(http::failure_of(error));
}

void AsyncClient::Call::finish(common::app::DownstreamResult result) {
    if (!finished_.exchange(true)) {
        promise_.set_value(std::move(result));
    }
}

AsyncClient::AsyncClient(Completions& completions, asio::ip::tcp::endpoint endpoint,
                         std::chrono::milliseconds timeout)
    : completions_(completions),
      endpoint_(endpoint),
      timeout_(timeout),
      request_(http::downstream_request(endpoint)) {}

AsyncClient::~AsyncClient() = default;

std::future<common::app::DownstreamResult> AsyncClient::get() {
    return std::make_shared<Call>(*this)->start();
}

std::unique_ptr<Socket> AsyncClient::take_idle() {
    for (;;) {
        std::unique_ptr<Socket> socket;
        {
            const std::lock_guard lock(mutex_);
            if (idle_.empty()) {
                return nullptr;
            }
            socket = std::move(idle_.back());
            idle_.pop_back();
        }
        if (common::net::is_quiet(socket->native_handle())) {
            return socket;
        }
    }
}

void AsyncClient::keep(std::unique_ptr<Socket> socket) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < common::limits::kIdleDownstreamConnections) {
        idle_.push_back(std::move(socket));
    }
}

}  // namespace sync_over_async
