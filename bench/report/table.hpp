#pragma once

#include <string>

#include "bench/report/summary.hpp"

namespace bench::report {

/// The one table, for a terminal of 120 columns, with the sentences that it needs.
std::string table(const Experiment& experiment, const Summary& summary, bool published_load);

/// 47300 as "47,300"; with `decimals` behind the point.
std::string with_commas(double value, int decimals = 0);

}  // namespace bench::report
