#include "bench/report/table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

using namespace bench;
using namespace bench::report;

namespace {

Experiment experiment() {
    Experiment result;
    result.title = "GET /wait";
    Row pool, cold, raw;
    pool.id = "pool";
    pool.command = {"server_thread_pool", "--threads", "200"};
    pool.model = Model::pool;
    pool.threads = 200;
    pool.published = {
        {"wait-1", "Java 21 platform threads, Tomcat, pool of 200", 9850, 101.2, 142.7, 231, 412}};
    cold.id = "cold";
    cold.command = {"server_sync_over_async"};
    cold.model = Model::injected;
    cold.cold = true;
    raw.id = "raw";
    raw.command = {"raw_epoll_relay"};
    raw.ceiling = true;
    result.rows = {pool, cold, raw};
    return result;
}

Run run(const std::string& row, double rate, int threads) {
    Run result;
    result.row = row;
    result.measured = true;
    result.duration_s = 10;
    result.rate = rate;
    result.requests = static_cast<std::uint64_t>(rate * 10);
    result.threads = threads;
    result.server_cpu_s = 5;
    result.fairness = Fairness{1000, 0, 10, 20};
    return result;
}

TEST(Summary, MedianOfTheRunsAndShareOfTheRawRelay) {
    const auto summary =
        summarize(experiment(),
                  {run("pool", 9000, 201), run("pool", 9500, 203), run("pool", 9400, 202),
                   run("cold", 0, 51), run("raw", 40'000, 1)},
                  0.020, 2);
    EXPECT_EQ(summary.machine_ceiling, 40'000);
    EXPECT_EQ(summary.rows.at(0).rate, 9400);
    EXPECT_EQ(summary.rows.at(0).runs, 3);
    EXPECT_EQ(summary.rows.at(0).prediction.limit, "pool");
    EXPECT_DOUBLE_EQ(summary.rows.at(0).prediction.rate, 10'000);
    EXPECT_EQ(summary.rows.at(1).prediction.limit, "starved");
    EXPECT_FALSE(summary.rows.at(1).answered);
}

TEST(Table, FitsATerminalAndSaysWhatIsOdd) {
    auto marked = run("pool", 9400, 202);
    marked.problems = {"3 socket errors"};
    marked.fairness->starved = 7;
    const auto text = table(
        experiment(),
        summarize(experiment(), {marked, run("cold", 0, 51), run("raw", 40'000, 1)}, 0.020, 2),
        true);
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }), 120)
            << line;
    }
    EXPECT_NE(text.find("! thread_pool --threads 200: 3 socket errors"), std::string::npos) << text;
    EXPECT_NE(text.find("thread_pool --threads 200 (7)"), std::string::npos) << text;
    EXPECT_NE(text.find("Why sync_over_async (cold start) shows 0"), std::string::npos) << text;
    EXPECT_NE(text.find("9,850   101.2   142.7"), std::string::npos) << text;
}

TEST(Table, ARowThatWasNotMeasuredIsShownWithItsReason) {
    bench::Run failed;
    failed.row = "pool";
    failed.problems = {"server_thread_pool is not there"};
    const auto text = table(experiment(), summarize(experiment(), {failed}, 0.020, 2), true);
    EXPECT_NE(text.find("server_thread_pool is not there"), std::string::npos) << text;
}

TEST(Table, Numbers) {
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(1000), "1,000");
    EXPECT_EQ(with_commas(1234567.891, 1), "1,234,567.9");
    EXPECT_EQ(with_commas(-1234), "-1,234");
}

}  // namespace
