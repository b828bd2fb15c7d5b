#include "stackless/session.hpp"

#include "common/http/adopt_socket.hpp"
#include "common/http/dispatch.hpp"
#include "common/http/server_connection.hpp"

namespace stackless {
namespace {

using namespace common;
using http::Step;

constexpr unsigned kSendsPerTurn = 16;

Socket adopted(Place& place, net::Accepted& accepted) {
    Socket socket(place.loop.executor());
    http::adopt_socket(socket, accepted, place.loop.context());
    return socket;
}

class Session final : public Expiring {
  public:
    Session(net::Accepted accepted, Place& place)
        : place_(place),
          accepted_(std::move(accepted)),
          socket_(adopted(place, accepted_)),
          connection_(place.loop.context(), socket_.native_handle()) {
        place.loop.watch(*this);
    }

    Awaitable<> run();

    Instant deadline() const override { return connection_.deadline(); }
    void cancel() override {
        error_code ignored;
        socket_.cancel(ignored);
    }

  private:
    Awaitable<> handle(app::Call call);
    Awaitable<error_code> receive();
    error_code send_now();
    Awaitable<error_code> send_later();

    Place& place_;
    net::Accepted accepted_;
    Socket socket_;
    http::ServerConnection connection_;
    unsigned sends_in_turn_ = 0;  ///< Since this coroutine last waited.
};

// [session]
Awaitable<> Session::run() {
    error_code error;
    while (!error) {
        switch (connection_.next()) {
            case Step::handle: {
                auto dispatched = http::dispatch(connection_.request(), place_.loop.context());
                if (auto* immediate = std::get_if<http::Immediate>(&dispatched)) {
                    connection_.answer(immediate->answer, immediate->endpoint);
                } else {
                    co_await handle(std::get<app::Call>(std::move(dispatched)));
                }
                break;
            }
            case Step::receive:
                error = co_await receive();
                break;
            case Step::send:
                error = send_now();  // nearly every answer leaves without a wait
                if (error == asio::error::would_block) {
                    error = co_await send_later();
                }
                break;
            case Step::shut_down:
                socket_.shutdown(Socket::shutdown_send, error);
                connection_.was_shut_down();
                break;
            case Step::close:
                co_return;
        }
    }
}
// [/session]

Awaitable<> Session::handle(app::Call call) {
    const metrics::InPhase in_phase(place_.loop.context().metrics, http::phase_of(call));
    const app::Endpoint endpoint = app::endpoint_of(call);
    app::Answer answer;
    try {
        answer = co_await stackless::handle(std::move(call), place_);
    } catch (const std::exception& error) {
        answer = http::answer_to_failure(error);
    }
    connection_.answer(answer, endpoint);
}

/// An error means that the connection is lost; the end of the stream is none.
Awaitable<error_code> Session::receive() {
    sends_in_turn_ = 0;
    auto [error, bytes] =
        co_await socket_.async_read_some(connection_.receive_buffer(), kErrorAsValue);
    if (error == asio::error::operation_aborted) {
        bytes = socket_.read_some(connection_.receive_buffer(), error);
        if (error == asio::error::would_block) {
            connection_.nothing_came();
            co_return error_code();
        }
    }
    if (error == asio::error::eof) {
        connection_.received_end();
        co_return error_code();
    }
    if (!error) {
        connection_.received(bytes);
    }
    co_return error;
}

/// After a while without a wait it asks for one: a client that has sent hundreds of requests at
/// once must not keep this loop from all others.
error_code Session::send_now() {
    error_code error;
    if (++sends_in_turn_ > kSendsPerTurn) {
        sends_in_turn_ = 0;
        return asio::error::would_block;
    }
    connection_.sent(socket_.write_some(asio::buffer(connection_.unsent()), error));
    return error;
}

/// Waits until the socket takes more, or the sweep says that this lasts too long.
Awaitable<error_code> Session::send_later() {
    const auto [cancelled] = co_await socket_.async_wait(Socket::wait_write, kErrorAsValue);
    error_code error = asio::error::would_block;
    if (!cancelled || net::is_writable(socket_.native_handle())) {
        error = send_now();
    }
    if (error == asio::error::would_block) {
        connection_.nothing_came();
        error = {};
    }
    co_return error;
}

}  // namespace

Awaitable<> serve(net::Accepted accepted, Place& place) {
    Session session(std::move(accepted), place);
    co_await session.run();
}

}  // namespace stackless
