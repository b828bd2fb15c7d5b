#include "bench/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>

namespace bench::statistics {
namespace {

/// Any number does; a fixed one gives the same report from the same runs.
constexpr std::uint64_t kSeed = 1;

double median_of_draw(const std::vector<double>& values, std::mt19937_64& random) {
    std::vector<double> drawn(values.size());
    std::ranges::generate(drawn, [&] { return values[random() % values.size()]; });
    return median(std::move(drawn));
}

Interval middle_of(std::vector<double> drawn, double confidence) {
    std::ranges::sort(drawn);
    const double tail_percent = (1 - confidence) / 2 * 100;
    const auto beyond =
        static_cast<std::size_t>(nearest_rank(tail_percent, static_cast<double>(drawn.size())));
    return {drawn[beyond - 1], drawn[drawn.size() - beyond]};
}

}  // namespace

double median(std::vector<double> values) {
    if (values.empty()) {
        return 0;
    }
    std::ranges::sort(values);
    const std::size_t middle = values.size() / 2;
    return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double spread(const std::vector<double>& values) {
    const double middle = median(values);
    if (middle == 0) {
        return 0;
    }
    const auto [smallest, largest] = std::ranges::minmax(values);
    return (largest - smallest) / middle;
}

double nearest_rank(double percent, double count) {
    // 99.9 / 100 x 10,000 is a little more than 9,990 in floating point, and must not become 9,991.
    constexpr double kRounding = 1e-12;
    return std::max(1.0, std::ceil(percent * count / 100 * (1 - kRounding)));
}

double percentile(const std::vector<double>& sorted, double percent) {
    if (sorted.empty()) {
        return 0;
    }
    const double rank = nearest_rank(percent, static_cast<double>(sorted.size()));
    return sorted[static_cast<std::size_t>(rank) - 1];
}

bool may_show(double percent, double count) {
    return count - nearest_rank(percent, count) >= kSamplesBeyond;
}

Interval median_interval(const std::vector<double>& values, double confidence) {
    std::mt19937_64 random(kSeed);
    std::vector<double> medians(kResamples);
    std::ranges::generate(medians, [&] { return median_of_draw(values, random); });
    return middle_of(std::move(medians), confidence);
}

double ratio(double first, double second) {
    return first == second ? 1 : second / first;
}

Interval ratio_interval(const std::vector<double>& first, const std::vector<double>& second,
                        double confidence) {
    std::mt19937_64 random(kSeed);
    std::vector<double> ratios(kResamples);
    std::ranges::generate(ratios, [&] {
        const double before = median_of_draw(first, random);
        return ratio(before, median_of_draw(second, random));
    });
    return middle_of(std::move(ratios), confidence);
}

}  // namespace bench::statistics
