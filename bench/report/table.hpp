#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace bench::report {

/// One experiment of results.json (schema 2) for a terminal of 120 columns: its table, the
/// published rows beside it, and the sentences that it needs. Of the environment it says the CPUs;
/// `is_published_load` shows the published rows, which another load makes meaningless.
std::string table(const nlohmann::json& experiment, const nlohmann::json& environment,
                  bool is_published_load);

/// 47300 as "47,300"; with `decimals` behind the point.
std::string with_commas(double value, int decimals = 0);

}  // namespace bench::report
