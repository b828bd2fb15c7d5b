#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "bench/target/server.hpp"

namespace bench::report {

/// The machine, its limits, the build and the tools: what a figure means nothing without.
/// The output of the programs that are asked goes to places.raw.
nlohmann::json environment(const target::Places& places);

/// Why this build must not be measured; empty for a release build.
std::string unfit_build();

}  // namespace bench::report
