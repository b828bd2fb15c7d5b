// What only the stackful server has: its flags, seen from outside.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <thread>
#include <vector>

#include "client/programs.hpp"

using namespace std::chrono_literals;
using client::get;

namespace {

int exit_status(std::vector<std::string> flags) {
    flags.insert(flags.begin(), client::programs().server);
    client::Process process(flags);
    return process.wait().value_or(-1);
}

std::size_t occurrences(const std::string& text, const std::string& part) {
    std::size_t count = 0;
    for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
        ++count;
    }
    return count;
}

TEST(StackfulServer, RefusesFlagsThatDoNotFitTogether) {
    EXPECT_EQ(exit_status({"--carriers", "4", "--max-carriers", "3"}), 2);
    EXPECT_EQ(exit_status({"--stack-size", "1KiB"}), 2);
    EXPECT_EQ(exit_status({"--front-end", "none"}), 2);
    EXPECT_EQ(exit_status({"--trace-pinned", "--stack-size", "16KiB"}), 2);
}

TEST(StackfulServer, TracesEachPinnedPlaceOnce) {
    client::Stub stub;
    client::Server server(stub.port(), {"--trace-pinned", "--carriers", "1"});
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(get(server.port(), "/wait?lock=monitor").status, 200);
    }
    server.stop();
    const std::string log = server.process().standard_error();
    EXPECT_NE(log.find("blocking::Downstream::get"), std::string::npos) << log;
    // Twice: where it connects, and where it reads.
    EXPECT_LE(occurrences(log, "blocks its carrier here"), 3u) << log;
    EXPECT_GE(occurrences(log, "blocks its carrier here"), 1u) << log;
}

TEST(StackfulServer, SaysNothingOfParkedFibers) {
    client::Stub stub;
    client::Server server(stub.port(), {"--trace-pinned"});
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
    EXPECT_EQ(get(server.port(), "/wait?lock=cooperative").status, 200);
    server.stop();
    EXPECT_EQ(occurrences(server.process().standard_error(), "blocks its carrier"), 0u);
}

TEST(StackfulServer, AnswersOnEverySchedulerWhileOneCarrierIsPinned) {
    client::Stub stub({"--delay", "5s"});
    client::Server server(stub.port(), {"--carriers", "2", "--max-carriers", "2"});
    client::Connection pinned(server.port());
    pinned.send(client::get_request("/wait?lock=monitor"));
    std::this_thread::sleep_for(200ms);
    const auto start = std::chrono::steady_clock::now();
    for (int turn = 0; turn < 4; ++turn) {
        EXPECT_EQ(get(server.port(), "/sleep?ms=1").status, 200);
    }
    EXPECT_LT(std::chrono::steady_clock::now() - start, 2s);
    EXPECT_EQ(pinned.receive().status, 200);
}

// Fibers move between carriers all the time; every connection gets its answers.
TEST(StackfulServer, StarvesNobodyWhenMorePinThanThereAreCarriers) {
    client::Stub stub({"--delay", "2ms"});
    client::Server server(stub.port(), {"--carriers", "2", "--max-carriers", "3"});
    std::vector<std::thread> clients;
    std::atomic<int> answers = 0;
    for (int i = 0; i < 12; ++i) {
        clients.emplace_back([&, i] {
            client::Connection connection(server.port());
            for (int turn = 0; turn < 20; ++turn) {
                const bool pins = (i + turn) % 3 != 0;
                const auto request = client::get_request(pins ? "/wait?lock=monitor" : "/wait");
                answers += connection.exchange(request).status == 200;
            }
        });
    }
    for (std::thread& each : clients) {
        each.join();
    }
    EXPECT_EQ(answers, 12 * 20);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// The least stack that is allowed is enough for the trace.
TEST(StackfulServer, TracesOnTheSmallestStack) {
    client::Stub stub;
    client::Server server(stub.port(), {"--trace-pinned", "--stack-size", "32KiB"});
    EXPECT_EQ(get(server.port(), "/wait?lock=monitor").status, 200);
}

/// A line of /proc/PID/status, in MiB.
std::size_t memory_mib(pid_t pid, const std::string& name) {
    std::ifstream status("/proc/" + std::to_string(pid) + "/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with(name + ":")) {
            return std::stoul(line.substr(name.size() + 1)) / 1024;
        }
    }
    return 0;
}

TEST(StackfulServer, SleepsAHundredThousandFibersInAGibibyteAndLetsGo) {
    client::Server server(client::unused_port());
    EXPECT_EQ(get(server.port(), "/tasks?count=100000&sleep_ms=3000").status, 200);
    const pid_t pid = server.process().pid();
    EXPECT_LT(memory_mib(pid, "VmHWM"), 1024u);
    EXPECT_GT(memory_mib(pid, "VmHWM"), 20u);
    // A little at every sweep, also when nobody is connected.
    for (int look = 0; look < 600 && memory_mib(pid, "VmRSS") >= 100; ++look) {
        std::this_thread::sleep_for(100ms);
    }
    EXPECT_LT(memory_mib(pid, "VmRSS"), 100u);
}

#endif

TEST(StackfulServer, ServesTheSameBehindTheConnector) {
    client::Stub stub;
    client::Server server(stub.port(), {"--front-end", "connector"});
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
    EXPECT_EQ(get(server.port(), "/wait?lock=monitor").status, 200);
    EXPECT_EQ(get(server.port(), "/tasks?count=100&sleep_ms=1").status, 200);
    EXPECT_EQ(get(server.port(), "/health").body, R"({"status":"ok","model":"stackful"})");
}

TEST(StackfulServer, ServesUnderMprotectGuards) {
    client::Stub stub;
    client::Server server(stub.port(), {"--guard", "mprotect"});
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
    EXPECT_EQ(get(server.port(), "/tasks?count=2000&sleep_ms=20").status, 200);
}

}  // namespace
