#include "common/http/server_connection.hpp"

#include <algorithm>
#include <boost/beast/http/error.hpp>

#include "common/http/response_head.hpp"

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

ServerConnection::ServerConnection(Context& context)
    : context_(context), in_(kBufferBytes), now_(Clock::now()) {
    enter(Phase::idle, context_.deadlines.idle);
}

void ServerConnection::enter(Phase phase, std::chrono::milliseconds limit) {
    phase_ = phase;
    deadline_ = now_ + limit;
}

ServerConnection::Instant ServerConnection::deadline() const {
    const bool idle = phase_ == Phase::idle && out_.empty();
    return idle && context_.draining ? Instant::min() : deadline_;
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
        in_.consume(2);
    }
}

Step ServerConnection::parse() {
    if (phase_ == Phase::idle) {
        skip_empty_lines();
        if (in_.size() == 0) {
            return ended_ ? Step::close : Step::receive;
        }
        parser_.emplace();
        enter(Phase::header, context_.deadlines.header);
    }
    boost::system::error_code error;
    if (in_.size() > 0) {
        in_.consume(parser_->put(in_.cdata(), error));
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
        refuse(app::error(408, "the request did not come in time"));
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

void ServerConnection::answer(const app::Answer& answer, app::Endpoint endpoint) {
    now_ = Clock::now();
    // A draining server still answers what this connection has sent behind this request.
    keep_alive_ = parser_->keep_alive() && !(context_.draining && in_.size() == 0);
    context_.metrics.count(endpoint, answer.status, now_ - request_complete_);
    append_response(out_, answer,
                    {.keep_alive = keep_alive_,
                     .http_1_0 = parser_->http_1_0(),
                     .head_only = parser_->head_only()});
    deadline_ = now_ + context_.deadlines.write;
}

void ServerConnection::sent(std::size_t bytes) {
    sent_bytes_ += bytes;
    if (sent_bytes_ < out_.size()) {
        return;
    }
    out_.clear();
    sent_bytes_ = 0;
    if (phase_ != Phase::handling) {
        return;  // that was 100 Continue
    }
    if (keep_alive_) {
        enter(Phase::idle, context_.deadlines.idle);
    } else {
        enter(ended_ ? Phase::closed : Phase::lingering, limits::kLingerTimeout);
    }
}

void ServerConnection::was_shut_down() {
    shut_down_ = true;
    in_.clear();
}

}  // namespace common::http
