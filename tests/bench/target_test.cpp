#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "bench/sample/connections.hpp"
#include "bench/sample/process.hpp"
#include "bench/statistics/statistics.hpp"
#include "bench/target/child.hpp"
#include "bench/target/client.hpp"

using namespace bench::target;
using namespace std::chrono_literals;

namespace {

class Target : public testing::Test {
  protected:
    Target() { std::filesystem::create_directories(folder_); }
    ~Target() override { std::filesystem::remove_all(folder_); }

    bool gone(pid_t pid) const {
        for (int i = 0; i < 200; ++i) {
            if (kill(pid, 0) != 0 && errno == ESRCH) {
                return true;
            }
            std::this_thread::sleep_for(10ms);
        }
        return false;
    }

    const std::filesystem::path folder_ =
        std::filesystem::temp_directory_path() / ("test_bench." + std::to_string(getpid()));
};

TEST_F(Target, ListeningLine) {
    EXPECT_EQ(parse_listening_line("server_stackful listening on 127.0.0.1:8081\n"), 8081);
    EXPECT_EQ(parse_listening_line("server_stackful listening on 127.0.0.1:80"), 0);
    EXPECT_EQ(parse_listening_line(""), 0);
}

TEST_F(Target, AProgramThatIsMissingIsSaid) {
    const auto child = Child::start("/nowhere/server_x", {}, folder_ / "x");
    EXPECT_EQ(child.error, "server_x is not there");
}

TEST_F(Target, AProgramThatEndsAtOnceIsSaidWithItsWords) {
    auto child = Child::start(RAW_EPOLL_STUB, {"--prot", "0"}, folder_ / "x");
    ASSERT_TRUE(child) << child.error;
    const auto port = wait_for_port(*child);
    ASSERT_FALSE(port);
    EXPECT_NE(port.error.find("status 2"), std::string::npos) << port.error;
    EXPECT_NE(port.error.find("--prot"), std::string::npos) << port.error;
}

TEST_F(Target, TheRelayOfTheStubAnswersAsTheStub) {
    auto stub = Child::start(RAW_EPOLL_STUB, {}, folder_ / "stub");
    ASSERT_TRUE(stub) << stub.error;
    const auto stub_port = wait_for_port(*stub);
    ASSERT_TRUE(stub_port) << stub_port.error;
    auto relay = Child::start(
        RAW_EPOLL_RELAY,
        {"--threads", "2", "--downstream", "127.0.0.1:" + std::to_string(*stub_port.value)},
        folder_ / "relay");
    ASSERT_TRUE(relay) << relay.error;
    const auto port = wait_for_port(*relay);
    ASSERT_TRUE(port) << port.error;
    const auto answer = ask({.port = *port.value}, {.path = "/wait"});
    ASSERT_TRUE(answer) << answer.error;
    EXPECT_EQ(answer.value->status, 200u);
    EXPECT_EQ(answer.value->body.size(), 140u);
    const auto seconds = time_gets({.port = *port.value}, "/", 5);
    ASSERT_TRUE(seconds) << seconds.error;
    EXPECT_GE(bench::statistics::median(*seconds.value), 0.020);
    EXPECT_EQ(relay->stop(), 0);
    EXPECT_FALSE(ask({.port = *port.value}, {.path = "/wait"})) << "nobody listens any more";
    EXPECT_EQ(stub->stop(), 0);
}

TEST_F(Target, EndsWithItsOwner) {
    pid_t pid = 0;
    {
        auto child = Child::start("/bin/sleep", {"60"}, folder_ / "sleep");
        ASSERT_TRUE(child) << child.error;
        pid = child->pid();
        EXPECT_FALSE(child->has_ended());
    }
    EXPECT_TRUE(gone(pid));
}

TEST_F(Target, EndsWhenTheRunnerIsKilled) {
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    const pid_t runner = fork();
    if (runner == 0) {
        auto child = Child::start("/bin/sleep", {"60"}, folder_ / "sleep");
        const pid_t pid = child ? child->pid() : -1;
        if (write(pipe_ends[1], &pid, sizeof pid) == sizeof pid) {
            pause();
        }
        _exit(1);
    }
    pid_t pid = -1;
    ASSERT_EQ(read(pipe_ends[0], &pid, sizeof pid), static_cast<ssize_t>(sizeof pid));
    ASSERT_GT(pid, 0);
    kill(runner, SIGKILL);
    waitpid(runner, nullptr, 0);
    EXPECT_TRUE(gone(pid));
}

TEST_F(Target, OneThatIgnoresSigtermIsKilled) {
    auto child =
        Child::start("/bin/sh", {"-c", "trap '' TERM; echo ready; sleep 60"}, folder_ / "stubborn");
    ASSERT_TRUE(child) << child.error;
    for (int i = 0; i < 2000 && child->output().empty(); ++i) {
        std::this_thread::sleep_for(5ms);
    }
    const pid_t pid = child->pid();
    EXPECT_EQ(child->stop(), 128 + SIGKILL);
    EXPECT_TRUE(gone(pid));
}

TEST_F(Target, WhatItLeavesBehindEndsWithIt) {
    auto child = Child::start("/bin/sh", {"-c", "sleep 60 & echo $!"}, folder_ / "parent");
    ASSERT_TRUE(child) << child.error;
    for (int i = 0; i < 2000 && !child->has_ended(); ++i) {
        std::this_thread::sleep_for(5ms);
    }
    EXPECT_EQ(child->exit_status(), 0);
    const pid_t left = std::atoi(child->output().c_str());
    ASSERT_GT(left, 0);
    EXPECT_TRUE(gone(left));
}

TEST_F(Target, ItsOutputMayBeMegabytes) {
    auto child = Child::start("/bin/sh",
                              {"-c",
                               "head -c 4000000 /dev/zero | tr '\\0' x; "
                               "echo; echo 'a listening on 127.0.0.1:7'; exec sleep 60"},
                              folder_ / "talker");
    ASSERT_TRUE(child) << child.error;
    const auto port = wait_for_port(*child);
    ASSERT_TRUE(port) << port.error;
    EXPECT_EQ(*port.value, 7);
}

TEST_F(Target, OneThatNeverListensIsSaid) {
    auto child = Child::start("/bin/sleep", {"60"}, folder_ / "silent");
    ASSERT_TRUE(child) << child.error;
    EXPECT_EQ(wait_for_port(*child).error, "it printed no listening line");
}

TEST_F(Target, CpuTimeCanBeReadUntilTheProcessIsReaped) {
    auto child = Child::start("/bin/sh", {"-c", "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done"},
                              folder_ / "loop");
    ASSERT_TRUE(child) << child.error;
    for (int i = 0; i < 2000 && !child->has_ended(); ++i) {
        std::this_thread::sleep_for(5ms);
    }
    ASSERT_TRUE(child->has_ended());
    EXPECT_GT(bench::sample::cpu_s(child->pid()), 0);
    EXPECT_EQ(child->exit_status(), 0);
}

TEST_F(Target, CountsWhatAConnectionReceived) {
    auto stub = Child::start(RAW_EPOLL_STUB, {}, folder_ / "stub");
    ASSERT_TRUE(stub) << stub.error;
    const auto port = wait_for_port(*stub);
    ASSERT_TRUE(port) << port.error;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    address.sin_port = htons(static_cast<std::uint16_t>(*port.value));
    const int answered = socket(AF_INET, SOCK_STREAM, 0), starved = socket(AF_INET, SOCK_STREAM, 0);
    for (const int descriptor : {answered, starved}) {
        ASSERT_EQ(connect(descriptor, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    }
    char buffer[4096];
    ASSERT_EQ(send(answered, "x", 1, 0), 1);
    const ssize_t got = recv(answered, buffer, sizeof buffer, 0);
    const auto received = bench::sample::received_bytes(*port.value);
    close(answered);
    close(starved);
    if (!received) {
        GTEST_SKIP() << "the kernel offers no socket diagnostics";
    }
    ASSERT_EQ(received->size(), 2u);
    std::vector<std::uint64_t> bytes;
    for (const auto& [from, count] : *received) {
        bytes.push_back(count);
    }
    EXPECT_EQ(std::min(bytes[0], bytes[1]), 0u);
    EXPECT_EQ(std::max(bytes[0], bytes[1]), static_cast<std::uint64_t>(got));
}

}  // namespace
