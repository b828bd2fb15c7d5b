// What only the stackless server shows: few threads, and what blocking one of them does.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "client/programs.hpp"

using namespace std::chrono_literals;
using client::Connection;
using client::get;
using client::get_request;
using Clock = std::chrono::steady_clock;

namespace {

/// Long enough for a request to reach its loop on a busy machine.
constexpr auto kArrival = 200ms;

/// A number of /proc/PID/status; memory is in KiB there.
std::size_t process_status(client::Server& server, const std::string& name) {
    std::ifstream status("/proc/" + std::to_string(server.process().pid()) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) {
            return std::stoul(line.substr(name.size() + 1));
        }
    }
    ADD_FAILURE() << "no " << name;
    return 0;
}

/// Connections that have been dealt: round-robin, so that with two loops the third one shares the
/// first one's.
std::vector<Connection> dealt_connections(client::Port port, int count) {
    std::vector<Connection> connections;
    for (int n = 0; n < count; ++n) {
        connections.emplace_back(port);
        EXPECT_EQ(connections.back().exchange(get_request("/health")).status, 200);
    }
    return connections;
}

TEST(StacklessServer, RefusesToRunWithoutThreads) {
    client::Process process({client::programs().server, "--threads", "0"});
    EXPECT_EQ(process.wait(), 2);
}

TEST(StacklessServer, BlockingStopsItsLoopAndNoOther) {
    client::Server server(client::unused_port(), {"--threads", "2"});
    auto connections = dealt_connections(server.port(), 3);
    connections[0].send(get_request("/block?ms=3000"));
    std::this_thread::sleep_for(kArrival);
    EXPECT_EQ(connections[1].exchange(get_request("/health")).status, 200);
    connections[2].send(get_request("/health"));
    EXPECT_TRUE(connections[2].is_silent_for(500ms));
    EXPECT_EQ(connections[2].receive().status, 200);
    EXPECT_EQ(connections[0].receive().status, 200);
}

TEST(StacklessServer, ASecondBlockWaitsBehindTheFirstOnOneThread) {
    client::Server server(client::unused_port(), {"--threads", "1"});
    auto connections = dealt_connections(server.port(), 2);
    const auto start = Clock::now();
    for (Connection& connection : connections) {
        connection.send(get_request("/block?ms=600"));
    }
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, 200);
    }
    EXPECT_GE(Clock::now() - start, 2 * 600ms) << "the two blocks overlapped";
}

TEST(StacklessServer, HealthIsSilentWhileEveryLoopIsBlockedAndAnswersAfterwards) {
    client::Server server(client::unused_port(), {"--threads", "2"});
    auto connections = dealt_connections(server.port(), 4);
    connections[0].send(get_request("/block?ms=3000"));
    connections[1].send(get_request("/block?ms=3000"));
    std::this_thread::sleep_for(kArrival);
    connections[2].send(get_request("/health"));
    connections[3].send(get_request("/health"));
    EXPECT_TRUE(connections[2].is_silent_for(500ms));
    EXPECT_TRUE(connections[3].is_silent_for(0ms));
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, 200);
    }
}

// The sweep finds deadlines that passed while the loop was blocked; what arrived meanwhile counts.
TEST(StacklessServer, ABlockedLoopExpiresNobodyWrongly) {
    client::Stub stub({"--delay", "500ms"});
    client::Server server(stub.port(), {"--threads", "1", "--header-timeout", "3s",
                                        "--idle-timeout", "3s", "--downstream-timeout", "3s"});
    auto connections = dealt_connections(server.port(), 4);
    Connection& idle = connections[0];
    Connection& half_sent = connections[1];
    Connection& waiting = connections[2];
    Connection& blocker = connections[3];
    const std::string request = get_request("/wait");
    half_sent.send(request.substr(0, 10));
    waiting.send(request);
    std::this_thread::sleep_for(kArrival);
    blocker.send(get_request("/block?ms=4000"));
    std::this_thread::sleep_for(kArrival);
    half_sent.send(request.substr(10));
    idle.send(request);
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, 200);
    }
}

TEST(StacklessServer, ManyTasksLeaveRoomForOthers) {
    client::Server server(client::unused_port());
    Connection tasks(server.port());
    Connection other(server.port());
    tasks.send(get_request("/tasks?count=100000&sleep_ms=3000"));
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(other.exchange(get_request("/health")).status, 200);
    }
    EXPECT_TRUE(tasks.is_silent_for(1ms)) << "the tasks must still run, or this shows nothing";
    EXPECT_EQ(tasks.receive().status, 200);
}

TEST(StacklessServer, NeedsNoThreadForAConnectionOrATask) {
    client::Stub stub({"--delay", "1s"});
    client::Server server(stub.port(), {"--threads", "3"});
    auto waiting = dealt_connections(server.port(), 100);
    Connection tasks(server.port());
    tasks.send(get_request("/tasks?count=100000&sleep_ms=1"));
    for (Connection& connection : waiting) {
        connection.send(get_request("/wait"));
    }
    std::size_t most_threads = 0;
    for (Connection& connection : waiting) {
        most_threads = std::max(most_threads, process_status(server, "Threads"));
        EXPECT_EQ(connection.receive().status, 200);
    }
    EXPECT_EQ(tasks.receive().status, 200);
    most_threads = std::max(most_threads, process_status(server, "Threads"));
    EXPECT_GE(most_threads, 3u);
    EXPECT_LE(most_threads, 3u + 6);
}

TEST(StacklessServer, HasAsManyThreadsAsCpusAndAFewMore) {
    client::Server server(client::unused_port());
    EXPECT_EQ(get(server.port(), "/cpu?iterations=1").status, 200);
    EXPECT_LE(process_status(server, "Threads"), std::thread::hardware_concurrency() + 6);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The allocator keeps what the frames took (nearly nothing goes back to the system), so what can be
// asked is that a task is small, and that the memory of ended tasks is used again.
TEST(StacklessServer, ATaskIsSmallAndItsMemoryIsUsedAgain) {
    constexpr std::size_t kMebibyte = 1024;
    const std::string target = "/tasks?count=100000&sleep_ms=1000";
    client::Server server(client::unused_port());
    const std::size_t empty_kib = process_status(server, "VmRSS");
    EXPECT_EQ(get(server.port(), target).status, 200);
    EXPECT_EQ(get(server.port(), target).status, 200);
    const std::size_t peak_kib = process_status(server, "VmHWM");
    EXPECT_LT(peak_kib - empty_kib, 200 * kMebibyte) << "2 KiB a task";
    EXPECT_GT(peak_kib - empty_kib, 20 * kMebibyte) << "they did not sleep at once";
    for (int turn = 0; turn < 2; ++turn) {
        EXPECT_EQ(get(server.port(), target).status, 200);
    }
    EXPECT_LT(process_status(server, "VmHWM"), peak_kib + 20 * kMebibyte);
    EXPECT_EQ(get(server.port(), "/tasks?count=100000&sleep_ms=1").status, 200);
    EXPECT_LE(process_status(server, "VmRSS"), peak_kib + 20 * kMebibyte);
}

#endif

TEST(StacklessServer, SleepsCallsAndTasksAnswer503WhenTheDrainIsOver) {
    client::Stub stub({"--delay", "60s", "--drain-timeout", "50ms"});
    client::Server server(stub.port(), {"--drain-timeout", "300ms"});
    auto connections = dealt_connections(server.port(), 3);
    connections[0].send(get_request("/sleep?ms=60000"));
    connections[1].send(get_request("/wait"));
    connections[2].send(get_request("/tasks?count=100&sleep_ms=60000"));
    std::this_thread::sleep_for(kArrival);
    server.process().signal(SIGTERM);
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, 503);
    }
    server.expect_exit(1);
    stub.stop(1);
}

}  // namespace
