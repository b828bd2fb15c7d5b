#include "bench/load/wrk.hpp"

#include <gtest/gtest.h>

using namespace bench::load;

namespace {

std::string output(const std::string& json) {
    return "Running 6s test @ http://127.0.0.1:1/\n  1 threads and 2 connections\n\nWAITBENCH " +
           json + "\n";
}

TEST(Wrk, ReadsItsReport) {
    const auto report =
        parse_wrk(output(R"({"duration_us":2000000,"requests":10,"bytes":2050,"connect_errors":1,)"
                         R"("read_errors":2,"write_errors":3,"timeouts":4,"status_errors":2,)"
                         R"("histogram":[[20100,6],[20300,4]]})"),
                  2);
    ASSERT_TRUE(report) << report.error;
    EXPECT_EQ(report.value->successful(), 8u);
    EXPECT_EQ(report.value->rate(), 4);
    EXPECT_EQ(report.value->socket_errors(), 10u);
    EXPECT_EQ(report.value->raw.at(20300), 4u);
}

TEST(Wrk, NoAnswersAreZeroAndNotAnError) {
    const auto report = parse_wrk(
        output(
            R"({"duration_us":10000000,"requests":0,"bytes":0,"connect_errors":0,)"
            R"("read_errors":0,"write_errors":0,"timeouts":0,"status_errors":0,"histogram":[]})"),
        1000);
    ASSERT_TRUE(report) << report.error;
    EXPECT_EQ(report.value->rate(), 0);
    EXPECT_TRUE(report.value->raw.empty());
}

TEST(Wrk, SaysWhenItDidNotReport) {
    EXPECT_FALSE(parse_wrk("Running 6s test\n", 1000));
    EXPECT_FALSE(parse_wrk("", 1000));
    EXPECT_FALSE(parse_wrk("\nWAITBENCH {\"duration_us\":20", 1000));
}

TEST(Wrk, TheTimeoutIsAboveTheRun) {
    using namespace std::chrono_literals;
    bench::Load load;
    load.connections = 1000;
    const auto arguments = wrk_arguments(load, 6s, "report.lua", "http://127.0.0.1:1/wait");
    const std::vector<std::string> expected = {"--threads",
                                               "1",
                                               "--connections",
                                               "1000",
                                               "--duration",
                                               "6s",
                                               "--timeout",
                                               "11s",
                                               "--script",
                                               "report.lua",
                                               "http://127.0.0.1:1/wait"};
    EXPECT_EQ(arguments, expected);
}

}  // namespace
