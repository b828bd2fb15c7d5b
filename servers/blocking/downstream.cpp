#include "blocking/downstream.hpp"

#include <boost/asio/write.hpp>
#include <boost/beast/http/read.hpp>

#include "common/http/response_parser.hpp"
#include "common/limits.hpp"

namespace blocking {

namespace asio = boost::asio;
namespace http = common::http;
using boost::system::error_code;

Downstream::Downstream(asio::ip::tcp::endpoint endpoint, std::chrono::milliseconds timeout)
    : endpoint_(endpoint), timeout_(timeout), request_(http::downstream_request(endpoint)) {}

// [downstream]
common::app::DownstreamResult Downstream::get() {
    const auto deadline = waiting::Clock::now() + timeout_;
    waiting::TcpStream stream = take_idle();
    const bool kept = stream.is_open();
    for (bool retried = false;; retried = true) {
        stream.expires_at(deadline);
        Exchange outcome;
        if (!stream.is_open()) {
            stream.connect(endpoint_, outcome.error);
        }
        if (!outcome.error) {
            outcome = exchange(std::move(stream));
        }
        if (!outcome.error) {
            return std::move(outcome.result);
        }
        if (retried || !http::may_retry(outcome.error, kept, outcome.received_bytes)) {
            return http::failure_of(outcome.error);
        }
        stream = waiting::TcpStream();
    }
}

Downstream::Exchange Downstream::exchange(waiting::TcpStream stream) {
    Exchange outcome;
    asio::write(stream, asio::buffer(request_), outcome.error);
    if (outcome.error) {
        return outcome;
    }
    boost::beast::flat_buffer buffer(common::limits::kDownstreamHeaderBytes +
                                     common::limits::kReceiveBytes);
    http::ResponseParser parser;
    outcome.received_bytes = boost::beast::http::read(stream, buffer, parser, outcome.error);
    outcome.received_bytes += buffer.size();
    if (!outcome.error) {
        if (parser.may_be_kept() && buffer.size() == 0) {
            keep(std::move(stream));
        }
        outcome.result = std::move(parser).result();
    }
    return outcome;
}
// [/downstream]

waiting::TcpStream Downstream::take_idle() {
    for (;;) {
        waiting::TcpStream stream;
        {
            const std::lock_guard lock(mutex_);
            if (idle_.empty()) {
                return stream;
            }
            stream = std::move(idle_.back());
            idle_.pop_back();
        }
        if (stream.is_quiet()) {
            return stream;
        }
    }
}

void Downstream::keep(waiting::TcpStream stream) {
    const std::lock_guard lock(mutex_);
    if (idle_.size() < common::limits::kIdleDownstreamConnections) {
        idle_.push_back(std::move(stream));
    }
}

}  // namespace blocking
