#include "bench/statistics/statistics.hpp"

#include <gtest/gtest.h>

#include <random>

#include "bench/statistics/histogram.hpp"

using namespace bench::statistics;

namespace {

/// What wrk 4.1 does after a run: for every latency n of at least twice the expected one it adds
/// as many samples at n - E, n - 2E, ... while they are above E.
Histogram as_wrk_corrects(const Histogram& raw, std::uint64_t expected) {
    Histogram corrected = raw;
    for (const auto& [latency, samples] : raw) {
        if (latency < 2 * expected) {
            continue;
        }
        for (std::uint64_t m = latency - expected; m > expected; m -= expected) {
            corrected[m] += samples;
        }
    }
    return corrected;
}

TEST(Histogram, RawSamplesAreRecoveredExactly) {
    std::mt19937 random(7);
    std::lognormal_distribution<double> latency(10, 0.8);
    Histogram raw;
    constexpr std::uint64_t kRequests = 50'000;
    for (std::uint64_t i = 0; i < kRequests; ++i) {
        ++raw[static_cast<std::uint64_t>(latency(random))];
    }
    constexpr std::uint64_t kDuration = 1'500'999, kConnections = 1'000;
    const std::uint64_t expected = kDuration / (kRequests / kConnections);
    const Histogram corrected = as_wrk_corrects(raw, expected);
    ASSERT_GT(count(corrected), kRequests);
    EXPECT_EQ(without_correction(corrected, kDuration, kRequests, kConnections), raw);
}

TEST(Histogram, FewerRequestsThanConnectionsAreNotCorrected) {
    const Histogram reported = {{1000, 3}, {900'000, 1}};
    EXPECT_EQ(without_correction(reported, 1'000'000, 4, 1000), reported);
    EXPECT_EQ(without_correction({}, 1'000'000, 0, 1000), Histogram{});
}

TEST(Histogram, PercentileIsTheNearestRank) {
    Histogram histogram;
    for (std::uint64_t value = 1; value <= 100; ++value) {
        histogram[value * 10] = 1;
    }
    EXPECT_EQ(percentile_us(histogram, 50), 500);
    EXPECT_EQ(percentile_us(histogram, 99), 990);
    EXPECT_EQ(percentile_us(histogram, 99.9), 1000);
    EXPECT_EQ(percentile_us(histogram, 100), 1000);
    EXPECT_EQ(mean_us(histogram), 505);
    EXPECT_EQ(percentile_us({}, 50), 0);
    EXPECT_EQ(mean_us({}), 0);
}

TEST(Statistics, MedianAndSpread) {
    EXPECT_EQ(median({}), 0);
    EXPECT_EQ(median({3}), 3);
    EXPECT_EQ(median({9, 1, 4}), 4);
    EXPECT_EQ(median({9, 1, 4, 5}), 4.5);
    EXPECT_DOUBLE_EQ(spread({90, 100, 110}), 0.2);
    EXPECT_EQ(spread({}), 0);
    EXPECT_EQ(spread({0, 0}), 0);
}

}  // namespace
