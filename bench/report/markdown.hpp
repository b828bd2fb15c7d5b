#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/report/charts.hpp"

namespace bench::report {

/// The report for a repository. `drawn` are the charts whose files stand in charts/.
std::string markdown(const nlohmann::json& results, const std::vector<Chart>& drawn);

}  // namespace bench::report
