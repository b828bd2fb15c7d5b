#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/validity/gates.hpp"

namespace bench {

/// Milliseconds; what too few samples lie beyond is left out.
struct Percentiles {
    std::optional<double> p50_ms, p75_ms, p90_ms, p99_ms, p999_ms, max_ms, mean_ms;
};

/// The server at one moment of the load.
struct Sample {
    double t_s = 0;
    int threads = 0;
    std::uint64_t rss_bytes = 0;
    std::optional<std::uint64_t> completed, blocked;  ///< Of a watched row.
};

/// One run of one row: a fresh stub, a fresh server, one load.
struct Run {
    std::string row;
    int round = 0;
    std::string files;  ///< What its raw output's names begin with.
    bool measured = false;
    std::vector<std::string> problems;  ///< Without a measurement, why.

    validity::Facts facts;
    std::vector<validity::GateResult> gates;

    std::uint64_t cpu_iterations = 0;  ///< That GET /cpu was started with; 0 for none.

    std::optional<double> wall_s;            ///< Of a burst or a single request.
    std::optional<double> first_response_s;  ///< Of a start.
    std::optional<double> offered_rps;       ///< Of an open loop.
    std::optional<double> take_off_s;        ///< Of a watched row: the first answer.
    Percentiles raw;
    std::optional<Percentiles> corrected;  ///< As wrk reports them.
    int threads = 0;                       ///< OS threads of the server at the peak.
    double median_threads = 0;
    double peak_rss_bytes = 0, median_rss_bytes = 0;
    std::optional<std::uint64_t> pss_bytes;
    double server_cpu_s = 0, stub_cpu_s = 0, load_cpu_s = 0;
    std::uint64_t context_switches = 0;
    double canary_s = 0;  ///< The slower of the spin canaries before and after.
    std::vector<Sample> samples;

    double rate() const { return facts.duration_s > 0 ? facts.rate() : 0; }
    /// Per request; 0 without requests.
    double per_request(double value) const {
        return facts.requests == 0 ? 0 : value / static_cast<double>(facts.requests);
    }
};

}  // namespace bench
