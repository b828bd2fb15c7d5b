#include "common/http/connector.hpp"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <cerrno>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "common/http/dispatch.hpp"
#include "common/http/response_head.hpp"
#include "common/http/server_connection.hpp"

namespace common::http {

namespace asio = boost::asio;
using boost::system::error_code;

/// One connection. Its loop's thread owns it, except while its request is out.
class ConnectorSession : public std::enable_shared_from_this<ConnectorSession> {
  public:
    ConnectorSession(ConnectorLoop& loop, net::Accepted accepted);

    void start() { advance(); }
    /// The loop's thread: looks at the deadline, wakes the waiting operation if it has passed.
    void sweep(ServerConnection::Instant now);
    /// The loop's thread: answers 503 in place of a request that is still out.
    void abandon();
    /// The request is back; goes on with what the worker could not send.
    void take_back();

    // The worker's side.
    void begin(const app::Call& call);
    void respond(const app::Call& call, const app::Answer& answer);

  private:
    void advance();
    void handle();
    void receive();
    void send();
    void shut_down();
    template <class Bytes>
    bool progressed(const error_code& error, Bytes take);
    void finish();

    ConnectorLoop& loop_;
    net::Accepted place_;
    asio::ip::tcp::socket socket_;
    ServerConnection connection_;
    metrics::Phase phase_ = metrics::Phase::queued;
    bool out_ = false;
    /// Whoever sets it first answers: the worker, or the loop when the drain is over.
    std::atomic<bool> answered_ = false;
};

class ConnectorLoop {
  public:
    ConnectorLoop(Context& context, Executor& executor)
        : context_(context), executor_(executor), thread_([this] { run(); }) {}
    ~ConnectorLoop() {
        io_.stop();
        thread_.join();
    }

    void adopt(net::Accepted accepted) {
        asio::post(io_, [this, accepted = std::make_shared<net::Accepted>(std::move(accepted))] {
            const auto session = std::make_shared<ConnectorSession>(*this, std::move(*accepted));
            sessions_.insert(session);
            session->start();
        });
    }
    void drain() {
        asio::post(io_, [this] { sweep(); });
    }
    void abandon() {
        asio::post(io_, [this] {
            for (const auto& session : sessions_) {
                session->abandon();
            }
        });
    }
    /// Any thread: one inbox, one wake-up a batch.
    void hand_back(std::shared_ptr<ConnectorSession> session) {
        bool first;
        {
            const std::lock_guard lock(mutex_);
            first = inbox_.empty();
            inbox_.push_back(std::move(session));
        }
        if (first) {
            asio::post(io_, [this] { take_inbox(); });
        }
    }

    asio::io_context& io() { return io_; }
    Context& context() { return context_; }
    Executor& executor() { return executor_; }
    void forget(const std::shared_ptr<ConnectorSession>& session) { sessions_.erase(session); }

  private:
    void run() {
        schedule_sweep();
        io_.run();
    }
    void schedule_sweep() {
        timer_.expires_after(context_.deadlines.sweep_interval());
        timer_.async_wait([this](const error_code& error) {
            if (!error) {
                sweep();
                schedule_sweep();
            }
        });
    }
    void sweep() {
        const auto now = ServerConnection::Clock::now();
        for (const auto& session : sessions_) {
            session->sweep(now);
        }
    }
    void take_inbox() {
        std::vector<std::shared_ptr<ConnectorSession>> returned;
        {
            const std::lock_guard lock(mutex_);
            returned.swap(inbox_);
        }
        for (const auto& session : returned) {
            session->take_back();
        }
    }

    Context& context_;
    Executor& executor_;
    asio::io_context io_{1};
    asio::steady_timer timer_{io_};
    std::unordered_set<std::shared_ptr<ConnectorSession>> sessions_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<ConnectorSession>> inbox_;
    std::thread thread_;
};

ConnectorSession::ConnectorSession(ConnectorLoop& loop, net::Accepted accepted)
    : loop_(loop), place_(std::move(accepted)), socket_(loop.io()), connection_(loop.context()) {
    socket_.assign(asio::ip::tcp::v4(), place_.release());
    socket_.non_blocking(true);
}

void ConnectorSession::advance() {
    for (;;) {
        switch (connection_.next()) {
            case Step::handle:
                handle();
                if (out_) {
                    return;
                }
                break;
            case Step::receive: return receive();
            case Step::send: return send();
            case Step::shut_down: shut_down(); break;
            case Step::close: return finish();
        }
    }
}

void ConnectorSession::handle() {
    auto dispatched = dispatch(connection_.request(), loop_.context());
    if (auto* immediate = std::get_if<Immediate>(&dispatched)) {
        connection_.answer(immediate->answer, immediate->endpoint);
        return;
    }
    out_ = true;
    answered_ = false;
    phase_ = metrics::Phase::queued;
    loop_.context().metrics.enter(phase_);
    loop_.executor().execute(
        Exchange(shared_from_this(), std::get<app::Call>(std::move(dispatched))));
}

void ConnectorSession::begin(const app::Call& call) {
    loop_.context().metrics.leave(phase_);
    phase_ = phase_of(call);
    loop_.context().metrics.enter(phase_);
}

void ConnectorSession::respond(const app::Call& call, const app::Answer& answer) {
    loop_.context().metrics.leave(phase_);
    if (!answered_.exchange(true)) {
        connection_.answer(answer, app::endpoint_of(call));
        const auto unsent = connection_.unsent();
        const auto bytes = ::send(socket_.native_handle(), unsent.data(), unsent.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (bytes > 0) {
            connection_.sent(static_cast<std::size_t>(bytes));
        }
    }
    loop_.hand_back(shared_from_this());
}

void ConnectorSession::take_back() {
    out_ = false;
    advance();
}

/// Shared by reading and writing: an operation that was woken by the sweep tries once more before
/// it counts as having come to nothing. Returns false when the connection is lost.
template <class Bytes>
bool ConnectorSession::progressed(const error_code& error, Bytes take) {
    if (error == asio::error::operation_aborted) {
        error_code again;
        const std::size_t bytes = take(again);
        if (again == asio::error::would_block) {
            connection_.nothing_came();
            return true;
        }
        return !again || (bytes == 0 && again == asio::error::eof);
    }
    return !error || error == asio::error::eof;
}

void ConnectorSession::receive() {
    socket_.async_read_some(
        connection_.receive_buffer(),
        [this, self = shared_from_this()](const error_code& error, std::size_t bytes) {
            error_code outcome = error;
            const auto retry = [&](error_code& again) {
                bytes = socket_.read_some(connection_.receive_buffer(), again);
                outcome = again;
                return bytes;
            };
            if (!progressed(error, retry)) {
                return finish();
            }
            if (outcome == asio::error::eof) {
                connection_.received_end();
            } else if (bytes > 0) {
                connection_.received(bytes);
            }
            advance();
        });
}

void ConnectorSession::send() {
    socket_.async_write_some(
        asio::buffer(connection_.unsent()),
        [this, self = shared_from_this()](const error_code& error, std::size_t bytes) {
            const auto retry = [&](error_code& again) {
                return bytes = socket_.write_some(asio::buffer(connection_.unsent()), again);
            };
            if (!progressed(error, retry)) {
                return finish();
            }
            if (bytes > 0) {
                connection_.sent(bytes);
            }
            advance();
        });
}

void ConnectorSession::shut_down() {
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    connection_.was_shut_down();
}

void ConnectorSession::sweep(ServerConnection::Instant now) {
    if (!out_ && connection_.deadline() <= now) {
        socket_.cancel();
    }
}

void ConnectorSession::abandon() {
    if (out_ && !answered_.exchange(true)) {
        std::string text;
        append_response(text, app::shutting_down(), {.keep_alive = false});
        (void)!::send(socket_.native_handle(), text.data(), text.size(),
                      MSG_NOSIGNAL | MSG_DONTWAIT);
        ::shutdown(socket_.native_handle(), SHUT_WR);
        loop_.context().metrics.count(app::Endpoint::other, app::shutting_down().status, {});
    }
}

void ConnectorSession::finish() {
    error_code ignored;
    socket_.close(ignored);
    loop_.forget(shared_from_this());
}

Exchange::Exchange(std::shared_ptr<ConnectorSession> session, app::Call call)
    : session_(std::move(session)), call_(std::move(call)) {}
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
Exchange::~Exchange() = default;

void Exchange::begin() { session_->begin(call_); }

void Exchange::respond(const app::Answer& answer) {
    session_->respond(call_, answer);
    session_.reset();
}

Connector::Connector(Context& context, Executor& executor, unsigned threads) {
    for (unsigned n = 0; n < threads; ++n) {
        loops_.push_back(std::make_unique<ConnectorLoop>(context, executor));
    }
}

Connector::~Connector() = default;

void Connector::adopt(net::Accepted connection) {
    loops_[next_loop_++ % loops_.size()]->adopt(std::move(connection));
}

void Connector::drain() {
    for (const auto& loop : loops_) {
        loop->drain();
    }
}

void Connector::abandon() {
    for (const auto& loop : loops_) {
        loop->abandon();
    }
}

}  // namespace common::http
