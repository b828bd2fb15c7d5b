// What only the stackful server has: its flags, seen from outside.
#include <gtest/gtest.h>

#include <chrono>
#include <thread>

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
