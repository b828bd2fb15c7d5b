#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/predict/predict.hpp"
#include "bench/run.hpp"

namespace bench::report {

/// A row's runs in one figure each: medians, but the worst of what can be wrong.
struct RowSummary {
    Row row;
    int runs = 0;  ///< Measured ones.
    double rate = 0, rate_spread = 0;
    double p50_ms = 0, p99_ms = 0;
    double threads = 0, peak_rss_bytes = 0;
    double server_cpu_s = 0, stub_cpu_s = 0, wrk_cpu_s = 0;  ///< Per request.
    bool answered = false;  ///< Whether any request was: without, only threads and RSS mean much.
    std::optional<int> starved;  ///< The most connections of any run; none when not known.
    std::vector<std::string> problems;
    predict::Prediction prediction;
};

struct Summary {
    double wait_s = 0;  ///< The stub's own median.
    int cpus = 0;
    double arithmetic_ceiling = 0;
    double machine_ceiling = 0;  ///< 0 when no raw row was measured.
    std::string machine_ceiling_row;
    /// The largest share of the CPUs that other processes, or other machines, used in a run.
    double disturbance = 0;
    std::vector<RowSummary> rows;
};

Summary summarize(const Experiment& experiment, const std::vector<Run>& runs, double wait_s,
                  int cpus);

}  // namespace bench::report
