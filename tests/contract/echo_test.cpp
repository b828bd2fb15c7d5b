#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

Response echo(std::string_view body, std::string_view query = {}) {
    return ask(shared_server(), post_request("/echo" + std::string(query), body));
}

struct Good {
    const char* body;
    const char* answer;
};
struct Bad {
    const char* body;
    const char* mention;
};

/// A body of exactly this many bytes and what is answered to it.
std::pair<std::string, std::string> padded_echo(std::size_t bytes) {
    const std::string head = R"({"id":1,"name":")";
    const std::string body = head + std::string(bytes - head.size() - 2, 'n') + "\"}";
    return {body, body};
}

constexpr std::size_t kLimit = 64 * 1024;

}  // namespace

TEST(Echo, AnswersTheTwoMembersInOrderAndCompact) {
    constexpr Good kCases[] = {
        {R"({"id":1,"name":"a"})", R"({"id":1,"name":"a"})"},
        {R"({"name":"a","id":1})", R"({"id":1,"name":"a"})"},
        {" {\r\n\t\"id\" : 1 , \"name\" : \"a\" } ", R"({"id":1,"name":"a"})"},
        {R"({"id":0,"name":""})", R"({"id":0,"name":""})"},
        {R"({"id":-0,"name":""})", R"({"id":0,"name":""})"},
        {R"({"id":1,"x":null,"name":"a","y":[1,{"id":2}],"z":{"name":3}})",
         R"({"id":1,"name":"a"})"},
        {R"({"id":9223372036854775807,"name":"a"})", R"({"id":9223372036854775807,"name":"a"})"},
        {R"({"id":-9223372036854775808,"name":"a"})", R"({"id":-9223372036854775808,"name":"a"})"},
        {R"({"id":1,"name":"\u00e9 \ud83d\ude00"})", "{\"id\":1,\"name\":\"é 😀\"}"},
        {"{\"id\":1,\"name\":\"é 😀\"}", "{\"id\":1,\"name\":\"é 😀\"}"},
        {R"({"id":1,"name":"\"\\\/\b\f\n\r\t\u0001"})",
         R"({"id":1,"name":"\"\\/\b\f\n\r\t\u0001"})"},
        {R"({"id":1,"name":"a\u0000b"})", R"({"id":1,"name":"a\u0000b"})"},
        {R"({"id":1,"name":"</script>&"})", R"({"id":1,"name":"</script>&"})"},
    };
    for (const auto& [body, answer] : kCases) {
        SCOPED_TRACE(body);
        expect_json(echo(body), answer);
    }
}

TEST(Echo, SaysWhatIsWrongAndKeepsTheConnection) {
    constexpr Bad kCases[] = {
        {"", "JSON"},
        {"{", "JSON"},
        {R"({"id":1,"name":"a"}x)", "JSON"},
        {R"({"id":1,"name":"a"}{})", "JSON"},
        {R"({"id":1,"name":"a",})", "JSON"},
        {R"({"id":01,"name":"a"})", "JSON"},
        {R"({"id":NaN,"name":"a"})", "JSON"},
        {R"({'id':1,"name":"a"})", "JSON"},
        {R"({"id":1,"name":"\ud83d"})", "JSON"},
        {"{\"id\":1,\"name\":\"\n\"}", "JSON"},
        {"[]", "object"},
        {R"([{"id":1,"name":"a"}])", "object"},
        {"null", "object"},
        {"1", "object"},
        {R"("id")", "object"},
        {"{}", "id"},
        {R"({"name":"a"})", "id"},
        {R"({"id":"1","name":"a"})", "id"},
        {R"({"id":1.0,"name":"a"})", "id"},
        {R"({"id":1e3,"name":"a"})", "id"},
        {R"({"id":null,"name":"a"})", "id"},
        {R"({"id":true,"name":"a"})", "id"},
        {R"({"id":[1],"name":"a"})", "id"},
        {R"({"id":{"id":1},"name":"a"})", "id"},
        {R"({"x":{"id":1},"name":"a"})", "id"},
        {R"({"ID":1,"name":"a"})", "id"},
        {R"({"id":9223372036854775808,"name":"a"})", "id"},
        {R"({"id":-9223372036854775809,"name":"a"})", "id"},
        {R"({"id":18446744073709551616,"name":"a"})", "id"},
        {R"({"id":99999999999999999999999999999999,"name":"a"})", "id"},
        {R"({"id":1})", "name"},
        {R"({"id":1,"name":null})", "name"},
        {R"({"id":1,"name":1})", "name"},
        {R"({"id":1,"name":["a"]})", "name"},
        {R"({"id":1,"name":{"name":"a"}})", "name"},
        {"{\"id\":1,\"name\":\"\xff\"}", "UTF-8"},
        {"{\"id\":1,\"name\":\"\xc0\xaf\"}", "UTF-8"},
        {"{\"id\":1,\"name\":\"\xed\xa0\x80\"}", "UTF-8"},
        {"{\"id\":1,\"name\":\"\xf4\x90\x80\x80\"}", "UTF-8"},
        {"{\"id\":1,\"name\":\"\xe2\x82\"}", "UTF-8"},
        {"{\"id\":1,\"name\":\"a\",\"x\":\"\xff\"}", "UTF-8"},
    };
    Connection connection(shared_server());
    for (const auto& [body, mention] : kCases) {
        SCOPED_TRACE(body);
        const auto response = connection.exchange(post_request("/echo", body));
        expect_error(response, 400, mention);
        expect_kept(connection, response);
    }
}

TEST(Echo, DeepNestingIsNoDanger) {
    const std::string open(30'000, '[');
    const std::string close(30'000, ']');
    expect_error(echo(open), 400);
    expect_error(echo(open + close), 400, "object");
    expect_json(echo(R"({"id":1,"x":)" + open + close + R"(,"name":"a"})"),
                R"({"id":1,"name":"a"})");
}

TEST(Echo, TakesABodyOf64KiB) {
    const auto [body, answer] = padded_echo(kLimit);
    ASSERT_EQ(body.size(), kLimit);
    expect_json(echo(body), answer);
}

TEST(Echo, RefusesALargerBodyBeforeItComes) {
    Connection connection(shared_server());
    connection.send("POST /echo HTTP/1.1\r\nHost: test\r\nContent-Length: 65537\r\n\r\n");
    const auto response = connection.receive();
    expect_error(response, 413, "64 KiB");
    expect_closed(connection, response);
}

TEST(Echo, RefusesALargerBodyThatIsOnItsWay) {
    Connection connection(shared_server());
    connection.send(post_request("/echo", padded_echo(kLimit + 1).first));
    const auto response = connection.receive();
    expect_error(response, 413, "64 KiB");
    expect_closed(connection, response);
}

TEST(Echo, RefusesALargerBodyInChunks) {
    Connection connection(shared_server());
    connection.send("POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n");
    for (int i = 0; i < 5; ++i) {
        connection.send_what_fits("4000\r\n" + std::string(0x4000, ' ') + "\r\n");
    }
    const auto response = connection.receive();
    expect_error(response, 413, "64 KiB");
    EXPECT_TRUE(response.says_close());
}

TEST(Echo, WaitsAsAsked) {
    constexpr auto kBody = R"({"id":1,"name":"a"})";
    for (const char* query : {"?sleep_ms=30", "?block_ms=30", "?sleep_ms=15&block_ms=15"}) {
        const auto start = Clock::now();
        expect_json(echo(kBody, query), kBody);
        EXPECT_GE(Clock::now() - start, 30ms) << query;
    }
    expect_json(echo(kBody, "?sleep_ms=0&block_ms=0"), kBody);
}

TEST(Echo, DoesNotCareForTheContentType) {
    constexpr auto kBody = R"({"id":1,"name":"a"})";
    const auto request = post_request("/echo", kBody, "Content-Type: text/html\r\n");
    expect_json(ask(shared_server(), request), kBody);
}
