#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;

namespace {

constexpr auto kEcho = R"({"id":1,"name":"a"})";
const std::string kChunkedHead =
    "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";

std::string echo_body(int id) {
    return "{\"id\":" + std::to_string(id) + ",\"name\":\"a\"}";
}

}  // namespace

TEST(KeepAlive, IsTheRuleInHttp11) {
    Connection connection(shared_server());
    for (int i = 0; i < 5; ++i) {
        const auto response = connection.exchange(post_request("/echo", echo_body(i)));
        EXPECT_EQ(response.version, "HTTP/1.1");
        expect_json(response, echo_body(i));
    }
}

TEST(KeepAlive, EndsWhenTheClientSaysSo) {
    for (const char* target : {"/health", "/sleep?ms=1", "/nowhere", "/sleep"}) {
        for (const char* field :
             {"Connection: close\r\n", "connection: Close\r\n", "Connection: x, close\r\n"}) {
            SCOPED_TRACE(std::string(target) + " " + field);
            Connection connection(shared_server());
            expect_closed(connection, connection.exchange(get_request(target, field)));
        }
    }
}

TEST(Http10, ClosesUnlessAskedToKeep) {
    for (const char* target : {"/health", "/sleep?ms=1", "/nowhere"}) {
        SCOPED_TRACE(target);
        const std::string start = "GET " + std::string(target) + " HTTP/1.0\r\n";
        Connection once(shared_server());
        const auto response = once.exchange(start + "\r\n");
        EXPECT_NE(response.status / 100, 5);
        expect_closed(once, response);

        Connection kept(shared_server());
        for (int i = 0; i < 3; ++i) {
            const auto again = kept.exchange(start + "Connection: keep-alive\r\n\r\n");
            EXPECT_EQ(again.field("Connection"), "keep-alive");
        }
    }
}

TEST(Http10, TakesAPost) {
    const std::string length = std::to_string(std::string_view(kEcho).size());
    Connection connection(shared_server());
    const auto response = connection.exchange("POST /echo HTTP/1.0\r\nContent-Length: " + length +
                                              "\r\n\r\n" + kEcho);
    expect_json(response, kEcho);
    expect_closed(connection, response);
}

TEST(Http10, IsNeverToldToContinue) {
    const std::string length = std::to_string(std::string_view(kEcho).size());
    Connection connection(shared_server());
    connection.send("POST /echo HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: " + length +
                    "\r\n\r\n");
    EXPECT_TRUE(connection.is_silent_for(100ms));
    expect_json(connection.exchange(kEcho), kEcho);
}

TEST(Pipelining, AnswersInOrder) {
    constexpr int kRequests = 50;
    std::string requests;
    for (int i = 0; i < kRequests; ++i) {
        requests += post_request("/echo", echo_body(i));
    }
    Connection connection(shared_server());
    connection.send(requests);
    for (int i = 0; i < kRequests; ++i) {
        expect_json(connection.receive(), echo_body(i));
    }
}

TEST(Pipelining, SlowAnswersHoldUpQuickOnes) {
    Connection connection(shared_server());
    connection.send(get_request("/sleep?ms=50") + get_request("/health") + get_request("/wait") +
                    get_request("/nowhere") + head_request("/cpu?iterations=1") +
                    get_request("/sleep?ms=0"));
    expect_ok(connection.receive());
    EXPECT_EQ(nlohmann::json::parse(connection.receive().body)["status"], "ok");
    EXPECT_EQ(connection.receive().body.size(), 140u);
    expect_error(connection.receive(), 404);
    EXPECT_EQ(connection.receive(Body::none).status, 200);
    expect_ok(connection.receive());
}

TEST(Pipelining, NothingIsAnsweredAfterTheLastRequest) {
    Connection connection(shared_server());
    connection.send(get_request("/sleep?ms=1", "Connection: close\r\n") + get_request("/health"));
    const auto response = connection.receive();
    expect_ok(response);
    expect_closed(connection, response);
}

TEST(Pipelining, LargeRequestsInOnePiece) {
    const std::string name(30'000, 'n');
    const std::string body = "{\"id\":1,\"name\":\"" + name + "\"}";
    std::string requests;
    for (int i = 0; i < 10; ++i) {
        requests += post_request("/echo", body) + get_request("/wait");
    }
    Connection connection(shared_server());
    std::thread sender([&] { connection.send(requests); });
    for (int i = 0; i < 10; ++i) {
        EXPECT_EQ(connection.receive().body, body);
        EXPECT_EQ(connection.receive().status, 200);
    }
    sender.join();
}

TEST(Requests, MayComeByteByByte) {
    Connection connection(shared_server());
    for (const std::string& request :
         {post_request("/echo", kEcho),
          kChunkedHead + "8\r\n{\"id\":1,\r\nb\r\n\"name\":\"a\"}\r\n0\r\n\r\n"}) {
        for (const char byte : request) {
            connection.send({&byte, 1});
            std::this_thread::sleep_for(200us);
        }
        expect_json(connection.receive(), kEcho);
    }
}

// Beast asserts of a last chunk without one before it that it does not come in pieces.
TEST(Requests, MayEndInPiecesOfATrailer) {
    Connection connection(shared_server());
    for (const char byte : kChunkedHead + "0\r\nX: y\r\n\r\n") {
        connection.send({&byte, 1});
        std::this_thread::sleep_for(200us);
    }
    EXPECT_EQ(connection.receive().status, 400) << "an empty body is no JSON";
    expect_json(connection.exchange(post_request("/echo", kEcho)), kEcho);
}

TEST(Requests, MayFollowEmptyLines) {
    Connection connection(shared_server());
    expect_json(connection.exchange("\r\n\r\n" + post_request("/echo", kEcho)), kEcho);
}

TEST(Requests, AreAnsweredAfterTheClientHasFinishedSending) {
    Connection connection(shared_server());
    connection.send(get_request("/wait") + get_request("/sleep?ms=20"));
    connection.finish_sending();
    EXPECT_EQ(connection.receive().status, 200);
    expect_ok(connection.receive());
    EXPECT_TRUE(connection.ends());
}

TEST(Requests, FieldNamesHaveNoCaseAndValuesMayBePadded) {
    Connection connection(shared_server());
    const std::string length = std::to_string(std::string_view(kEcho).size());
    expect_json(connection.exchange("POST /echo HTTP/1.1\r\nhOST:test\r\ncontent-LENGTH:  " +
                                    length + " \t\r\nX-Empty:\r\n\r\n" + kEcho),
                kEcho);
}

TEST(Requests, MayCarryAHeaderOfAlmost16KiB) {
    Connection connection(shared_server());
    const std::string large = "X-Large: " + std::string(15'900, 'x') + "\r\n";
    const auto response = connection.exchange(get_request("/health", large));
    EXPECT_EQ(response.status, 200);
    expect_kept(connection, response);
}

TEST(Requests, GetMayCarryABody) {
    Connection connection(shared_server());
    const auto response =
        connection.exchange(get_request("/sleep?ms=1", "Content-Length: 5\r\n") + "hello");
    expect_ok(response);
    expect_kept(connection, response);
}

TEST(Chunked, BodiesArePutTogether) {
    Connection connection(shared_server());
    for (const char* chunks : {
             "13\r\n{\"id\":1,\"name\":\"a\"}\r\n0\r\n\r\n",
             "0013\r\n{\"id\":1,\"name\":\"a\"}\r\n000\r\n\r\n",
             "1\r\n{\r\n1\r\n\"\r\n11\r\nid\":1,\"name\":\"a\"}\r\n0\r\n\r\n",
             "8\r\n{\"id\":1,\r\nB\r\n\"name\":\"a\"}\r\n0\r\n\r\n",
             "8;name=value\r\n{\"id\":1,\r\nb;x=\"quoted\"\r\n\"name\":\"a\"}\r\n0\r\n\r\n",
             "13\r\n{\"id\":1,\"name\":\"a\"}\r\n0\r\nX-Trailer: yes\r\n\r\n",
         }) {
        SCOPED_TRACE(chunks);
        const auto response = connection.exchange(kChunkedHead + chunks);
        expect_json(response, kEcho);
        expect_kept(connection, response);
    }
}

TEST(Chunked, TrailersDoNotChangeTheRequest) {
    Connection connection(shared_server());
    const auto response = connection.exchange(
        kChunkedHead +
        "13\r\n{\"id\":1,\"name\":\"a\"}\r\n0\r\nHost: other\r\nExpect: miracles\r\n\r\n");
    expect_json(response, kEcho);
}

TEST(Chunked, EmptyBodyIsAnEmptyBody) {
    Connection connection(shared_server());
    const auto response = connection.exchange(kChunkedHead + "0\r\n\r\n");
    expect_error(response, 400, "JSON");
    expect_kept(connection, response);
}

TEST(Continue, IsSaidBeforeTheBody) {
    Connection connection(shared_server());
    const std::string length = std::to_string(std::string_view(kEcho).size());
    for (int i = 0; i < 2; ++i) {
        connection.send(
            "POST /echo HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: " +
            length + "\r\n\r\n");
        EXPECT_EQ(connection.receive().status, 100);
        connection.send(kEcho);
        expect_json(connection.receive(), kEcho);
    }
    connection.send(
        "POST /echo HTTP/1.1\r\nHost: test\r\nExpect: 100-Continue\r\n"
        "Transfer-Encoding: chunked\r\n\r\n");
    EXPECT_EQ(connection.receive().status, 100);
    connection.send("13\r\n" + std::string(kEcho) + "\r\n0\r\n\r\n");
    expect_json(connection.receive(), kEcho);
}

TEST(Continue, MayBeLeftOutWhenTheBodyIsThere) {
    Connection connection(shared_server());
    connection.send(post_request("/echo", kEcho, "Expect: 100-continue\r\n"));
    expect_json(connection.receive_final(), kEcho);
    connection.send(get_request("/sleep?ms=1", "Expect: 100-continue\r\n"));
    expect_ok(connection.receive_final());
}

TEST(Continue, IsNotSaidToABodyThatIsTooLarge) {
    Connection connection(shared_server());
    const auto response = connection.exchange(
        "POST /echo HTTP/1.1\r\nHost: test\r\nExpect: 100-continue\r\nContent-Length: "
        "100000\r\n\r\n");
    expect_error(response, 413);
    expect_closed(connection, response);
}

TEST(Connections, ThatAreIdleOrHalfSentHoldNothingUp) {
    std::vector<Connection> idle;
    for (int i = 0; i < 250; ++i) {
        idle.emplace_back(shared_server()).send(i % 2 == 0 ? "" : "POST /echo HTTP/1.1\r\nHo");
    }
    expect_ok(get(shared_server(), "/sleep?ms=1"));
    EXPECT_EQ(get(shared_server(), "/wait").status, 200);
    for (Connection& connection : idle) {
        EXPECT_TRUE(connection.is_silent_for(0ms));
    }
}

TEST(Connections, ThatEndEarlyHarmNobody) {
    for (const std::string_view bytes :
         {"", "G", "GET /health HTTP/1.1\r\n",
          "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n{"}) {
        Connection(shared_server()).send(bytes);
        Connection connection(shared_server());
        connection.send(bytes);
        connection.reset();
    }
    EXPECT_EQ(get(shared_server(), "/health").status, 200);
}

TEST(Dates, AreThere) {
    // RFC 9110, 6.6.1: a server with a clock sends Date.
    const auto date = get(shared_server(), "/health").field("Date");
    ASSERT_TRUE(date);
    EXPECT_TRUE(date->ends_with(" GMT")) << *date;
}
