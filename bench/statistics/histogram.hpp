#pragma once

#include <cstdint>
#include <map>

namespace bench::statistics {

/// Counts by latency in microseconds, sparse.
using Histogram = std::map<std::uint64_t, std::uint64_t>;

/// Takes out the samples that wrk 4 invented. After a run wrk adds, for every latency n of at
/// least twice the expected one, samples at n - E, n - 2E, ... above E, where
/// E = duration / floor(requests / connections), in whole microseconds. So what it reports holds
/// raw[m] + raw[m + E] + raw[m + 2E] + ... for m > E, and raw[m] = reported[m] - reported[m + E].
/// (wrk's stats.c and the end of its main.c.)
Histogram without_correction(const Histogram& reported, std::uint64_t duration_us,
                             std::uint64_t requests, std::uint64_t connections);

std::uint64_t count(const Histogram& histogram);
/// Microseconds; 0 for an empty histogram.
double mean_us(const Histogram& histogram);
/// The smallest latency that at least `percent` of the samples do not exceed, in microseconds.
double percentile_us(const Histogram& histogram, double percent);

}  // namespace bench::statistics
