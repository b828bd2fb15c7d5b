#include "bench/predict/predict.hpp"

#include <gtest/gtest.h>

using namespace bench::predict;

namespace {

TEST(Predict, ThePublishedCeilingAndPool) {
    EXPECT_DOUBLE_EQ(arithmetic_ceiling(1000, 0.020), 50'000);
    EXPECT_DOUBLE_EQ(pool_rate(1000, 200, 0.020), 10'000);
    EXPECT_DOUBLE_EQ(pool_rate(100, 200, 0.020), 5'000);
    EXPECT_DOUBLE_EQ(pool_rate(1000, 256, 0.020), 12'800);
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

// The original (.NET 10, everything blocked) had 51, 91 and 170 threads after 10, 20 and 40 s on
// two CPUs, and 94, 129 and 169 after 11, 20 and 30 s on eight; it took off at 22, 12 and 239 s.
TEST(Predict, ThreadInjectionIsNearTheOriginal) {
    EXPECT_EQ(injected_threads(2, 0), 4);
    EXPECT_NEAR(injected_threads(2, 10), 51, 3);
    EXPECT_NEAR(injected_threads(2, 20), 91, 3);
    EXPECT_NEAR(injected_threads(2, 40), 170, 5);
    EXPECT_NEAR(injected_threads(8, 30), 169, 8);
}

TEST(Predict, TakeOffIsNearTheOriginal) {
    EXPECT_NEAR(take_off_s(2, 100), 22, 22 / 5.0);
    EXPECT_NEAR(take_off_s(8, 100), 12, 12 / 5.0);
    EXPECT_NEAR(take_off_s(2, 1000), 239, 239 / 5.0);
    EXPECT_NEAR(injected_threads(2, take_off_s(2, 1000)), 1001, 0.001);
    EXPECT_EQ(take_off_s(64, 100), 0) << "threads for all are there at once";
}

}  // namespace
