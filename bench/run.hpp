#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// What the connections of one run got, counted at the kernel.
struct Fairness {
    int connections = 0;
    int starved = 0;                                 ///< Got nothing in the second half of the run.
    std::uint64_t fewest_bytes = 0, most_bytes = 0;  ///< Of one connection, in that half.
};

struct Percentiles {
    double p50_ms = 0, p75_ms = 0, p90_ms = 0, p99_ms = 0, p999_ms = 0, max_ms = 0, mean_ms = 0;
};

/// One run of one row: a fresh stub, a fresh server, one load.
struct Run {
    std::string row;
    int round = 0;
    std::string files;  ///< What its raw output's names begin with.
    bool measured = false;
    std::vector<std::string> problems;  ///< Each marks the row; without a measurement, why.

    double duration_s = 0;
    std::uint64_t requests = 0, status_errors = 0, socket_errors = 0, bytes = 0;
    double rate = 0;  ///< Successful requests per second.
    Percentiles raw, corrected;
    int threads = 0;  ///< OS threads of the server at the peak.
    double median_threads = 0;
    double peak_rss_bytes = 0, median_rss_bytes = 0;
    double server_cpu_s = 0, stub_cpu_s = 0, wrk_cpu_s = 0;
    double other_cpus = 0;  ///< CPUs that the rest of the machine kept busy meanwhile.
    std::uint64_t context_switches = 0;
    std::optional<Fairness> fairness;
    int exit_status = 0;

    /// CPU seconds per request; 0 without requests.
    double per_request(double cpu_s) const {
        return requests == 0 ? 0 : cpu_s / static_cast<double>(requests);
    }
};

}  // namespace bench
