#include <gtest/gtest.h>

#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include "common/http/response_head.hpp"
#include "common/http/response_parser.hpp"
#include "common/limits.hpp"

namespace beast_http = boost::beast::http;
using namespace common;

namespace {

using Response = beast_http::response<beast_http::string_body>;

/// Reads a response with Beast's own parser, which stands for every client.
Response parsed(const std::string& bytes, bool head_only = false) {
    beast_http::response_parser<beast_http::string_body> parser;
    parser.skip(head_only);
    parser.eager(true);
    boost::system::error_code error;
    const auto used = parser.put(boost::asio::buffer(bytes), error);
    EXPECT_FALSE(error) << error.message();
    EXPECT_EQ(used, bytes.size());
    EXPECT_TRUE(parser.is_done());
    return parser.release();
}

app::DownstreamResult downstream_result(std::string_view bytes) {
    common::http::ResponseParser parser;
    parser.eager(true);
    boost::system::error_code error;
    parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
    if (!error && !parser.is_done()) {
        parser.put_eof(error);
    }
    if (error) {
        return common::http::failure_of(error);
    }
    return std::move(parser).result();
}

app::DownstreamFailure failure_in(std::string_view bytes) {
    return std::get<app::DownstreamFailure>(downstream_result(bytes));
}

}  // namespace

TEST(ResponseHead, IsWhatBeastUnderstands) {
    for (const int status : {200, 400, 404, 405, 408, 413, 417, 431, 500, 501, 502, 503, 504}) {
        std::string bytes;
        const app::Answer answer{.status = status, .body = "{\"a\":1}"};
        common::http::append_response(bytes, answer, {});
        const auto response = parsed(bytes);
        EXPECT_EQ(response.result_int(), static_cast<unsigned>(status));
        EXPECT_EQ(response.reason(),
                  beast_http::obsolete_reason(beast_http::int_to_status(status)));
        EXPECT_EQ(response.version(), 11u);
        EXPECT_EQ(response[beast_http::field::content_type], "application/json");
        EXPECT_EQ(response.body(), answer.body);
        EXPECT_TRUE(response.keep_alive());
        EXPECT_EQ(response.count(beast_http::field::date), 1u);
        EXPECT_EQ(response.count(beast_http::field::allow), 0u);
    }
}

TEST(ResponseHead, SaysWhetherTheConnectionIsKept) {
    const app::Answer answer{.body = "x"};
    std::string closing;
    common::http::append_response(closing, answer, {.keep_alive = false});
    EXPECT_FALSE(parsed(closing).keep_alive());
    std::string kept;
    common::http::append_response(kept, answer, {.keep_alive = true, .http_1_0 = true});
    EXPECT_EQ(parsed(kept)[beast_http::field::connection], "keep-alive");
}

TEST(ResponseHead, OfAHeadRequestKeepsTheLength) {
    std::string bytes;
    common::http::append_response(bytes, {.body = "12345"}, {.head_only = true});
    EXPECT_EQ(parsed(bytes, true)[beast_http::field::content_length], "5");
}

TEST(ResponseHead, CarriesAllowAndAppends) {
    std::string bytes = "before";
    common::http::append_response(bytes, {.status = 405, .body = {}, .allow = "GET, HEAD"}, {});
    ASSERT_TRUE(bytes.starts_with("before"));
    EXPECT_EQ(parsed(bytes.substr(6))[beast_http::field::allow], "GET, HEAD");
}

TEST(ResponseParser, GivesTheBodyOfA200) {
    const auto body = [](std::string_view bytes) {
        return std::get<std::string>(downstream_result(bytes));
    };
    EXPECT_EQ(body("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}"), "{}");
    EXPECT_EQ(body("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"),
              "{}");
    EXPECT_EQ(body("HTTP/1.0 200 OK\r\n\r\n{}"), "{}");
}

TEST(ResponseParser, SaysWhatElseCame) {
    using app::DownstreamFailure;
    EXPECT_EQ(failure_in("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"),
              DownstreamFailure::bad_status);
    EXPECT_EQ(failure_in("SSH-2.0-OpenSSH_9.2\r\n"), DownstreamFailure::malformed);
    EXPECT_EQ(failure_in("HTTP/1.1 200 OK\r\nContent-Length: 9999999\r\n\r\n"),
              DownstreamFailure::malformed);
    const auto truncated = failure_in("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n{}");
    EXPECT_TRUE(truncated == DownstreamFailure::lost || truncated == DownstreamFailure::malformed);
}

// Beast takes an interim answer for a whole one. The real one follows it.
TEST(ResponseParser, AConnectionWithAnInterimAnswerIsNotKept) {
    const auto may_be_kept = [](std::string_view bytes) {
        common::http::ResponseParser parser;
        boost::system::error_code error;
        parser.put(boost::asio::buffer(bytes.data(), bytes.size()), error);
        EXPECT_TRUE(parser.is_done()) << error;
        return parser.may_be_kept();
    };
    EXPECT_TRUE(may_be_kept("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_TRUE(may_be_kept("HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n"));
    EXPECT_FALSE(may_be_kept("HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n"));
    EXPECT_EQ(failure_in("HTTP/1.1 103 Early Hints\r\n\r\n"),
              common::app::DownstreamFailure::malformed);
}

TEST(ResponseParser, TheHeaderIsBoundedHoweverItIsCut) {
    common::http::ResponseParser parser;
    boost::system::error_code error;
    const std::string_view start = "HTTP/1.1 200 OK\r\n";
    parser.put(boost::asio::buffer(start.data(), start.size()), error);
    std::size_t bytes = 0;
    while (error == beast_http::error::need_more || !error) {
        const std::string_view field = "a: b\r\nc";
        error = {};
        bytes += parser.put(boost::asio::buffer(field.data(), field.size()), error);
        ASSERT_LT(bytes, 10 * common::limits::kDownstreamHeaderBytes);
    }
    EXPECT_EQ(error, beast_http::error::header_limit);
}

TEST(Failure, OfOurOwnMeansIsNotTheDownstreams) {
    using boost::asio::error::no_descriptors;
    EXPECT_EQ(common::http::failure_of(no_descriptors), common::app::DownstreamFailure::exhausted);
    EXPECT_EQ(common::http::failure_of(boost::asio::error::connection_refused),
              common::app::DownstreamFailure::refused);
}

TEST(Retry, OnlyOfAKeptConnectionThatAnsweredNothing) {
    const auto ended = boost::system::error_code(beast_http::error::end_of_stream);
    EXPECT_TRUE(common::http::may_retry(ended, true, 0));
    EXPECT_FALSE(common::http::may_retry(ended, false, 0));
    EXPECT_FALSE(common::http::may_retry(ended, true, 1));
    EXPECT_FALSE(common::http::may_retry(beast_http::error::bad_version, true, 0));
}
