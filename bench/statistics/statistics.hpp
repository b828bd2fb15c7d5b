#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bench::statistics {

/// The middle value, or the mean of the two in the middle; 0 for none.
double median(std::vector<double> values);
/// (largest - smallest) / median; 0 when the median is.
double spread(const std::vector<double>& values);

/// The rank, from 1, of the smallest of `count` samples that at least `percent` of them do not
/// exceed: ceil(percent / 100 x count), but 1 for percent 0.
double nearest_rank(double percent, double count);
/// The sample at that rank; 0 for none.
double percentile(const std::vector<double>& sorted, double percent);

/// A percentile with fewer samples beyond it says more about those few than about the row.
inline constexpr std::uint64_t kSamplesBeyond = 10;
/// Whether at least kSamplesBeyond of `count` samples lie beyond the percentile's rank; `percent`
/// has at most three decimals.
bool may_show(double percent, std::uint64_t count);

struct Interval {
    double low = 0, high = 0;
};

/// Below this many runs there is no interval: three runs' own range misses the true median one
/// time in four, five runs' one time in sixteen.
inline constexpr std::size_t kRunsForInterval = 5;
inline constexpr std::size_t kResamples = 10'000;

/// Percentile bootstrap over runs: draws as many runs as there are, with replacement, kResamples
/// times, takes each draw's median, and cuts off equal shares of the sorted medians at both ends,
/// so that `confidence` (0.95, 0.99) is left. Always the same draws for the same number of runs.
/// Needs kRunsForInterval values.
Interval median_interval(const std::vector<double>& values, double confidence);
/// second / first; 1 when they are equal, also when both are 0.
double ratio(double first, double second);
/// The same for the ratio of the two medians, each side drawn for itself.
Interval ratio_interval(const std::vector<double>& first, const std::vector<double>& second,
                        double confidence);

}  // namespace bench::statistics
