#include "stackful/session.hpp"

#include <boost/asio/error.hpp>

#include "common/http/dispatch.hpp"
#include "common/net/control.hpp"

namespace stackful {

using namespace common;
namespace errors = boost::asio::error;
using boost::system::error_code;
using http::Step;

namespace {

/// Whether the wait has ended for our reasons and not for the connection's.
bool was_ended_early(const error_code& error) {
    return error == errors::timed_out || error == errors::interrupted ||
           error == errors::operation_aborted;
}

/// Where the kernel takes no more sockets into epoll the client is told so, and the stream stays
/// closed.
runtime::Stream adopted(net::Accepted& accepted, http::Context& context) {
    runtime::Stream stream(accepted.get());
    const int socket = accepted.release();
    if (!stream.is_open()) {
        net::refuse(net::Descriptor(socket), context, net::kNotWatched);
    }
    return stream;
}

}  // namespace

Session::Session(Service& service, net::Accepted accepted)
    : service_(service),
      place_(std::move(accepted)),
      stream_(adopted(place_, service.context())),
      connection_(service.context(), stream_.socket()) {}

// [session]
void Session::run() {
    bool alive = stream_.is_open();
    while (alive) {
        switch (connection_.next()) {
            case Step::receive:
                alive = receive();
                break;
            case Step::handle:
                handle();
                break;
            case Step::send:
                alive = send();
                break;
            case Step::shut_down:
                stream_.shut_down();
                connection_.was_shut_down();
                break;
            case Step::close:
                alive = false;
                break;
        }
    }
}

bool Session::receive() {
    stream_.expires_at(connection_.deadline());
    const auto buffer = connection_.receive_buffer();
    iovec vector{buffer.data(), buffer.size()};
    error_code error;
    const std::size_t bytes = stream_.read(&vector, 1, error);
    if (!error) {
        connection_.received(bytes);
    } else if (error == errors::eof) {
        connection_.received_end();
    } else if (was_ended_early(error)) {
        connection_.nothing_came();
    } else {
        return false;
    }
    return true;
}

void Session::handle() {
    auto dispatched = http::dispatch(connection_.request(), service_.context());
    if (const auto* immediate = std::get_if<http::Immediate>(&dispatched)) {
        connection_.answer(immediate->answer, immediate->endpoint);
        return;
    }
    const auto& call = std::get<app::Call>(dispatched);
    const metrics::InPhase in_phase(service_.context().metrics, http::phase_of(call));
    connection_.answer(service_.answer(call), app::endpoint_of(call));
}
// [/session]

bool Session::send() {
    stream_.expires_at(connection_.deadline());
    const std::string_view unsent = connection_.unsent();
    iovec vector{const_cast<char*>(unsent.data()), unsent.size()};
    error_code error;
    const std::size_t bytes = stream_.write(&vector, 1, error);
    if (!error) {
        connection_.sent(bytes);
    } else if (was_ended_early(error)) {
        connection_.nothing_came();
    } else {
        return false;
    }
    return true;
}

}  // namespace stackful
