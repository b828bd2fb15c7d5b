#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr auto kDeadline = 400ms;
/// Late enough for a busy machine, and sooner than the default deadlines would end anything.
constexpr auto kLatest = 9s;

/// The server gives this connection up after the deadline, which cannot have begun before
/// `earliest`. `drip` is sent again and again meanwhile, because a peer that drips must not escape.
void expect_given_up(Connection& connection, Clock::time_point earliest,
                     std::string_view drip = {}) {
    const auto latest = Clock::now() + kLatest;
    while (!connection.is_gone(drip.empty() ? std::chrono::milliseconds(kLatest) : 50ms)) {
        ASSERT_LT(Clock::now(), latest) << "the deadline does not end this connection";
        connection.send_what_fits(drip);
    }
    EXPECT_GE(Clock::now() - earliest, kDeadline);
}

Server server_with(const char* flag) {
    return Server(shared_stub(), {flag, "400ms"});
}

}  // namespace

TEST(HeaderTimeout, EndsAHalfSentHeader) {
    auto server = server_with("--header-timeout");
    const auto start = Clock::now();
    Connection connection(server.port());
    connection.send("GET /health HTTP/1.1\r\n");
    expect_given_up(connection, start);
    EXPECT_EQ(get(server.port(), "/health").status, 200);
}

TEST(HeaderTimeout, EndsADrippingHeader) {
    auto server = server_with("--header-timeout");
    const auto start = Clock::now();
    Connection connection(server.port());
    connection.send("GET /health HTTP/1.1\r\nX: ");
    expect_given_up(connection, start, "x");
}

TEST(HeaderTimeout, LeavesIdleAndBusyConnectionsAlone) {
    auto server = server_with("--header-timeout");
    Connection connection(server.port());
    EXPECT_TRUE(connection.is_silent_for(1s));
    expect_ok(connection.exchange(get_request("/sleep?ms=1000")));
}

TEST(BodyTimeout, EndsAHalfSentBody) {
    auto server = server_with("--body-timeout");
    const auto start = Clock::now();
    Connection connection(server.port());
    connection.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 100\r\n\r\n{");
    expect_given_up(connection, start);
}

TEST(BodyTimeout, EndsADrippingBody) {
    auto server = server_with("--body-timeout");
    const auto start = Clock::now();
    Connection connection(server.port());
    connection.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 60000\r\n\r\n{");
    expect_given_up(connection, start, " ");
}

TEST(IdleTimeout, EndsAFreshConnection) {
    auto server = server_with("--idle-timeout");
    const auto start = Clock::now();
    Connection connection(server.port());
    expect_given_up(connection, start);
}

TEST(IdleTimeout, EndsAKeptConnection) {
    auto server = server_with("--idle-timeout");
    Connection connection(server.port());
    const auto asked = Clock::now();
    expect_ok(connection.exchange(get_request("/sleep?ms=1000")));
    expect_given_up(connection, asked + 1s);
}

TEST(WriteTimeout, EndsAClientThatDoesNotRead) {
    auto server = server_with("--write-timeout");
    Connection connection(server.port());
    const std::string request = get_request("/");
    const auto start = Clock::now();
    // Requests fill the server's sending side until it reads no more, and this side fills up too.
    auto last_progress = start;
    std::string pending;
    while (Clock::now() - last_progress < 3s) {
        ASSERT_LT(Clock::now() - start, kPatience);
        if (pending.empty()) {
            pending = request;
        }
        const auto sent = connection.send_what_fits(pending);
        pending.erase(0, sent);
        if (sent > 0) {
            last_progress = Clock::now();
        } else {
            std::this_thread::sleep_for(1ms);
        }
    }
    // Not `is_gone`: that reads, and a client that reads again is answered again.
    EXPECT_TRUE(connection.is_cut_off(kPatience));
    EXPECT_EQ(get(server.port(), "/health").status, 200);
}

TEST(WriteTimeout, LeavesASlowReaderTime) {
    auto server = server_with("--write-timeout");
    Connection connection(server.port());
    expect_ok(connection.exchange(get_request("/sleep?ms=1000")));
}
