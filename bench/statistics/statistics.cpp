#include "bench/statistics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>

namespace bench::statistics {
namespace {

/// Any number does; a fixed one gives the same report from the same runs.
constexpr std::uint64_t kSeed = 1;

/// Draws as many values as there are, with replacement, again and again.
class Resampling {
  public:
    explicit Resampling(std::vector<double> values)
        : sorted_(std::move(values)), times_drawn_(sorted_.size()) {
        std::ranges::sort(sorted_);
    }

    double median_of_draw(std::mt19937_64& random) {
        const std::size_t count = sorted_.size();
        std::ranges::fill(times_drawn_, 0);
        for (std::size_t i = 0; i < count; ++i) {
            ++times_drawn_[random() % count];
        }
        return (drawn_at((count - 1) / 2) + drawn_at(count / 2)) / 2;
    }

  private:
    /// The value at this rank of the draw, from 0: counted off, which is quicker than to sort it.
    double drawn_at(std::size_t rank) const {
        std::size_t value = 0;
        for (std::size_t seen = times_drawn_[0]; seen <= rank; seen += times_drawn_[value]) {
            ++value;
        }
        return sorted_[value];
    }

    std::vector<double> sorted_;
    std::vector<std::size_t> times_drawn_;
};

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

bool may_show(double percent, std::uint64_t count) {
    // In whole thousandths, because 99.9 is no binary number and would cost or give a sample.
    constexpr std::uint64_t kWhole = 100'000;
    const auto beyond_percent = kWhole - static_cast<std::uint64_t>(std::llround(percent * 1000));
    return count * beyond_percent / kWhole >= kSamplesBeyond;
}

Interval median_interval(const std::vector<double>& values, double confidence) {
    std::mt19937_64 random(kSeed);
    std::vector<double> medians(kResamples);
    Resampling runs(values);
    std::ranges::generate(medians, [&] { return runs.median_of_draw(random); });
    return middle_of(std::move(medians), confidence);
}

double ratio(double first, double second) {
    return first == second ? 1 : second / first;
}

Interval ratio_interval(const std::vector<double>& first, const std::vector<double>& second,
                        double confidence) {
    std::mt19937_64 random(kSeed);
    std::vector<double> ratios(kResamples);
    Resampling before(first), after(second);
    std::ranges::generate(ratios, [&] {
        const double middle = before.median_of_draw(random);
        return ratio(middle, after.median_of_draw(random));
    });
    return middle_of(std::move(ratios), confidence);
}

}  // namespace bench::statistics
