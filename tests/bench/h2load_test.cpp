#include "bench/load/h2load.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace bench::load;

namespace {

TEST(H2loadLog, IsOneRequestALine) {
    const auto log = parse_log("1000\t200\t20500\n1010\t503\t300\n");
    ASSERT_TRUE(log);
    ASSERT_EQ(log.value->size(), 2u);
    EXPECT_EQ(log.value->at(1).status, 503);
    EXPECT_EQ(log.value->at(1).duration_us, 300);
    EXPECT_FALSE(parse_log("1000\t200\n"));
}

TEST(H2loadBurst, TakesFromTheFirstStartToTheLastEnd) {
    const auto report = burst_report(
        {{1'000'000, 200, 300'000}, {1'100'000, 200, 350'000}, {1'000'010, 500, 10'000}}, 4);
    EXPECT_DOUBLE_EQ(report.duration_s, 0.45);
    EXPECT_EQ(report.requests, 3u);
    EXPECT_EQ(report.status_errors, 1u);
    EXPECT_EQ(report.lost, 1u);
    EXPECT_DOUBLE_EQ(report.latencies_s.front(), 0.01);
    EXPECT_DOUBLE_EQ(report.latencies_s.back(), 0.35);
}

// Three requests were due at 0, 10 and 20 ms; the generator was kept from sending the last two.
TEST(H2loadOpen, CountsLatencyFromTheIntendedStart) {
    const auto report =
        open_report({{0, 200, 5'000}, {100'000, 200, 5'000}, {100'000, 200, 5'000}}, 100, 3);
    ASSERT_EQ(report.latencies_s.size(), 3u);
    EXPECT_DOUBLE_EQ(report.latencies_s[0], 0.005);
    EXPECT_NEAR(report.latencies_s[1], 0.085, 1e-9);
    EXPECT_NEAR(report.latencies_s[2], 0.095, 1e-9);
}

TEST(OpenLoop, NoConnectionIsBusyWhenItsNextRequestIsDue) {
    const OpenLoop slow = open_loop(10'000, 0.050, 6);
    EXPECT_EQ(slow.rps_per_connection, 10);
    EXPECT_EQ(slow.connections, 1000);
    EXPECT_EQ(slow.connections_per_period, 10);
    EXPECT_EQ(slow.period_ms, 1);
    EXPECT_EQ(open_loop(1400, 0.5, 6).connections_per_period, 14);
    EXPECT_EQ(open_loop(1400, 0.5, 6).period_ms, 10);
    EXPECT_EQ(slow.requests, 60'000);
    EXPECT_EQ(open_loop(10'000, 0.001, 6).rps_per_connection, 50);
    EXPECT_EQ(open_loop(1, 10, 6).connections, 1);
}

TEST(H2loadArguments, SayWhatIsSent) {
    const auto burst = burst_arguments(600, 300, "log", "body", "http://127.0.0.1:1/echo");
    for (const char* wanted : {"--h1", "--requests=600", "--clients=300", "--data=body"}) {
        EXPECT_NE(std::ranges::find(burst, wanted), burst.end()) << wanted;
    }
    const auto open = open_arguments(open_loop(2000, 0.01, 2), "log", {}, "url");
    for (const char* wanted : {"--rps=50", "--clients=40", "--rate=20", "--rate-period=10ms"}) {
        EXPECT_NE(std::ranges::find(open, wanted), open.end()) << wanted;
    }
}

}  // namespace
