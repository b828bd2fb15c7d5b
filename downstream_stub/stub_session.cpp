#include "downstream_stub/stub_session.hpp"

#include <sys/socket.h>

#include <algorithm>

#include "common/http/response_head.hpp"

namespace downstream_stub {

using namespace common;

namespace {

/// A stalled request ends after this in any case.
constexpr std::chrono::seconds kStallTimeout{120};
constexpr std::string_view kBodyHead = R"({"downstream":"stub","data":")";
constexpr std::string_view kBodyTail = R"("})";

/// JSON of exactly that many bytes, as far as the frame allows.
std::string body_of(std::size_t bytes) {
    const std::size_t frame_bytes = kBodyHead.size() + kBodyTail.size();
    std::string body(kBodyHead);
    body.append(bytes > frame_bytes ? bytes - frame_bytes : 0, 'x');
    return body.append(kBodyTail);
}

app::Answer not_found() {
    return app::error(404, "there is nothing at this path");
}

}  // namespace

Stub::Stub(const StubOptions& stub_options, boost::asio::io_context& io)
    : options(stub_options), answer{.body = body_of(options.body_bytes)}, delayed(io) {}

Fault Stub::draw_fault() {
    if (options.faults.empty()) {
        return Fault::none;
    }
    // One draw for all, so that each has the share that was asked for.
    double drawn = std::uniform_real_distribution<double>()(random);
    for (const auto& [fault, rate] : options.faults) {
        if (drawn < rate) {
            return fault;
        }
        drawn -= rate;
    }
    return Fault::none;
}

std::chrono::nanoseconds Stub::draw_delay() {
    if (options.jitter.count() == 0) {
        return options.delay;
    }
    const std::chrono::nanoseconds most = options.jitter;
    std::uniform_int_distribution<std::int64_t> distribution(0, most.count());
    return options.delay + std::chrono::nanoseconds(distribution(random));
}

void StubSession::handle() {
    constexpr std::string_view kFaultTarget = "/?fault=";
    const app::Request request = connection().request();
    if (request.method != "GET" && request.method != "HEAD") {
        app::Answer refused = app::error(405, "this method is not allowed here");
        refused.allow = "GET, HEAD";
        return connection().answer(refused, app::Endpoint::other);
    }
    if (request.target == "/") {
        return delay_answer(stub_.draw_fault());
    }
    if (request.target.starts_with(kFaultTarget)) {
        const auto fault = parse_fault(request.target.substr(kFaultTarget.size()));
        if (!fault) {
            return connection().answer(
                app::error(400, "fault must be reset, stall, truncate, garbage, 500 or close"),
                app::Endpoint::other);
        }
        return delay_answer(*fault);
    }
    if (request.target == "/health") {
        return connection().answer(app::healthy("downstream_stub"), app::Endpoint::health);
    }
    if (request.target == "/metrics") {
        return connection().answer(
            {.content_type = "text/plain; version=0.0.4", .body = loop().context().metrics.text()},
            app::Endpoint::metrics);
    }
    connection().answer(not_found(), app::Endpoint::other);
}

void StubSession::delay_answer(Fault fault) {
    fault_ = fault;
    hold();
    stub_.delayed.add(std::static_pointer_cast<StubSession>(shared_from_this()),
                      fault == Fault::stall ? kStallTimeout : stub_.draw_delay());
}

void StubSession::answer() {
    if (!socket().is_open()) {
        return;  // the drain has ended it
    }
    switch (fault_) {
        case Fault::none:
            connection().answer(stub_.answer, app::Endpoint::downstream);
            break;
        case Fault::error_500:
            connection().answer(app::error(500, "a planted fault"), app::Endpoint::downstream);
            break;
        case Fault::reset:
            return close_unanswered(true);
        case Fault::stall:
        case Fault::close:
            return close_unanswered(false);
        case Fault::garbage:
            send_raw("these bytes are no HTTP response\r\n\r\n");
            return close_unanswered(false);
        case Fault::truncate: {
            std::string text;
            http::append_response(text, stub_.answer, {});
            send_raw(std::string_view(text).substr(0, text.size() - stub_.answer.body.size() / 2));
            return close_unanswered(false);
        }
    }
    release();
}

void StubSession::send_raw(std::string_view bytes) {
    (void)!::send(socket().native_handle(), bytes.data(), bytes.size(),
                  MSG_NOSIGNAL | MSG_DONTWAIT);
}

void StubSession::close_unanswered(bool reset) {
    loop().context().metrics.count(app::Endpoint::downstream, 500, {});
    if (reset) {
        boost::system::error_code ignored;
        socket().set_option(boost::asio::socket_base::linger(true, 0), ignored);
    }
    finish();
}

}  // namespace downstream_stub
