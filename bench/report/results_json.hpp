#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>

#include "bench/report/summary.hpp"

namespace bench::report {

/// The version of results.json's schema; it changes when a member changes its meaning.
inline constexpr int kSchema = 1;

/// What results.json says of an experiment: every run, the rows' summaries, the ceilings.
nlohmann::json results_json(const Experiment& experiment, const Summary& summary,
                            const std::vector<Run>& runs);

/// Writes aside and renames, so that a reader never sees half a file. Returns whether it worked.
bool write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace bench::report
