#include <signal.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kConnections = 16;

/// What became of the requests of one connection.
struct Tally {
    int answered = 0;
    int lost = 0;      ///< written in full before the signal, yet not answered properly
    int too_late = 0;  ///< written after the signal: may be answered or not
};

/// Sends one request after the other until the server ends the connection.
Tally load(Port port, const std::string& request, const std::atomic<bool>& signalled) {
    Tally tally;
    Connection connection(port);
    while (true) {
        bool before_signal = false;
        try {
            connection.send(request);
            before_signal = !signalled;
            const auto response = connection.receive();
            if (response.status != 200) {
                throw std::runtime_error("status " + std::to_string(response.status));
            }
            ++tally.answered;
            if (response.says_close()) {
                return tally;
            }
        } catch (const std::runtime_error& error) {
            if (before_signal) {
                ADD_FAILURE() << error.what();
                ++tally.lost;
            } else {
                ++tally.too_late;
            }
            return tally;
        }
    }
}

/// Stops the server with this signal while connections send these requests.
void expect_no_loss(const std::string& request, int signal_number) {
    Stub stub;
    Server server(stub.port());
    std::atomic<bool> signalled = false;
    std::vector<Tally> tallies(kConnections);
    std::vector<std::thread> clients;
    for (Tally& tally : tallies) {
        clients.emplace_back([&] { tally = load(server.port(), request, signalled); });
    }
    std::this_thread::sleep_for(2s);
    signalled = true;
    server.process().signal(signal_number);
    for (std::thread& client : clients) {
        client.join();
    }
    server.expect_exit(0);
    int answered = 0;
    for (const Tally& tally : tallies) {
        answered += tally.answered;
        EXPECT_EQ(tally.lost, 0);
    }
    EXPECT_GE(answered, kConnections);
}

}  // namespace

TEST(Drain, IdleServerExitsWith0) {
    for (const int number : {SIGTERM, SIGINT}) {
        Server server(shared_stub());
        server.process().signal(number);
        server.expect_exit(0);
    }
}

TEST(Drain, IdleStubExitsWith0) {
    Stub stub;
    Connection connection(stub.port());
    EXPECT_EQ(connection.exchange(get_request("/")).status, 200);
    stub.process().signal(SIGTERM);
    EXPECT_TRUE(connection.ends());
    stub.expect_exit(0);
}

TEST(Drain, ClosesIdleConnections) {
    Server server(shared_stub());
    Connection fresh(server.port());
    Connection used(server.port());
    EXPECT_EQ(used.exchange(get_request("/wait")).status, 200);
    server.process().signal(SIGTERM);
    EXPECT_TRUE(fresh.ends());
    EXPECT_TRUE(used.ends());
    server.expect_exit(0);
}

TEST(Drain, UnderLoadLosesNoEcho) {
    expect_no_loss(post_request("/echo", R"({"id":1,"name":"a"})"), SIGTERM);
}
TEST(Drain, UnderLoadLosesNoHealth) {
    expect_no_loss(get_request("/health"), SIGTERM);
}
TEST(Drain, UnderLoadLosesNoWait) {
    expect_no_loss(get_request("/wait"), SIGTERM);
}
TEST(Drain, UnderLoadLosesNoSleepOnSigint) {
    expect_no_loss(get_request("/sleep?ms=5"), SIGINT);
}

TEST(Drain, AnswersWhatTheAcceptQueueAndTheSocketsHold) {
    // A second that blocks one loop or worker lets requests and connections pile up.
    Server server(shared_stub());
    std::vector<Connection> connections;
    for (int i = 0; i < kConnections; ++i) {
        connections.emplace_back(server.port()).send(get_request("/block?ms=300"));
    }
    for (int i = 0; i < kConnections; ++i) {
        connections.emplace_back(server.port()).send(get_request("/sleep?ms=10"));
    }
    server.process().signal(SIGTERM);
    for (Connection& connection : connections) {
        const auto response = connection.receive();
        expect_ok(response);
        expect_closed(connection, response);
    }
    server.expect_exit(0);
}

TEST(Drain, AnswersPipelinedRequestsAndClosesAfterTheLast) {
    Server server(shared_stub());
    Connection connection(server.port());
    connection.send(get_request("/sleep?ms=300") + get_request("/wait") + get_request("/health"));
    std::this_thread::sleep_for(50ms);
    server.process().signal(SIGTERM);
    EXPECT_EQ(connection.receive().status, 200);
    EXPECT_EQ(connection.receive().status, 200);
    const auto last = connection.receive();
    EXPECT_EQ(last.status, 200);
    expect_closed(connection, last);
    server.expect_exit(0);
}

TEST(Drain, AnswersADeepPipelineToItsEnd) {
    Server server(shared_stub());
    Connection connection(server.port());
    constexpr int kRequests = 300;
    std::string requests = get_request("/sleep?ms=400");
    for (int n = 0; n < kRequests; ++n) {
        requests += get_request("/health");
    }
    connection.send(requests);
    std::this_thread::sleep_for(100ms);
    server.process().signal(SIGTERM);
    expect_ok(connection.receive());
    for (int n = 1; n < kRequests; ++n) {
        const auto response = connection.receive();
        ASSERT_EQ(response.status, 200) << n;
        ASSERT_FALSE(response.says_close()) << n;
    }
    expect_closed(connection, connection.receive());
    server.expect_exit(0);
}

TEST(Drain, TasksThatHaveNotBegunDoNotHoldItUp) {
    Server server(shared_stub(), {"--drain-timeout", "300ms"});
    Connection connection(server.port());
    connection.send(get_request("/tasks?count=1000000&sleep_ms=100"));
    std::this_thread::sleep_for(200ms);
    server.process().signal(SIGTERM);
    server.expect_exit(1);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
    // A sanitized server is too slow to end the hundred thousand that have begun.
    EXPECT_EQ(connection.receive().status, 503);
#endif
}

TEST(Drain, AnswersWhatTheSocketOfABusyConnectionHolds) {
    Server server(shared_stub());
    Connection connection(server.port());
    connection.send(get_request("/sleep?ms=500"));
    std::this_thread::sleep_for(150ms);  // so that the next one stays in the socket, unread
    connection.send(get_request("/sleep?ms=1"));
    std::this_thread::sleep_for(50ms);
    server.process().signal(SIGTERM);
    expect_ok(connection.receive());
    const auto last = connection.receive();
    expect_ok(last);
    expect_closed(connection, last);
    server.expect_exit(0);
}

TEST(Drain, StillCalibrates) {
    Server server(shared_stub());
    Connection connection(server.port());
    connection.send(get_request("/sleep?ms=200") + get_request("/cpu"));
    std::this_thread::sleep_for(50ms);
    server.process().signal(SIGTERM);
    expect_ok(connection.receive());
    EXPECT_EQ(connection.receive().status, 200);
    server.expect_exit(0);
}

TEST(Drain, IsNotHeldUpByAClientThatClosesLate) {
    Server server(shared_stub(), {"--drain-timeout", "300ms"});
    Connection connection(server.port());
    connection.send(get_request("/sleep?ms=100"));
    std::this_thread::sleep_for(50ms);
    server.process().signal(SIGTERM);
    expect_ok(connection.receive());
    server.expect_exit(0);
}

TEST(Drain, AnswersAHalfSentRequestWith503AtItsTimeout) {
    Server server(shared_stub(), {"--drain-timeout", "300ms"});
    Connection connection(server.port());
    connection.send("GET /hea");
    std::this_thread::sleep_for(50ms);
    server.process().signal(SIGTERM);
    EXPECT_EQ(connection.receive().status, 503);
    server.expect_exit(1);
}

TEST(Drain, AcceptsNobodyElse) {
    Server server(shared_stub());
    Connection busy(server.port());
    busy.send(get_request("/sleep?ms=1500"));
    std::this_thread::sleep_for(100ms);
    server.process().signal(SIGTERM);
    const auto deadline = Clock::now() + 10s;
    while (is_listening(server.port()) && Clock::now() < deadline) {
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_FALSE(is_listening(server.port()));
    const auto response = busy.receive();
    expect_ok(response);
    expect_closed(busy, response);
    server.expect_exit(0);
}

TEST(Drain, EndsAtItsTimeoutWithStatus1) {
    Server server(shared_stub(), {"--drain-timeout", "300ms"});
    Connection sleeping(server.port());
    Connection blocked(server.port());
    sleeping.send(get_request("/sleep?ms=60000"));
    blocked.send(get_request("/block?ms=60000"));
    std::this_thread::sleep_for(200ms);
    const auto start = Clock::now();
    server.process().signal(SIGTERM);
    server.expect_exit(1);
    EXPECT_GE(Clock::now() - start, 250ms);
    EXPECT_LT(Clock::now() - start, 20s);
    EXPECT_EQ(sleeping.receive().status, 503);
    EXPECT_TRUE(sleeping.is_gone());
    EXPECT_TRUE(blocked.is_gone());
}

TEST(Drain, WaitsForAStalledDownstreamNoLongerThanItsTimeout) {
    Stub stub({"--fault", "stall:1", "--drain-timeout", "50ms"});
    Server server(stub.port(), {"--drain-timeout", "300ms"});
    Connection connection(server.port());
    connection.send(get_request("/wait"));
    std::this_thread::sleep_for(200ms);
    server.process().signal(SIGTERM);
    server.expect_exit(1);
    stub.stop(1);
}

TEST(Drain, SecondSignalEndsItAtOnce) {
    Server server(shared_stub(), {"--drain-timeout", "60s"});
    Connection connection(server.port());
    connection.send(get_request("/sleep?ms=60000"));
    std::this_thread::sleep_for(100ms);
    server.process().signal(SIGTERM);
    EXPECT_FALSE(server.process().wait(300ms)) << "it waits for nobody";
    server.process().signal(SIGTERM);
    const auto status = server.process().wait(10s);
    EXPECT_TRUE(status) << "a second signal does not end it";
    server.expect_exit(1);
}
