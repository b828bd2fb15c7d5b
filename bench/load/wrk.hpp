#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/result.hpp"
#include "bench/statistics/histogram.hpp"

namespace bench::load {

/// What wrk counted. It counts a 4xx or 5xx as a request, too.
struct WrkReport {
    double duration_s = 0;
    std::uint64_t requests = 0;
    std::uint64_t bytes = 0;
    std::uint64_t connect_errors = 0, read_errors = 0, write_errors = 0, timeouts = 0;
    std::uint64_t status_errors = 0;
    statistics::Histogram corrected;  ///< As wrk reports it, with invented samples.
    statistics::Histogram raw;        ///< Without them.

    std::uint64_t successful() const { return requests - status_errors; }
    std::uint64_t socket_errors() const {
        return connect_errors + read_errors + write_errors + timeouts;
    }
    double rate() const { return static_cast<double>(successful()) / duration_s; }
};

/// The command line without the program itself.
std::vector<std::string> wrk_arguments(const Load& load, std::chrono::milliseconds duration,
                                       const std::filesystem::path& script, const std::string& url);

/// Reads the line that report.lua prints.
Result<WrkReport> parse_wrk(const std::string& output, std::uint64_t connections);

}  // namespace bench::load
