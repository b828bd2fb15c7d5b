#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/report/charts.hpp"

namespace bench::report {

/// What report.html is put together from, each the text of a file.
struct Page {
    std::string page, style, script;
    std::string chart_js;  ///< Empty: the page has tables only, and says so.
};

/// One file that needs no other and asks for nothing over the network.
std::string html(const nlohmann::json& results, const std::vector<Chart>& charts, const Page& page);

}  // namespace bench::report
