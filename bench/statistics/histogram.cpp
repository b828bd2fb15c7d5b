#include "bench/statistics/histogram.hpp"

#include "bench/statistics/statistics.hpp"

namespace bench::statistics {

Histogram without_correction(const Histogram& reported, std::uint64_t duration_us,
                             std::uint64_t requests, std::uint64_t connections) {
    const std::uint64_t per_connection = connections == 0 ? 0 : requests / connections;
    if (per_connection == 0) {
        return reported;  // wrk corrects nothing either.
    }
    const std::uint64_t expected = duration_us / per_connection;
    Histogram raw;
    for (const auto& [latency, samples] : reported) {
        std::uint64_t invented = 0;
        if (latency > expected) {
            const auto later = reported.find(latency + expected);
            invented = later == reported.end() ? 0 : later->second;
        }
        if (samples > invented) {
            raw[latency] = samples - invented;
        }
    }
    return raw;
}

std::uint64_t count(const Histogram& histogram) {
    std::uint64_t sum = 0;
    for (const auto& [latency, samples] : histogram) {
        sum += samples;
    }
    return sum;
}

double mean_us(const Histogram& histogram) {
    double sum = 0;
    for (const auto& [latency, samples] : histogram) {
        sum += static_cast<double>(latency) * static_cast<double>(samples);
    }
    return histogram.empty() ? 0 : sum / static_cast<double>(count(histogram));
}

double percentile_us(const Histogram& histogram, double percent) {
    const double rank = nearest_rank(percent, static_cast<double>(count(histogram)));
    std::uint64_t seen = 0;
    for (const auto& [latency, samples] : histogram) {
        seen += samples;
        if (static_cast<double>(seen) >= rank) {
            return static_cast<double>(latency);
        }
    }
    return 0;
}

}  // namespace bench::statistics
