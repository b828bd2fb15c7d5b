#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

namespace bench::report {

/// The machine, its limits, the build and the tools: what a figure means nothing without.
/// `raw` is a folder for the output of the programs that are asked.
nlohmann::json environment(const std::filesystem::path& wrk, const std::filesystem::path& raw);

/// Why this build must not be measured; empty for a release build.
std::string unfit_build();

}  // namespace bench::report
