#include "common/http/session_loop.hpp"

#include <boost/asio/post.hpp>

#include "common/http/adopt_socket.hpp"

namespace common::http {

namespace asio = boost::asio;
using boost::system::error_code;

namespace {

asio::ip::tcp::socket adopted(SessionLoop& loop, net::Accepted& accepted) {
    asio::ip::tcp::socket socket(loop.io());
    adopt_socket(socket, accepted, loop.context());
    return socket;
}

}  // namespace

AsyncSession::AsyncSession(SessionLoop& loop, net::Accepted accepted)
    : loop_(loop),
      place_(std::move(accepted)),
      socket_(adopted(loop, place_)),
      connection_(loop.context(), socket_.native_handle()) {}

void AsyncSession::advance() {
    while (!held_) {
        switch (connection_.next()) {
            case Step::handle:
                handle();
                break;
            case Step::receive:
                return receive();
            case Step::send:
                return send();
            case Step::shut_down:
                shut_down();
                break;
            case Step::close:
                return finish();
        }
    }
}

// An operation that the sweep has cancelled tries the socket once more, so that a loop which was
// away for a while fails nobody whose bytes are there already.

void AsyncSession::receive() {
    socket_.async_read_some(connection_.receive_buffer(),
                            [this, self = shared_from_this()](error_code error, std::size_t bytes) {
                                if (error == asio::error::operation_aborted && socket_.is_open()) {
                                    bytes = socket_.read_some(connection_.receive_buffer(), error);
                                }
                                if (!error) {
                                    connection_.received(bytes);
                                } else if (error == asio::error::eof) {
                                    connection_.received_end();
                                } else if (error == asio::error::would_block) {
                                    connection_.nothing_came();
                                } else {
                                    return finish();
                                }
                                advance();
                            });
}

void AsyncSession::send() {
    socket_.async_write_some(
        asio::buffer(connection_.unsent()),
        [this, self = shared_from_this()](error_code error, std::size_t bytes) {
            if (error == asio::error::operation_aborted && socket_.is_open()) {
                error = asio::error::would_block;
                if (net::is_writable(socket_.native_handle())) {
                    bytes = socket_.write_some(asio::buffer(connection_.unsent()), error);
                }
            }
            if (!error) {
                connection_.sent(bytes);
            } else if (error == asio::error::would_block) {
                connection_.nothing_came();
            } else {
                return finish();
            }
            advance();
        });
}

void AsyncSession::shut_down() {
    error_code ignored;
    socket_.shutdown(asio::ip::tcp::socket::shutdown_send, ignored);
    connection_.was_shut_down();
}

void AsyncSession::sweep(ServerConnection::Instant now) {
    if (!held_ && connection_.deadline() <= now) {
        error_code ignored;
        socket_.cancel(ignored);
    }
}

void AsyncSession::finish() {
    error_code ignored;
    socket_.close(ignored);
    loop_.forget(shared_from_this());
}

SessionLoop::SessionLoop(Context& context, MakeSession make_session)
    : context_(context), make_session_(std::move(make_session)) {
    schedule_sweep();
    thread_ = std::thread([this] { io_.run(); });
}

SessionLoop::~SessionLoop() {
    stop();
}

void SessionLoop::stop() {
    io_.stop();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void SessionLoop::adopt(net::Accepted accepted) {
    asio::post(io_, [this, accepted = std::move(accepted)]() mutable {
        const auto session = make_session_(*this, std::move(accepted));
        sessions_.insert(session);
        session->advance();
    });
}

void SessionLoop::drain() {
    asio::post(io_, [this] { sweep(); });
}

void SessionLoop::abandon() {
    asio::post(io_, [this] {
        sweep();
        for (const auto& session : std::vector(sessions_.begin(), sessions_.end())) {
            session->abandon();
        }
    });
}

void SessionLoop::schedule_sweep() {
    timer_.expires_after(context_.deadlines.sweep_interval());
    timer_.async_wait([this](const error_code& error) {
        if (!error) {
            sweep();
            schedule_sweep();
        }
    });
}

void SessionLoop::sweep() {
    const auto now = ServerConnection::Clock::now();
    for (const auto& session : sessions_) {
        session->sweep(now);
    }
}

}  // namespace common::http
