#include <openssl/sha.h>

#include <chrono>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

/// The chain of GET /cpu, computed here with another of OpenSSL's interfaces.
std::string digest_of(std::uint64_t iterations) {
    const std::string start = "waitbench";
    unsigned char digest[SHA256_DIGEST_LENGTH];
    SHA256(reinterpret_cast<const unsigned char*>(start.data()), start.size(), digest);
    for (std::uint64_t i = 1; i < iterations; ++i) {
        SHA256(digest, sizeof digest, digest);
    }
    std::string hex;
    for (const unsigned char byte : digest) {
        constexpr auto kDigits = "0123456789abcdef";
        hex += kDigits[byte >> 4];
        hex += kDigits[byte & 15];
    }
    return hex;
}

std::string cpu_answer(std::uint64_t iterations) {
    return "{\"iterations\":" + std::to_string(iterations) + ",\"digest\":\"" +
           digest_of(iterations) + "\"}";
}

}  // namespace

TEST(Cpu, FirstDigestIsTheWellKnownOne) {
    expect_json(get(shared_server(), "/cpu?iterations=1"),
                R"({"iterations":1,"digest":)"
                R"("0ef854c0ae5f4f8c23c4cf2cfae09dc206629846b917210b565b60283840fff2"})");
}

TEST(Cpu, ChainsDigests) {
    for (const std::uint64_t iterations : {2, 3, 1000, 100'000}) {
        expect_json(get(shared_server(), "/cpu?iterations=" + std::to_string(iterations)),
                    cpu_answer(iterations));
    }
}

TEST(Cpu, TakesItsDefaultFromTheFlag) {
    Server server(shared_stub(), {"--cpu-iterations", "123"});
    expect_json(get(server.port(), "/cpu"), cpu_answer(123));
    expect_json(get(server.port(), "/cpu?iterations=7"), cpu_answer(7));
}

TEST(Cpu, CalibratesItsDefaultOnce) {
    Server server(shared_stub());
    constexpr int kConnections = 4;
    std::vector<Connection> connections;
    for (int i = 0; i < kConnections; ++i) {
        connections.emplace_back(server.port()).send(get_request("/cpu"));
    }
    const auto first = connections[0].receive();
    EXPECT_EQ(first.status, 200);
    const auto iterations = nlohmann::json::parse(first.body)["iterations"].get<std::uint64_t>();
    expect_json(first, cpu_answer(iterations));
    for (int i = 1; i < kConnections; ++i) {
        expect_json(connections[static_cast<std::size_t>(i)].receive(), first.body);
    }
    expect_json(get(server.port(), "/cpu"), first.body);
}

TEST(Cpu, DoesTheLargestWork) {
    const auto response = get(shared_server(), "/cpu?iterations=10000000");
    EXPECT_EQ(response.status, 200);
    EXPECT_TRUE(response.body.starts_with(R"({"iterations":10000000,"digest":")"));
}

TEST(Sleep, WaitsAndAnswersOk) {
    const auto start = Clock::now();
    expect_ok(get(shared_server(), "/sleep?ms=50"));
    EXPECT_GE(Clock::now() - start, 50ms);
    expect_ok(get(shared_server(), "/sleep?ms=0"));
}

TEST(Sleep, ShorterOnesOvertakeLongerOnes) {
    Connection slow(shared_server());
    Connection fast(shared_server());
    slow.send(get_request("/sleep?ms=1000"));
    fast.send(get_request("/sleep?ms=10"));
    expect_ok(fast.receive());
    EXPECT_TRUE(slow.is_silent_for(50ms));
    expect_ok(slow.receive());
}

TEST(Block, BlocksAndAnswersOk) {
    const auto start = Clock::now();
    expect_ok(get(shared_server(), "/block?ms=50"));
    EXPECT_GE(Clock::now() - start, 50ms);
    expect_ok(get(shared_server(), "/block?ms=0"));
}

namespace {

void expect_tasks(const Response& response, std::int64_t count, std::int64_t sleep_ms) {
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Type"), "application/json");
    const std::string start = "{\"count\":" + std::to_string(count) +
                              ",\"sleep_ms\":" + std::to_string(sleep_ms) + ",\"elapsed_ms\":";
    EXPECT_TRUE(response.body.starts_with(start)) << response.body;
    const auto json = nlohmann::json::parse(response.body, nullptr, false);
    ASSERT_TRUE(json.is_object() && json.size() == 3) << response.body;
    EXPECT_GE(json["elapsed_ms"].get<std::int64_t>(), count == 0 ? 0 : sleep_ms);
}

}  // namespace

TEST(Tasks, StartsThemAndWaitsForAll) {
    const auto start = Clock::now();
    expect_tasks(get(shared_server(), "/tasks?count=1&sleep_ms=30"), 1, 30);
    EXPECT_GE(Clock::now() - start, 30ms);
    expect_tasks(get(shared_server(), "/tasks?count=200&sleep_ms=5"), 200, 5);
    expect_tasks(get(shared_server(), "/tasks?sleep_ms=0&count=1000"), 1000, 0);
}

TEST(Tasks, NoneAreDoneAtOnce) {
    expect_tasks(get(shared_server(), "/tasks?count=0&sleep_ms=60000"), 0, 60'000);
}

TEST(Tasks, SeveralBatchesAtOnceEnd) {
    std::vector<Connection> connections;
    for (int i = 0; i < 6; ++i) {
        connections.emplace_back(shared_server()).send(get_request("/tasks?count=50&sleep_ms=5"));
    }
    for (Connection& connection : connections) {
        expect_tasks(connection.receive(), 50, 5);
    }
}

TEST(Tasks, DoNotStopTheServerMeanwhile) {
    Connection connection(shared_server());
    connection.send(get_request("/tasks?count=2&sleep_ms=2500"));
    EXPECT_EQ(get(shared_server(), "/health").status, 200);
    EXPECT_TRUE(connection.is_silent_for(0ms));
    expect_tasks(connection.receive(), 2, 2500);
}

TEST(Tasks, ClientThatGoesAwayLeavesNothingBehind) {
    Server server(shared_stub());
    Connection connection(server.port());
    connection.send(get_request("/tasks?count=100&sleep_ms=10"));
    std::this_thread::sleep_for(10ms);
    connection.reset();
    expect_tasks(get(server.port(), "/tasks?count=10&sleep_ms=10"), 10, 10);
}
