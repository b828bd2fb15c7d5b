#pragma once

#include <map>
#include <string>

#include "bench/experiment.hpp"
#include "bench/load/h2load.hpp"
#include "bench/result.hpp"
#include "bench/run.hpp"
#include "bench/target/server.hpp"

namespace bench {

/// What all runs of one `waitbench run` share.
struct Session {
    target::Places places;
    double canary_s = 0;               ///< The fastest spin canary so far.
    std::uint64_t cpu_iterations = 0;  ///< GET /cpu's work; 0: each server calibrates itself.
    /// What `--version` of each program of ours says of its build.
    std::map<std::string, std::optional<std::string>> build_types{};
};

/// Seconds that the stub's own answer takes, the median with one connection and no load.
Result<double> measure_stub(const Experiment& experiment, const Session& session);

/// The iterations of GET /cpu that take 20 ms of CPU time with all CPUs busy, from a server of
/// ours.
Result<std::uint64_t> calibrate_cpu_work(const Session& session);

/// Requests per second of the machine's ceiling, for profile fit: a short run of the raw relay.
Result<double> measure_ceiling(const Experiment& experiment, Session& session);

/// What a run needs to know beyond its row.
struct Circumstances {
    int round = 1;
    double stub_median_s = 0;  ///< 0 without a stub.
    load::OpenLoop offered{};  ///< Of an open loop.
};

/// Starts stub and server, verifies, warms up, loads, samples, verifies, stops, judges. Whatever
/// goes wrong stands in the run's problems. Ends early, unmeasured, when interrupted.
Run run_row(const Experiment& experiment, const Row& row, const Circumstances& circumstances,
            Session& session);

}  // namespace bench
