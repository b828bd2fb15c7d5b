#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/run.hpp"

namespace bench::report {

/// What is known besides the runs themselves.
struct Measured {
    double stub_median_s = 0;             ///< 0 without a stub.
    int cpus = 1;                         ///< Of the server.
    bool server_is_alone = false;         ///< On its CPUs, by --pin.
    std::uint64_t cpu_iterations = 0;     ///< GET /cpu's in limits::kCpuWorkS, the median; 0: none.
    std::map<std::string, double> peaks;  ///< Of an open loop: requests per second by series.
};

/// The experiment as results.json has it (schema 2, docs/results-schema.md): medians of the runs,
/// predictions, ceilings, what limits each row, and every run. Claims are judged later, because
/// they may refer to other experiments.
nlohmann::json summarize(const Experiment& experiment, const std::vector<Run>& runs,
                         const Measured& measured);

}  // namespace bench::report
