#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/run.hpp"

namespace bench::report {

/// The version of results.json's schema (docs/results-schema.md); it changes when a member changes
/// its meaning.
inline constexpr int kSchema = 2;

nlohmann::json to_json(const Load& load);
nlohmann::json to_json(const validity::GateResult& gate);
nlohmann::json to_json(const std::vector<validity::GateResult>& gates);
nlohmann::json to_json(const Run& run);

/// Writes aside and renames, so that a reader never sees half a file. Returns whether it worked.
bool write_file(const std::filesystem::path& file, const std::string& text);

}  // namespace bench::report
