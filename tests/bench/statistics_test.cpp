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

TEST(Statistics, PercentileOfASortedSampleIsTheNearestRank) {
    const std::vector<double> sample = {15, 20, 35, 40, 50};
    EXPECT_EQ(percentile(sample, 5), 15);
    EXPECT_EQ(percentile(sample, 30), 20);
    EXPECT_EQ(percentile(sample, 40), 20);
    EXPECT_EQ(percentile(sample, 50), 35);
    EXPECT_EQ(percentile(sample, 100), 50);
    EXPECT_EQ(percentile(sample, 0), 15);
    EXPECT_EQ(percentile({}, 50), 0);
    EXPECT_EQ(nearest_rank(99.9, 10'000), 9'990) << "not 9,991, as floating point has it";
    EXPECT_EQ(nearest_rank(99.9, 10'001), 9'991);
}

TEST(Statistics, APercentileNeedsTenSamplesBeyondIt) {
    EXPECT_TRUE(may_show(50, 20));
    EXPECT_FALSE(may_show(50, 19));
    EXPECT_TRUE(may_show(99, 1'000));
    EXPECT_FALSE(may_show(99, 999));
    EXPECT_TRUE(may_show(99.9, 10'000));
    EXPECT_FALSE(may_show(99.9, 9'999));
    EXPECT_FALSE(may_show(50, 0));
}

// The median of five draws is the smallest value with a chance of 5.8 %, the second with 25.9 %:
// so 2.5 % cut off at each end leave all five, and 10 % leave the middle three.
TEST(Statistics, BootstrapIntervalOfTheMedian) {
    const std::vector<double> runs = {104, 100, 101, 98, 103};
    const auto wide = median_interval(runs, 0.95);
    EXPECT_EQ(wide.low, 98);
    EXPECT_EQ(wide.high, 104);
    const auto narrow = median_interval(runs, 0.80);
    EXPECT_EQ(narrow.low, 100);
    EXPECT_EQ(narrow.high, 103);
    const auto same = median_interval({7, 7, 7, 7, 7}, 0.95);
    EXPECT_EQ(same.low, 7);
    EXPECT_EQ(same.high, 7);
}

TEST(Statistics, BootstrapIntervalOfTheRatio) {
    const std::vector<double> first = {100, 100, 100, 100, 100};
    const auto interval = ratio_interval(first, {90, 91, 92, 93, 94}, 0.99);
    EXPECT_DOUBLE_EQ(interval.low, 0.90);
    EXPECT_DOUBLE_EQ(interval.high, 0.94);
    const auto turned = ratio_interval({90, 91, 92, 93, 94}, first, 0.99);
    EXPECT_DOUBLE_EQ(turned.low, 100.0 / 94);
    EXPECT_DOUBLE_EQ(turned.high, 100.0 / 90);
    EXPECT_EQ(ratio(0, 0), 1);
    EXPECT_EQ(ratio(2, 1), 0.5);
    EXPECT_GT(ratio_interval({0, 0, 0, 0, 0}, {1, 1, 1, 1, 1}, 0.99).low, 1e300);
}

}  // namespace
