#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

TEST(Wait, AnswersWithTheBodyOfTheDownstreamUnchanged) {
    const auto downstream = get(shared_stub(), "/");
    ASSERT_EQ(downstream.status, 200);
    ASSERT_EQ(downstream.body.size(), 140u);
    expect_json(get(shared_server(), "/wait"), downstream.body);
}

TEST(Wait, TakesAtLeastAsLongAsTheDownstream) {
    Connection connection(shared_server());
    for (int i = 0; i < 10; ++i) {
        const auto start = Clock::now();
        EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
        EXPECT_GE(Clock::now() - start, 20ms);
    }
}

TEST(Wait, HoldsEachKindOfLock) {
    const auto downstream = get(shared_stub(), "/");
    for (const char* lock : {"none", "monitor", "cooperative"}) {
        expect_json(get(shared_server(), std::string("/wait?lock=") + lock), downstream.body);
    }
}

TEST(Wait, RefusesOtherLocks) {
    Connection connection(shared_server());
    for (const char* query : {"lock=mutex", "lock=", "lock", "lock=None", "lock=none&lock=none"}) {
        const auto response = connection.exchange(get_request(std::string("/wait?") + query));
        expect_error(response, 400, "lock");
        expect_kept(connection, response);
    }
}

TEST(Wait, ServesConnectionsSideBySide) {
    constexpr int kConnections = 8;
    std::vector<Connection> connections;
    for (int i = 0; i < kConnections; ++i) {
        connections.emplace_back(shared_server()).send(get_request("/wait"));
    }
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, 200);
    }
}

TEST(Wait, HeadCallsTheDownstreamToo) {
    Connection connection(shared_server());
    const auto start = Clock::now();
    const auto response = connection.exchange(head_request("/wait"), Body::none);
    EXPECT_GE(Clock::now() - start, 20ms);
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Length"), "140");
    expect_kept(connection, response);
}

namespace {

/// Every answer to /wait of a server whose stub fails in this way is this error, and the
/// connection is kept.
void expect_failure(const Flags& stub_flags, int status) {
    Stub stub(stub_flags);
    Server server(stub.port());
    Connection connection(server.port());
    for (int i = 0; i < 3; ++i) {
        const auto response = connection.exchange(get_request("/wait"));
        expect_error(response, status, "downstream");
        expect_kept(connection, response);
    }
}

}  // namespace

TEST(WaitFailure, ResetByTheDownstreamIs502) {
    expect_failure({"--fault", "reset:1"}, 502);
}
TEST(WaitFailure, GarbageFromTheDownstreamIs502) {
    expect_failure({"--fault", "garbage:1"}, 502);
}
TEST(WaitFailure, TruncatedBodyIs502) {
    expect_failure({"--fault", "truncate:1"}, 502);
}
TEST(WaitFailure, ClosedByTheDownstreamIs502) {
    expect_failure({"--fault", "close:1"}, 502);
}
TEST(WaitFailure, ErrorOfTheDownstreamIs502) {
    expect_failure({"--fault", "500:1"}, 502);
}

TEST(WaitFailure, SilenceOfTheDownstreamIs504AfterTheTimeout) {
    Stub stub({"--fault", "stall:1", "--drain-timeout", "50ms"});
    Server server(stub.port(), {"--downstream-timeout", "300ms"});
    Connection connection(server.port());
    const auto start = Clock::now();
    const auto response = connection.exchange(get_request("/wait"));
    EXPECT_GE(Clock::now() - start, 300ms);
    EXPECT_LT(Clock::now() - start, 10s);
    expect_error(response, 504, "downstream");
    expect_kept(connection, response);
    stub.stop(1);  // its stalled request is left
}

TEST(WaitFailure, SlowDownstreamIs504AfterTheTimeout) {
    Stub stub({"--delay", "30s", "--drain-timeout", "50ms"});
    Server server(stub.port(), {"--downstream-timeout", "200ms"});
    const auto start = Clock::now();
    expect_error(get(server.port(), "/wait"), 504, "downstream");
    EXPECT_LT(Clock::now() - start, 20s);
    stub.stop(1);  // its slow request is left
}

TEST(WaitFailure, OccasionalResetsDoNotSpoilOtherAnswers) {
    Stub stub({"--fault", "reset:0.3"});
    Server server(stub.port());
    Connection connection(server.port());
    int good = 0;
    for (int i = 0; i < 40; ++i) {
        const auto response = connection.exchange(get_request("/wait"));
        if (response.status == 200) {
            EXPECT_EQ(response.body.size(), 140u);
            ++good;
        } else {
            expect_error(response, 502, "downstream");
        }
    }
    EXPECT_GT(good, 0);
}

TEST(WaitFailure, AbsentDownstreamIs502AtOnceUntilItAppears) {
    const Port port = unused_port();
    Server server(port);
    Connection connection(server.port());
    for (int i = 0; i < 3; ++i) {
        const auto start = Clock::now();
        expect_error(connection.exchange(get_request("/wait")), 502, "downstream");
        EXPECT_LT(Clock::now() - start, 5s);
    }
    Stub stub({"--port", std::to_string(port)});
    EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
}

TEST(WaitFailure, RestartedDownstreamIsFoundAgain) {
    auto stub = std::make_unique<Stub>();
    const Flags same_port{"--port", std::to_string(stub->port())};
    Server server(stub->port());
    Connection connection(server.port());
    EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
    stub.reset();
    expect_error(connection.exchange(get_request("/wait")), 502, "downstream");
    stub = std::make_unique<Stub>(same_port);
    // The connection kept from before is dead; the server must not give it to a request.
    EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
    stub.reset();
    stub = std::make_unique<Stub>(same_port);
    EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
}

TEST(WaitFailure, ClientsThatGoAwayWhileWaitingLeaveNothingBehind) {
    Stub stub;
    Server server(stub.port());
    for (int i = 0; i < 10; ++i) {
        Connection connection(server.port());
        connection.send(get_request("/wait"));
        std::this_thread::sleep_for(5ms);
        connection.reset();
    }
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
}
