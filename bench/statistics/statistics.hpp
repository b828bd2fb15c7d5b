#pragma once

#include <vector>

namespace bench::statistics {

/// The middle value, or the mean of the two in the middle; 0 for none.
double median(std::vector<double> values);
/// (largest - smallest) / median; 0 when the median is.
double spread(const std::vector<double>& values);

}  // namespace bench::statistics
