#include "bench/statistics/statistics.hpp"

#include <algorithm>

namespace bench::statistics {

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

}  // namespace bench::statistics
