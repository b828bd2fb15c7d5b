#include "common/http/request_parser.hpp"

#include <algorithm>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/url/authority_view.hpp>
#include <boost/url/parse.hpp>

#include "common/limits.hpp"

namespace common::http {

namespace beast_http = boost::beast::http;

namespace {

/// RFC 9110, 7.2: uri-host [ ":" port ].
bool is_host(boost::beast::string_view value) {
    const auto authority = boost::urls::parse_authority({value.data(), value.size()});
    return authority && !authority->has_userinfo();
}

}  // namespace

RequestParser::RequestParser() {
    header_limit(limits::kHeaderBytes);
    body_limit(limits::kBodyBytes);
    eager(true);
}

std::size_t RequestParser::take(boost::asio::const_buffer bytes, error_code& error) {
    const std::size_t used = put_within_limits(bytes, error);
    if (used > 0) {
        looked_at_bytes_ = 0;
    }
    if (error == beast_http::error::need_more) {
        const auto unused = bytes + used;
        if (has_bare_line_feed({static_cast<const char*>(unused.data()), unused.size()})) {
            refuse(400, "a line of the request ends with LF alone", error);
        }
    }
    return used;
}

/// What was not used is the beginning of the header, or of a line of a chunked body.
bool RequestParser::has_bare_line_feed(std::string_view unused) {
    for (auto at = unused.find('\n', looked_at_bytes_); at != unused.npos;
         at = unused.find('\n', at + 1)) {
        if (at == 0 || unused[at - 1] != '\r') {
            return true;
        }
    }
    looked_at_bytes_ = unused.size();
    return false;
}

std::size_t RequestParser::put_within_limits(boost::asio::const_buffer bytes, error_code& error) {
    if (is_header_done()) {
        return put_body(bytes, error);
    }
    const std::size_t room = limits::kHeaderBytes - header_bytes_;
    const std::size_t given = std::min(room, bytes.size());
    std::size_t used = put(boost::asio::buffer(bytes, given), error);
    header_bytes_ += used;  // and some of the body, once the header is done and this is not read
    const bool needs_more = !error || error == beast_http::error::need_more;
    if (!is_header_done()) {
        if (given == room && needs_more) {
            error = beast_http::error::header_limit;
        }
    } else if (needs_more && !is_done() && used < bytes.size()) {
        error = {};
        used += put_body(bytes + used, error);
    }
    return used;
}

/// A chunked body that has not ended lacks five bytes at least. Beast asserts that it gets them,
/// but only where a last chunk without its trailer came before.
std::size_t RequestParser::put_body(boost::asio::const_buffer bytes, error_code& error) {
    constexpr std::string_view kShortestEnd = "0\r\n\r\n";
    if (chunked() && bytes.size() < kShortestEnd.size()) {
        error = beast_http::error::need_more;
        return 0;
    }
    return put(bytes, error);
}

void RequestParser::refuse(int status, std::string_view text, error_code& error) {
    refusal_ = app::error(status, text);
    error = beast_http::error::bad_value;  // any error stops the parser
}

app::Answer RequestParser::refusal(const boost::system::error_code& error) const {
    using enum beast_http::error;
    if (refusal_) {
        return *refusal_;
    }
    if (error == header_limit) {
        return app::error(431, "the request header is longer than 16 KiB");
    }
    if (error == body_limit) {
        return app::error(413, "the request body is longer than 64 KiB");
    }
    if (error == bad_version) {  // also what follows a stray space or a bare CR
        return app::error(400, "the request line does not end with HTTP/1.0 or HTTP/1.1");
    }
    if (error == bad_content_length || error == multiple_content_length ||
        error == bad_transfer_encoding) {
        return app::error(400, "the length of the request is ambiguous or malformed");
    }
    if (error == bad_chunk || error == bad_chunk_extension) {
        return app::error(400, "a chunk of the request body is malformed");
    }
    if (error == partial_message) {
        return app::error(400, "the request ends before it is complete");
    }
    return app::error(400, "the request is malformed");
}

void RequestParser::on_request_impl(beast_http::verb, string_view method, string_view target,
                                    int version, error_code&) {
    method_ = method;
    target_ = target;
    version_ = version;
}

void RequestParser::check_transfer_encoding(string_view value, error_code& error) {
    // Any other coding, or chunked twice, would leave the end of the body to guesswork.
    if (++transfer_encodings_ > 1 || !boost::beast::iequals(value, "chunked")) {
        refuse(501, "the only transfer coding here is chunked, once", error);
    } else if (http_1_0()) {
        refuse(400, "HTTP/1.0 has no transfer codings", error);
    }
}

void RequestParser::on_field_impl(beast_http::field name, string_view, string_view value,
                                  error_code& error) {
    if (in_trailer_) {
        return;  // RFC 9110, 6.5: trailer fields must not change how the message is understood
    }
    switch (name) {
        case beast_http::field::host:
            if (++hosts_ > 1) {
                refuse(400, "field Host is repeated", error);
            } else if (!is_host(value)) {
                refuse(400, "field Host is not a host with an optional port", error);
            }
            break;
        case beast_http::field::transfer_encoding:
            check_transfer_encoding(value, error);
            break;
        case beast_http::field::expect:
            if (!boost::beast::iequals(value, "100-continue")) {
                refuse(417, "the only expectation met here is 100-continue", error);
            }
            expects_continue_ = !http_1_0();
            break;
        default:
            break;
    }
}

void RequestParser::on_header_impl(error_code& error) {
    in_trailer_ = true;
    if (hosts_ == 0 && !http_1_0()) {
        refuse(400, "field Host is missing", error);
    }
}

std::size_t RequestParser::on_body_impl(string_view bytes, error_code&) {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
}

std::size_t RequestParser::on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) {
    return on_body_impl(bytes, error);
}

}  // namespace common::http
