#include "bench/predict/predict.hpp"

#include <gtest/gtest.h>

using namespace bench::predict;

namespace {

TEST(Predict, ThePublishedCeilingAndPool) {
    EXPECT_DOUBLE_EQ(arithmetic_ceiling(1000, 0.020), 50'000);
    EXPECT_DOUBLE_EQ(pool_rate(1000, 200, 0.020), 10'000);
    EXPECT_DOUBLE_EQ(pool_rate(100, 200, 0.020), 5'000);
    EXPECT_DOUBLE_EQ(pool_rate(1000, 256, 0.020), 12'800) << "carriers of pinned fibers";
    EXPECT_DOUBLE_EQ(pool_rate(1000, 8, 0.020), 400) << "the same without hand-off";
    EXPECT_DOUBLE_EQ(pool_rate(256, 2, 0.001), 2'000) << "event loops that a handler blocks";
    EXPECT_DOUBLE_EQ(cpu_bound(8, 0.020), 400);
}

// The published 500 clients on 200 threads of 50 ms.
TEST(Predict, LatencyOfAClosedPool) {
    EXPECT_DOUBLE_EQ(closed_latency_s(500, pool_rate(500, 200, 0.050)), 0.125);
}

// The published 600 requests of 300 ms on 200 threads: three waves.
TEST(Predict, ABurstRunsInWaves) {
    const Burst burst{600, 200, 0.300};
    EXPECT_DOUBLE_EQ(burst_latency_s(burst, 33), 0.300);
    EXPECT_DOUBLE_EQ(burst_latency_s(burst, 34), 0.600);
    EXPECT_DOUBLE_EQ(burst_latency_s(burst, 50), 0.600);
    EXPECT_DOUBLE_EQ(burst_latency_s(burst, 99), 0.900);
    EXPECT_DOUBLE_EQ(burst_latency_s(burst, 100), 0.900);
    EXPECT_DOUBLE_EQ(burst_latency_s({600, 600, 0.300}, 100), 0.300) << "nothing is held";
    EXPECT_DOUBLE_EQ(burst_latency_s({601, 200, 0.300}, 100), 1.200);
}

TEST(Predict, WhatABurstCostsIsAdded) {
    EXPECT_DOUBLE_EQ(burst_latency_s({600, 200, 0.300, 100e-6, 2}, 100), 0.910);
    EXPECT_DOUBLE_EQ(burst_latency_s({600, 200, 0.300, 100e-6, 2}, 50), 0.610);
    EXPECT_DOUBLE_EQ(burst_latency_s({600, 600, 0.300, 100e-6, 2}, 100), 0.330);
    EXPECT_DOUBLE_EQ(burst_latency_s({600, 200, 0.001, 100e-6, 2}, 100), 0.031) << "more work";
    EXPECT_DOUBLE_EQ(burst_latency_s({60, 60, 0, 0.005, 2}, 100), 0.150) << "work alone";
}

TEST(Predict, TasksRunInWaves) {
    EXPECT_DOUBLE_EQ(tasks_s(100'000, 8, 0.050), 625);
    EXPECT_DOUBLE_EQ(tasks_s(100'001, 8, 0.050), 625.05);
    EXPECT_DOUBLE_EQ(tasks_s(100'000, 100'000, 0.050), 0.050);
}

TEST(Predict, TheCpuLimitsButDoesNotPredict) {
    const auto pool = with_limit(10'000, "pool", 2, 60e-6);
    EXPECT_EQ(pool.limit, "pool");
    EXPECT_EQ(pool.rate, 10'000);
    const auto cpu = with_limit(50'000, "wait", 2, 50e-6);
    EXPECT_EQ(cpu.limit, "CPU");
    EXPECT_EQ(cpu.rate, 50'000);
    EXPECT_EQ(with_limit(50'000, "wait", 2, 0).limit, "wait") << "an unknown cost limits nothing";
}

}  // namespace
