#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "common/http/server_connection.hpp"

using namespace common;
using namespace common::http;
using namespace std::chrono_literals;

namespace {

/// A connection driven by bytes; what a model does with a socket, a test does with strings.
class Driven : public testing::Test {
  protected:
    Context context{.model = "test"};
    std::string sent;

    /// Gives the connection these bytes in pieces of this size, as far as it reads.
    Step feed(ServerConnection& connection, std::string_view bytes, std::size_t piece = 4096) {
        while (!bytes.empty() && connection.next() == Step::receive) {
            const auto buffer = connection.receive_buffer();
            const auto size = std::min({piece, buffer.size(), bytes.size()});
            std::memcpy(buffer.data(), bytes.data(), size);
            bytes.remove_prefix(size);
            connection.received(size);
        }
        EXPECT_TRUE(bytes.empty()) << "not read: " << bytes;
        return connection.next();
    }
    /// Lets it send all it has, in small pieces; gives back what came out.
    std::string drain(ServerConnection& connection) {
        std::string out;
        while (connection.next() == Step::send) {
            const auto piece = connection.unsent().substr(0, 7);
            out += piece;
            connection.sent(piece.size());
        }
        return out;
    }
    std::string answer(ServerConnection& connection, std::string body) {
        EXPECT_EQ(connection.next(), Step::handle);
        connection.answer({.content_type = "text/plain", .body = std::move(body)},
                          app::Endpoint::sleep);
        return drain(connection);
    }
};

const std::string kGet = "GET /a HTTP/1.1\r\nHost: t\r\n\r\n";

bool is_status(const std::string& response, int status) {
    return response.starts_with("HTTP/1.1 " + std::to_string(status) + " ");
}
bool says_close(const std::string& response) {
    return response.find("\r\nConnection: close\r\n") != std::string::npos;
}

}  // namespace

TEST_F(Driven, RequestsComeOutHoweverTheBytesComeIn) {
    const std::string bytes = "POST /b?c HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello";
    for (std::size_t piece = 1; piece <= bytes.size(); ++piece) {
        ServerConnection connection(context);
        ASSERT_EQ(feed(connection, bytes, piece), Step::handle) << piece;
        EXPECT_EQ(connection.request().method, "POST");
        EXPECT_EQ(connection.request().target, "/b?c");
        EXPECT_EQ(connection.request().body, "hello");
    }
}

TEST_F(Driven, PipelinedRequestsComeOneByOne) {
    ServerConnection connection(context);
    feed(connection, "GET /1 HTTP/1.1\r\nHost: t\r\n\r\nGET /2 HTTP/1.1\r\nHost: t\r\n\r\n");
    EXPECT_EQ(connection.request().target, "/1");
    EXPECT_TRUE(answer(connection, "one").ends_with("\r\n\r\none"));
    EXPECT_EQ(connection.next(), Step::handle);
    EXPECT_EQ(connection.request().target, "/2");
    EXPECT_TRUE(answer(connection, "two").ends_with("\r\n\r\ntwo"));
    EXPECT_EQ(connection.next(), Step::receive);
}

TEST_F(Driven, ContinueIsSaidOnceBeforeTheBody) {
    ServerConnection connection(context);
    feed(connection,
         "POST /a HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 2\r\n\r\n");
    EXPECT_EQ(drain(connection), "HTTP/1.1 100 Continue\r\n\r\n");
    EXPECT_EQ(feed(connection, "h"), Step::receive);
    EXPECT_EQ(feed(connection, "i"), Step::handle);
    EXPECT_EQ(connection.request().body, "hi");
}

TEST_F(Driven, AnAnswerThatEndsTheConnectionIsFollowedByALinger) {
    ServerConnection connection(context);
    feed(connection, "GET /a HTTP/1.1\r\nHost: t\r\nConnection: close\r\n\r\n");
    EXPECT_TRUE(says_close(answer(connection, "x")));
    EXPECT_EQ(connection.next(), Step::shut_down);
    connection.was_shut_down();
    EXPECT_EQ(connection.next(), Step::receive);
    EXPECT_EQ(feed(connection, "more that nobody wants"), Step::receive);
    connection.received_end();
    EXPECT_EQ(connection.next(), Step::close);
}

TEST_F(Driven, TheLingerIsBounded) {
    ServerConnection connection(context);
    feed(connection, "broken\r\n\r\n");
    EXPECT_TRUE(is_status(drain(connection), 400));
    connection.was_shut_down();
    const std::string piece(1024, 'x');
    std::size_t discarded = 0;
    while (connection.next() == Step::receive) {
        feed(connection, piece);
        discarded += piece.size();
        ASSERT_LE(discarded, limits::kLingerBytes);
    }
    EXPECT_EQ(connection.next(), Step::close);
    EXPECT_EQ(discarded, limits::kLingerBytes);
}

TEST_F(Driven, TheEndOfTheStreamWaitsForTheAnswer) {
    ServerConnection connection(context);
    feed(connection, kGet);
    connection.received_end();
    EXPECT_TRUE(is_status(answer(connection, "x"), 200));
    EXPECT_EQ(connection.next(), Step::close);
}

TEST_F(Driven, TheEndOfTheStreamBeforeARequestClosesWithoutAWord) {
    ServerConnection connection(context);
    EXPECT_EQ(connection.next(), Step::receive);
    connection.received_end();
    EXPECT_EQ(connection.next(), Step::close);
}

TEST_F(Driven, TheEndOfTheStreamWithinARequestIs400) {
    ServerConnection connection(context);
    feed(connection, "GET /a HT");
    connection.received_end();
    EXPECT_TRUE(is_status(drain(connection), 400));
}

TEST_F(Driven, LimitsHold) {
    const std::string long_field = "X: " + std::string(limits::kHeaderBytes, 'x');
    ServerConnection header(context);
    EXPECT_EQ(header.next(), Step::receive);
    std::string_view bytes = long_field;
    const std::string start = "GET /a HTTP/1.1\r\n";
    feed(header, start);
    while (header.next() == Step::receive && !bytes.empty()) {
        const auto size = std::min<std::size_t>(1000, bytes.size());
        feed(header, bytes.substr(0, size));
        bytes.remove_prefix(size);
    }
    EXPECT_TRUE(is_status(drain(header), 431));

    ServerConnection body(context);
    feed(body, "POST /a HTTP/1.1\r\nHost: t\r\nContent-Length: 65537\r\n\r\n");
    EXPECT_TRUE(is_status(drain(body), 413));
}

// A request of exactly the limit passes, one byte more does not, in pieces of any size.
TEST_F(Driven, TheHeaderLimitIsExactHoweverTheBytesComeIn) {
    const std::string start = "GET /a HTTP/1.1\r\nHost: t\r\n";
    std::string fields;
    while (start.size() + fields.size() + 40 < limits::kHeaderBytes) {
        fields += "a: b\r\n";
    }
    const auto padding = limits::kHeaderBytes - start.size() - fields.size() - 7;
    for (const std::size_t piece : {1u, 7u, 1000u, 4096u, 100'000u}) {
        SCOPED_TRACE(piece);
        ServerConnection fits(context);
        const std::string request = start + fields + "X: " + std::string(padding, 'x') + "\r\n\r\n";
        ASSERT_EQ(request.size(), limits::kHeaderBytes);
        EXPECT_EQ(feed(fits, request, piece), Step::handle);

        ServerConnection too_long(context);
        const std::string longer =
            start + fields + "X: " + std::string(padding + 1, 'x') + "\r\n\r\n";
        std::string_view rest = longer;
        while (!rest.empty() && too_long.next() == Step::receive) {
            const auto size = std::min({piece, rest.size(), limits::kReceiveBytes});
            feed(too_long, rest.substr(0, size), piece);
            rest.remove_prefix(size);
        }
        EXPECT_TRUE(is_status(drain(too_long), 431));
    }
}

TEST_F(Driven, ABodyFollowsItsHeaderInTheSamePiece) {
    const std::string body(limits::kHeaderBytes, 'b');
    ServerConnection connection(context);
    EXPECT_EQ(feed(connection, "POST /a HTTP/1.1\r\nHost: t\r\nContent-Length: " +
                                   std::to_string(body.size()) + "\r\n\r\n" + body),
              Step::handle);
    EXPECT_EQ(connection.request().body, body);
}

TEST_F(Driven, NothingCameMeansNothingBeforeTheDeadline) {
    ServerConnection connection(context);
    feed(connection, "GET /a HT");
    connection.nothing_came();
    EXPECT_EQ(connection.next(), Step::receive);
    EXPECT_EQ(feed(connection, "TP/1.1\r\nHost: t\r\n\r\n"), Step::handle);
}

TEST_F(Driven, DeadlinesEndEachPhaseInItsWay) {
    context.deadlines = {.header = 1ms, .body = 1ms, .idle = 1ms, .write = 1ms};
    const auto expire = [](ServerConnection& connection) {
        std::this_thread::sleep_until(connection.deadline() + 1ms);
        connection.nothing_came();
    };
    ServerConnection idle(context);
    expire(idle);
    EXPECT_EQ(idle.next(), Step::close);

    ServerConnection header(context);
    feed(header, "GET /a HT");
    expire(header);
    EXPECT_TRUE(is_status(drain(header), 408));

    ServerConnection body(context);
    feed(body, "POST /a HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhe");
    expire(body);
    EXPECT_TRUE(is_status(drain(body), 408));

    ServerConnection write(context);
    feed(write, kGet);
    EXPECT_EQ(write.deadline(), ServerConnection::Instant::max())
        << "handling has no deadline here";
    write.answer({}, app::Endpoint::sleep);
    EXPECT_EQ(write.next(), Step::send);
    expire(write);
    EXPECT_EQ(write.next(), Step::close);
}

TEST_F(Driven, DrippingDoesNotMoveADeadline) {
    ServerConnection connection(context);
    feed(connection, "G");
    const auto deadline = connection.deadline();
    std::this_thread::sleep_for(2ms);
    feed(connection, "ET /a");
    EXPECT_EQ(connection.deadline(), deadline);
}

TEST_F(Driven, DrainingClosesIdleConnectionsAfterALastRead) {
    ServerConnection connection(context);
    EXPECT_EQ(connection.next(), Step::receive);
    context.draining = true;
    EXPECT_LE(connection.deadline(), ServerConnection::Clock::now());
    connection.nothing_came();
    EXPECT_EQ(connection.next(), Step::close);
}

TEST_F(Driven, DrainingSaysCloseWithTheLastAnswer) {
    ServerConnection connection(context);
    feed(connection, kGet + kGet);
    context.draining = true;
    EXPECT_FALSE(says_close(answer(connection, "one")));
    EXPECT_TRUE(says_close(answer(connection, "two")));
    EXPECT_EQ(connection.next(), Step::shut_down);
}

TEST_F(Driven, OldClientsAreToldThatTheConnectionIsKept) {
    ServerConnection connection(context);
    feed(connection, "GET /a HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
    EXPECT_NE(answer(connection, "x").find("\r\nConnection: keep-alive\r\n"), std::string::npos);
    feed(connection, "GET /a HTTP/1.0\r\n\r\n");
    EXPECT_TRUE(says_close(answer(connection, "x")));
}
