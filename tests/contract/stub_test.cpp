#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

/// What the stub does to one request: a whole answer's status, or how it fails to give one.
std::string outcome(Port port, std::string_view target) {
    Connection connection(port);
    connection.send(get_request(target));
    try {
        const auto response = connection.receive();
        return std::to_string(response.status);
    } catch (const std::runtime_error& error) {
        const std::string_view text = error.what();
        for (const char* kind : {"Connection reset", "end of stream", "malformed response"}) {
            if (text.find(kind) != text.npos) {
                return kind;
            }
        }
        return std::string(text);
    }
}

}  // namespace

TEST(Stub, AnswersWith140BytesOfJson) {
    Connection connection(shared_stub());
    const auto response = connection.exchange(get_request("/"));
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Type"), "application/json");
    EXPECT_EQ(response.body.size(), 140u);
    EXPECT_TRUE(nlohmann::json::accept(response.body));
    expect_kept(connection, response);
}

TEST(Stub, NeverAnswersBeforeItsDelay) {
    Connection connection(shared_stub());
    for (int i = 0; i < 30; ++i) {
        const auto start = Clock::now();
        EXPECT_EQ(connection.exchange(get_request("/")).status, 200);
        EXPECT_GE(Clock::now() - start, 20ms);
    }
}

TEST(Stub, TakesDelayAndSizeFromFlags) {
    Stub stub({"--delay", "100ms", "--body-bytes", "1000"});
    const auto start = Clock::now();
    const auto response = get(stub.port(), "/");
    EXPECT_GE(Clock::now() - start, 100ms);
    EXPECT_EQ(response.body.size(), 1000u);
    EXPECT_TRUE(nlohmann::json::accept(response.body));
}

TEST(Stub, JitterOnlyAdds) {
    Stub stub({"--delay", "10ms", "--jitter", "10ms"});
    for (int i = 0; i < 20; ++i) {
        const auto start = Clock::now();
        EXPECT_EQ(get(stub.port(), "/").status, 200);
        EXPECT_GE(Clock::now() - start, 10ms);
    }
}

TEST(Stub, DelaysRequestsSideBySide) {
    Stub stub({"--delay", "500ms"});
    const auto start = Clock::now();
    std::vector<Connection> connections;
    for (int i = 0; i < 50; ++i) {
        connections.emplace_back(stub.port()).send(get_request("/"));
    }
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, 200);
    }
    // One after the other they would take 25 s.
    EXPECT_LT(Clock::now() - start, 10s);
}

TEST(Stub, AnswersPipelinedRequestsInOrder) {
    Connection connection(shared_stub());
    connection.send(get_request("/") + get_request("/health") + get_request("/") +
                    get_request("/?fault=500"));
    EXPECT_EQ(connection.receive().body.size(), 140u);
    EXPECT_EQ(nlohmann::json::parse(connection.receive().body)["status"], "ok");
    EXPECT_EQ(connection.receive().body.size(), 140u);
    EXPECT_EQ(connection.receive().status, 500);
}

TEST(Stub, HealthAndMetricsAreNotDelayed) {
    Stub stub({"--delay", "30s", "--drain-timeout", "50ms"});
    Connection slow(stub.port());
    slow.send(get_request("/"));
    const auto start = Clock::now();
    EXPECT_EQ(get(stub.port(), "/health").status, 200);
    const auto metrics = get(stub.port(), "/metrics");
    EXPECT_EQ(metrics.status, 200);
    EXPECT_NE(metrics.body.find("waitbench_"), std::string::npos);
    EXPECT_LT(Clock::now() - start, 10s);
    EXPECT_TRUE(slow.is_silent_for(0ms));
    stub.stop(1);  // the slow request is left
}

TEST(Stub, CountsWhatItAnswers) {
    Stub stub({"--delay", "1ms"});
    for (int i = 0; i < 5; ++i) {
        EXPECT_EQ(get(stub.port(), "/").status, 200);
    }
    const auto text = get(stub.port(), "/metrics").body;
    EXPECT_NE(text.find("waitbench_requests_total{endpoint=\"downstream\",status=\"200\"} 5\n"),
              std::string::npos)
        << text;
}

TEST(StubFaults, AreChosenByTheRequest) {
    Stub stub({"--drain-timeout", "50ms"});
    const Port port = stub.port();
    EXPECT_EQ(outcome(port, "/?fault=reset"), "Connection reset");
    EXPECT_EQ(outcome(port, "/?fault=close"), "end of stream");
    EXPECT_EQ(outcome(port, "/?fault=truncate"), "end of stream");
    EXPECT_EQ(outcome(port, "/?fault=garbage"), "malformed response");
    EXPECT_EQ(outcome(port, "/?fault=500"), "500");
    Connection stalled(port);
    stalled.send(get_request("/?fault=stall"));
    EXPECT_TRUE(stalled.is_silent_for(300ms));
    EXPECT_EQ(outcome(port, "/"), "200");
    stub.stop(1);  // the stalled request is left
}

TEST(StubFaults, AreChosenByRate) {
    Stub stub({"--delay", "1ms", "--fault", "500:0.5"});
    int faults = 0;
    constexpr int kRequests = 200;
    Connection connection(stub.port());
    for (int i = 0; i < kRequests; ++i) {
        faults += connection.exchange(get_request("/")).status == 500 ? 1 : 0;
    }
    // Nine standard deviations: 0.5 +- 0.32.
    EXPECT_GT(faults, kRequests / 6);
    EXPECT_LT(faults, kRequests * 5 / 6);
    EXPECT_EQ(get(stub.port(), "/health").status, 200);
}

TEST(Stub, SurvivesBadInput) {
    for (const std::string_view bytes :
         {"\r\n\r\n\r\n", "garbage\r\n\r\n", "GET / HTTP/9.9\r\n\r\n", "GET /\r\n\r\n"}) {
        Connection connection(shared_stub());
        connection.send(bytes);
        connection.finish_sending();
        EXPECT_TRUE(connection.is_gone());
    }
    Connection connection(shared_stub());
    connection.send(std::string(100'000, 'x'));
    EXPECT_TRUE(connection.is_gone());
    for (int i = 0; i < 20; ++i) {
        Connection left_alone(shared_stub());
        left_alone.send(get_request("/"));
        left_alone.reset();
    }
    EXPECT_EQ(get(shared_stub(), "/").status, 200);
}

TEST(Stub, UnknownFaultAndPathAreErrors) {
    EXPECT_EQ(get(shared_stub(), "/?fault=dance").status, 400);
    EXPECT_EQ(get(shared_stub(), "/nowhere").status, 404);
}
