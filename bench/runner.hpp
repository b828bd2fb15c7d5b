#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/result.hpp"
#include "bench/run.hpp"

namespace bench {

/// Where programs and files are.
struct Places {
    std::filesystem::path programs;  ///< The servers, beside waitbench.
    std::filesystem::path wrk;
    std::filesystem::path wrk_script;
    std::filesystem::path raw;  ///< Output of every process that runs.

    /// Of a command's first word.
    std::filesystem::path program(const std::vector<std::string>& command) const {
        return programs / command.front();
    }
};

/// Seconds that the stub's own answer takes, the median with one connection and no load.
Result<double> measure_stub(const Experiment& experiment, const Places& places);

/// Starts stub and server, verifies, warms up, loads, samples, verifies, stops. Whatever goes
/// wrong stands in the run's problems. Ends early, unmeasured, when interrupted.
Run run_row(const Experiment& experiment, const Row& row, int round, const Places& places);

/// Whether the program knows the row's flags: status 2 is what every program answers to a flag
/// that it does not know.
bool is_supported(const Row& row, const Places& places);

}  // namespace bench
