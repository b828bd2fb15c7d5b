#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/result.hpp"

namespace bench::report {

/// What a report is made with besides the results.
struct ReportParts {
    std::filesystem::path page;  ///< bench/report/page of the source tree.
    std::filesystem::path chart_js = "/usr/share/javascript/chart.js/chart.min.js";
    std::string gnuplot = "gnuplot";
};

/// Writes report.md, report.html and charts/*.svg into `folder`, each aside and then renamed.
/// The value is what is missing from a report that was written, a sentence each, empty when
/// nothing is; the error is why there is no report.
Result<std::string> write_report(const std::filesystem::path& folder, const nlohmann::json& results,
                                 const ReportParts& parts);

}  // namespace bench::report
