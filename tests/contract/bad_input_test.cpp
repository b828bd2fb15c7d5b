#include "expectations.hpp"

using namespace client;

namespace {

/// The server answers these bytes with this error and closes; the answer can be read although more
/// bytes follow, and the next client is served.
void expect_refused(std::string_view bytes, int status = 400) {
    SCOPED_TRACE(std::string(bytes.substr(0, 200)));
    Connection connection(shared_server());
    connection.send(bytes);
    const auto response = connection.receive();
    expect_error(response, status);
    expect_closed(connection, response);
    EXPECT_EQ(get(shared_server(), "/health").status, 200);
}

std::string with_fields(const std::string& fields, const std::string& body) {
    return "POST /echo HTTP/1.1\r\nHost: test\r\n" + fields + "\r\n" + body;
}

const std::string kChunks = "13\r\n{\"id\":1,\"name\":\"a\"}\r\n0\r\n\r\n";

}  // namespace

TEST(Framing, BothLengthAndChunksAre400) {
    expect_refused(with_fields("Content-Length: 19\r\nTransfer-Encoding: chunked\r\n", kChunks));
    expect_refused(with_fields("Transfer-Encoding: chunked\r\nContent-Length: 19\r\n", kChunks));
}

TEST(Framing, ConflictingLengthsAre400) {
    expect_refused(with_fields("Content-Length: 2\r\nContent-Length: 3\r\n", "{}"));
    expect_refused(with_fields("Content-Length: 2, 3\r\n", "{}"));
}

TEST(Framing, MalformedLengthsAre400) {
    for (const char* length : {"-1", "+2", "2x", "x", "0x2", "2 2", "", "1.0",
                               "18446744073709551617", "99999999999999999999999999"}) {
        expect_refused(with_fields("Content-Length: " + std::string(length) + "\r\n", "{}"));
    }
}

TEST(Framing, HugeLengthIs413) {
    expect_refused(with_fields("Content-Length: 9223372036854775807\r\n", "{}"), 413);
}

TEST(Framing, OtherTransferCodingsAreRefused) {
    for (const char* coding :
         {"gzip", "gzip, chunked", "chunked, chunked", "identity", "chunked, gzip", "xchunked"}) {
        SCOPED_TRACE(coding);
        Connection connection(shared_server());
        connection.send(with_fields("Transfer-Encoding: " + std::string(coding) + "\r\n", kChunks));
        const auto response = connection.receive();
        // RFC 9112, 6.1: what is not understood is 501; what leaves the end open is 400.
        EXPECT_TRUE(response.status == 400 || response.status == 501) << response.status;
        expect_error(response, response.status);
        expect_closed(connection, response);
    }
}

TEST(Framing, MalformedChunksAre400) {
    for (const char* chunks :
         {"x\r\n", "-1\r\n", "+1\r\n{\r\n0\r\n\r\n", "0x1\r\n{\r\n0\r\n\r\n", "\r\n\r\n",
          ";a=b\r\n\r\n", "2\r\n{}x\r\n0\r\n\r\n", "2\r\n{}0\r\n\r\n", "1\r\n{}\r\n0\r\n\r\n",
          "10000000000000000\r\n{}\r\n", "ffffffffffffffffff\r\n{}\r\n", "2 2\r\n{}\r\n0\r\n\r\n",
          "2\r\n{}\r\n0\r\nbad trailer\r\n\r\n"}) {
        expect_refused(with_fields("Transfer-Encoding: chunked\r\n", chunks));
    }
}

TEST(Framing, BareCarriageReturnIs400) {
    expect_refused("GET /health HTTP/1.1\r\nHost: test\r\nX: a\rb\r\n\r\n");
    expect_refused("GET /health HTTP/1.1\r\nHost: test\rX: a\r\n\r\n");
    expect_refused("GET /health\r HTTP/1.1\r\nHost: test\r\n\r\n");
    expect_refused("GET /health HTTP/1.1\rHost: test\r\n\r\n");
    expect_refused("GET /health HTTP/1.1\r\nHost: test\r\n\rX: a\r\n\r\n");
    expect_refused("GET /health HTTP/1.1\r\nHost\r: test\r\n\r\n");
    expect_refused(with_fields("Transfer-Encoding: chunked\r\n", "2;a\rb\r\n{}\r\n0\r\n\r\n"));
    expect_refused(with_fields("Transfer-Encoding: chunked\r\n", "2\r{}\r\n0\r\n\r\n"));
}

// At once, and not when the deadline ends the wait for a CR LF that never comes.
TEST(Framing, BareLineFeedIs400AtOnce) {
    expect_refused("GET /health HTTP/1.1\nHost: test\n\n");
    expect_refused("GET /health HTTP/1.1\r\nHost: test\n");
    expect_refused("\nGET /health HTTP/1.1\r\n");
    for (const char* chunks :
         {"5\nhello", "2\r\n{}\n", "2\r\n{}\r\n0\nX", "2\r\n{}\r\n0\r\nX: a\n"}) {
        expect_refused(with_fields("Transfer-Encoding: chunked\r\n", chunks));
    }
}

TEST(Host, MustBeThereOnce) {
    for (const char* fields : {"", "X: a\r\n", "Host: a\r\nHost: b\r\n", "Host: a\r\nHost: a\r\n",
                               "Host: a\r\nX: b\r\nhost: c\r\n"}) {
        SCOPED_TRACE(fields);
        Connection connection(shared_server());
        const auto response =
            connection.exchange("GET /health HTTP/1.1\r\n" + std::string(fields) + "\r\n");
        expect_error(response, 400, "Host");
        if (response.says_close()) {
            EXPECT_TRUE(connection.ends());
        } else {
            expect_kept(connection, response);
        }
    }
}

TEST(Header, Over16KiBIs431) {
    expect_refused(get_request("/health", "X: " + std::string(17'000, 'x') + "\r\n"), 431);
    std::string many;
    for (int i = 0; i < 2000; ++i) {
        many += "X-" + std::to_string(i) + ": abc\r\n";
    }
    expect_refused(get_request("/health", many), 431);
    expect_refused(get_request("/" + std::string(17'000, 'x')), 431);
    expect_refused("GET /health HTTP/1.1\r\nX: " + std::string(40'000, 'x'), 431);
    expect_refused(std::string(17'000, 'X'), 431);
}

// However the bytes are cut into pieces.
TEST(Header, Over16KiBOfShortLinesIs431) {
    std::string fields;
    for (int i = 0; i < 10'000; ++i) {
        fields += "a:\r\n";
    }
    expect_refused(get_request("/health", fields), 431);
}

TEST(Host, MustBeAHost) {
    for (const char* host : {"a b", "u@b", "a/b", "[::1", "a:x", "a?b", "a, b", "\xff"}) {
        expect_refused("GET /health HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n");
    }
    for (const char* host :
         {"", "a", "a:", "a:80", "127.0.0.1:8080", "[::1]:8080", "a%20b", "A-b_c.d"}) {
        SCOPED_TRACE(host);
        EXPECT_EQ(
            ask(shared_server(), "GET /health HTTP/1.1\r\nHost: " + std::string(host) + "\r\n\r\n")
                .status,
            200);
    }
}

TEST(Header, MalformedLinesAre400) {
    for (const char* fields : {"Host : test\r\n", "Host\r\n", ": test\r\n", "Ho st: test\r\n",
                               "Host: test\r\nX\x01: a\r\n", "Host: test\r\nX: a\x01\r\n",
                               "Host: test\r\nX: \x7f\r\n"}) {
        expect_refused("GET /health HTTP/1.1\r\n" + std::string(fields) + "\r\n");
    }
    using namespace std::string_literals;
    expect_refused("GET /health HTTP/1.1\r\nHost: te\0st\r\n\r\n"s);
}

TEST(RequestLine, MalformedOnesAre400) {
    for (const char* line :
         {"GET", "GET /health", "GET  /health HTTP/1.1", "GET /health  HTTP/1.1",
          "GET /hea lth HTTP/1.1", "/health HTTP/1.1", "GET /health HTTP/1.1 ",
          "GET /health HTTX/1.1", "GET /health HTTP/11", "GET /health http/1.1",
          "G\x01T /health HTTP/1.1", "GET /hea\x01lth HTTP/1.1", " GET / HTTP/1.1"}) {
        expect_refused(std::string(line) + "\r\nHost: test\r\n\r\n");
    }
    expect_refused("\x16\x03\x01\x02\x01\x01\xfc\x03\x03 a TLS greeting \r\n\r\n");
}

TEST(RequestLine, OtherVersionsAreRefused) {
    for (const char* version : {"HTTP/2.0", "HTTP/0.9", "HTTP/1.2", "HTTP/9.9"}) {
        expect_refused("GET /health " + std::string(version) + "\r\nHost: test\r\n\r\n");
    }
}

TEST(Expectations, OtherThan100ContinueAre417) {
    Connection connection(shared_server());
    const auto response = connection.exchange(get_request("/health", "Expect: miracles\r\n"));
    expect_error(response, 417);
}

TEST(Refusals, CanBeReadAlthoughTheClientKeepsSending) {
    // Without discarding what comes, closing would reset the connection and the answer be lost.
    Connection connection(shared_server());
    connection.send("GET /health HTTP/1.1\r\nBroken line\r\n\r\n" + std::string(40'000, 'x'));
    const auto response = connection.receive();
    expect_error(response, 400);
    EXPECT_TRUE(connection.ends());
}

TEST(Refusals, FollowTheAnswersToEarlierRequests) {
    Connection connection(shared_server());
    connection.send(get_request("/sleep?ms=30") + get_request("/health") + "broken\r\n\r\n");
    expect_ok(connection.receive());
    EXPECT_EQ(connection.receive().status, 200);
    const auto response = connection.receive();
    expect_error(response, 400);
    expect_closed(connection, response);
}

TEST(Refusals, OfATruncatedRequestComeAtItsEnd) {
    for (const std::string_view bytes :
         {"GET /health HTTP/1.1\r\nHo",
          "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n{"}) {
        Connection connection(shared_server());
        connection.send(bytes);
        connection.finish_sending();
        EXPECT_TRUE(connection.is_gone());
    }
}
