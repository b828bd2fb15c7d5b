#include "common/http/response_head.hpp"

#include <array>
#include <boost/beast/http/status.hpp>
#include <charconv>
#include <ctime>

namespace common::http {
namespace {

/// `Date: …\r\n`, made anew once a second. The cache is this thread's; nothing waits in between.
std::string_view date_field() {
    thread_local std::time_t second = 0;
    thread_local std::string field;
    const std::time_t now = std::time(nullptr);
    if (now != second) {
        std::tm utc{};
        gmtime_r(&now, &utc);
        std::array<char, 64> text{};
        const std::size_t bytes =
            std::strftime(text.data(), text.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
        field.assign(text.data(), bytes);
        second = now;
    }
    return field;
}

void append_number(std::string& out, std::size_t number) {
    std::array<char, 20> digits;
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number).ptr;
    out.append(digits.data(), end);
}

}  // namespace

void append_response(std::string& out, const app::Answer& answer, const Framing& framing) {
    constexpr std::size_t kHeadBytes = 256;
    out.reserve(out.size() + kHeadBytes + answer.body.size());
    const auto status = static_cast<unsigned>(answer.status);
    const auto reason =
        boost::beast::http::obsolete_reason(boost::beast::http::int_to_status(status));
    out += "HTTP/1.1 ";
    append_number(out, status);
    out += ' ';
    out.append(reason.data(), reason.size());
    out += "\r\n";
    out += date_field();
    out += "Content-Type: ";
    out += answer.content_type;
    out += "\r\nContent-Length: ";
    append_number(out, answer.body.size());
    if (!answer.allow.empty()) {
        out += "\r\nAllow: ";
        out += answer.allow;
    }
    if (!framing.keep_alive) {
        out += "\r\nConnection: close";
    } else if (framing.http_1_0) {
        out += "\r\nConnection: keep-alive";
    }
    out += "\r\n\r\n";
    if (!framing.head_only) {
        out += answer.body;
    }
}

}  // namespace common::http
