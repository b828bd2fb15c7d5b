#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/result.hpp"

namespace bench::load {

/// How h2load spreads an open loop over connections. Above 50 requests a second each its timer
/// clumps them, and no connection may be busy when its next request is due (measuring notes of
/// docs/method.md): rate per connection = min(50, 1 / (2 p99)).
struct OpenLoop {
    int connections = 1;
    int rps_per_connection = 1;
    /// How fast they are opened, so that they are staggered over one of their own intervals.
    int connections_per_period = 1;
    int period_ms = 1;
    int requests = 1;

    double offered_rps() const { return static_cast<double>(connections) * rps_per_connection; }
};
OpenLoop open_loop(double rate, double p99_s, double duration_s);

/// Of one request, as h2load's log has it.
struct Timed {
    std::int64_t start_us = 0;
    int status = 0;
    std::int64_t duration_us = 0;
};
/// A log of one request a line: start, status and duration, separated by tabs.
Result<std::vector<Timed>> parse_log(const std::string& log);

struct H2loadReport {
    double duration_s = 0;  ///< From the first start to the last end.
    std::uint64_t requests = 0, status_errors = 0;
    std::uint64_t lost = 0;           ///< Requests that were never answered.
    std::vector<double> latencies_s;  ///< Sorted.
};
/// Of a burst: latencies from the requests' own starts.
H2loadReport burst_report(const std::vector<Timed>& log, std::uint64_t wanted);
/// Of an open loop: the k-th request was due k / rate after the first one, and its latency counts
/// from there, so that a generator that was kept from sending hides nothing.
H2loadReport open_report(std::vector<Timed> log, double rate, std::uint64_t wanted);

/// The command lines without the program itself. `body` is a file; empty: none.
std::vector<std::string> burst_arguments(int requests, int connections,
                                         const std::filesystem::path& log,
                                         const std::filesystem::path& body, const std::string& url);
std::vector<std::string> open_arguments(const OpenLoop& loop, const std::filesystem::path& log,
                                        const std::filesystem::path& body, const std::string& url);

}  // namespace bench::load
