#include "common/http/server_connection.hpp"

#include <algorithm>
#include <boost/beast/http/error.hpp>

#include "common/http/response_head.hpp"
#include "common/net/socket.hpp"

namespace common::http {
namespace {

using boost::beast::http::error;
constexpr std::size_t kBufferBytes = limits::kHeaderBytes + limits::kReceiveBytes;
constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";

}  // namespace

std::chrono::milliseconds Deadlines::sweep_interval() const {
    const auto tenth = std::min({header, body, idle, write, downstream}) / 10;
    return std::clamp(tenth, std::chrono::milliseconds(1), limits::kSweepInterval);
}

ServerConnection::ServerConnection(Context& context, int socket)
    : context_(context), socket_(socket), in_(kBufferBytes), now_(Clock::now()) {
    enter(Phase::idle, context_.deadlines.idle);
}

ServerConnection::~ServerConnection() {
    if (counted_as_lingering_) {
        --context_.lingering;
    }
}

void ServerConnection::enter(Phase phase, std::chrono::milliseconds limit) {
    phase_ = phase;
    deadline_ = now_ + limit;
}

ServerConnection::Instant ServerConnection::deadline() const {
    const bool idle = phase_ == Phase::idle && out_.empty();
    return context_.abandoned || (idle && context_.draining) ? Instant::min() : deadline_;
}

Step ServerConnection::next() {
    if (!out_.empty()) {
        return Step::send;
    }
    switch (phase_) {
        case Phase::handling:
            return Step::handle;
        case Phase::lingering:
            return shut_down_ ? Step::receive : Step::shut_down;
        case Phase::closed:
            return Step::close;
        default:
            return parse();
    }
}

/// RFC 9112, 2.2: empty lines before a request line are skipped.
void ServerConnection::skip_empty_lines() {
    std::string_view bytes(static_cast<const char*>(in_.cdata().data()), in_.size());
    while (bytes.starts_with("\r\n")) {
        bytes.remove_prefix(2);
        consume(2);
    }
}

void ServerConnection::consume(std::size_t bytes) {
    in_.consume(bytes);
    consumed_bytes_ += bytes;
}

/// Whether the connection is kept after the answer that is being given. While the server drains it
/// is kept only for what it had received, here or in its socket, when the drain was first seen.
bool ServerConnection::goes_on() {
    if (!parser_->keep_alive() || !context_.draining) {
        return parser_->keep_alive();
    }
    if (!drain_ends_at_) {
        drain_ends_at_ = consumed_bytes_ + in_.size() + net::unread_bytes(socket_);
    }
    return consumed_bytes_ < *drain_ends_at_;
}

Step ServerConnection::parse() {
    if (phase_ == Phase::idle) {
        skip_empty_lines();
        const bool half_a_line =
            in_.size() == 1 && *static_cast<const char*>(in_.cdata().data()) == '\r';
        if (in_.size() == 0 || (half_a_line && !ended_)) {
            return ended_ ? Step::close : Step::receive;
        }
        parser_.emplace();
        enter(Phase::header, context_.deadlines.header);
    }
    boost::system::error_code error;
    if (in_.size() > 0) {
        consume(parser_->take(in_.cdata(), error));
    }
    if (parser_->is_done() && !error) {
        phase_ = Phase::handling;
        deadline_ = Instant::max();
        request_complete_ = now_;
        return Step::handle;
    }
    if (error && error != error::need_more) {
        refuse(parser_->refusal(error));
        return Step::send;
    }
    if (ended_) {
        refuse(parser_->refusal(error::partial_message));
        return Step::send;
    }
    if (in_.size() == in_.max_size()) {  // only a chunk header can be that long
        refuse(parser_->refusal(error::bad_chunk));
        return Step::send;
    }
    if (parser_->is_header_done() && phase_ == Phase::header) {
        enter(Phase::body, context_.deadlines.body);
        if (parser_->expects_continue() && in_.size() == 0) {
            out_ = kContinue;
            return Step::send;
        }
    }
    return Step::receive;
}

boost::asio::mutable_buffer ServerConnection::receive_buffer() {
    return in_.prepare(std::min(limits::kReceiveBytes, in_.max_size() - in_.size()));
}

void ServerConnection::received(std::size_t bytes) {
    now_ = Clock::now();
    in_.commit(bytes);
    if (phase_ == Phase::lingering) {
        discarded_bytes_ += bytes;
        in_.clear();
        if (discarded_bytes_ >= limits::kLingerBytes) {
            phase_ = Phase::closed;
        }
    }
}

void ServerConnection::received_end() {
    ended_ = true;
    if (phase_ == Phase::lingering) {
        phase_ = Phase::closed;
    }
}

void ServerConnection::nothing_came() {
    if (Clock::now() < deadline()) {
        return;
    }
    if (out_.empty() && (phase_ == Phase::header || phase_ == Phase::body)) {
        refuse(context_.abandoned ? app::shutting_down()
                                  : app::error(408, "the request did not come in time"));
        return;
    }
    out_.clear();
    phase_ = Phase::closed;
}

void ServerConnection::refuse(const app::Answer& answer) {
    now_ = Clock::now();
    keep_alive_ = false;
    context_.metrics.count(app::Endpoint::other, answer.status, {});
    append_response(out_, answer, {.keep_alive = false, .head_only = parser_->head_only()});
    enter(Phase::handling, context_.deadlines.write);
}

void ServerConnection::answer(const app::Answer& found, app::Endpoint endpoint) {
    // When the drain is over every wait ends early, so what came of it is no answer.
    const app::Answer& answer = context_.abandoned ? app::shutting_down() : found;
    now_ = Clock::now();
    keep_alive_ = goes_on() && !context_.abandoned;
    context_.metrics.count(endpoint, answer.status, now_ - request_complete_);
    append_response(out_, answer,
                    {.keep_alive = keep_alive_,
                     .http_1_0 = parser_->http_1_0(),
                     .head_only = parser_->head_only()});
    deadline_ = now_ + context_.deadlines.write;
}

void ServerConnection::sent(std::size_t bytes) {
    const bool at_once = bytes == out_.size();
    sent_bytes_ += bytes;
    if (sent_bytes_ < out_.size()) {
        return;
    }
    out_.clear();
    sent_bytes_ = 0;
    if (phase_ != Phase::handling) {
        return;  // that was 100 Continue
    }
    if (!at_once) {
        now_ = Clock::now();  // else it is the instant of the answer, and good enough
    }
    if (keep_alive_) {
        enter(Phase::idle, context_.deadlines.idle);
        return;
    }
    enter(ended_ ? Phase::closed : Phase::lingering, limits::kLingerTimeout);
    counted_as_lingering_ = true;
    ++context_.lingering;
}

void ServerConnection::was_shut_down() {
    shut_down_ = true;
    in_.clear();
}

}  // namespace common::http
