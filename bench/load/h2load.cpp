#include "bench/load/h2load.hpp"

#include <algorithm>
#include <cmath>
#include <sstream>

namespace bench::load {
namespace {

constexpr double kMostRpsPerConnection = 50;
constexpr int kLongestPeriodMs = 1000;
constexpr double kConnectionsPerPeriod = 10;

std::vector<std::string> common_arguments(const std::filesystem::path& log,
                                          const std::filesystem::path& body) {
    std::vector<std::string> arguments = {"--h1", "--threads=1", "--max-concurrent-streams=1",
                                          "--log-file=" + log.string()};
    if (!body.empty()) {
        arguments.push_back("--data=" + body.string());
    }
    return arguments;
}

bool is_answered(const Timed& one) {
    return one.status > 0;
}

H2loadReport report(const std::vector<Timed>& log, std::uint64_t wanted) {
    H2loadReport result;
    std::int64_t first = INT64_MAX, last = 0;
    for (const Timed& one : log) {
        first = std::min(first, one.start_us);
        last = std::max(last, one.start_us + one.duration_us);
        result.requests += is_answered(one);
        result.status_errors += is_answered(one) && (one.status < 200 || one.status > 299);
    }
    result.lost = wanted - std::min<std::uint64_t>(wanted, result.requests);
    result.duration_s = log.empty() ? 0 : static_cast<double>(last - first) / 1e6;
    return result;
}

}  // namespace

OpenLoop open_loop(double rate, double p99_s, double duration_s) {
    OpenLoop loop;
    const double each =
        p99_s > 0 ? std::min(kMostRpsPerConnection, 1 / (2 * p99_s)) : kMostRpsPerConnection;
    loop.rps_per_connection = std::max(1, static_cast<int>(each));
    loop.connections = std::max(1, static_cast<int>(std::lround(rate / loop.rps_per_connection)));
    // Whole connections a period: the longest of these periods leaves the smallest error.
    for (loop.period_ms = 1; loop.period_ms < kLongestPeriodMs; loop.period_ms *= 10) {
        if (rate * loop.period_ms / 1000 >= kConnectionsPerPeriod) {
            break;
        }
    }
    loop.connections_per_period =
        std::max(1, static_cast<int>(std::lround(rate * loop.period_ms / 1000)));
    loop.requests = static_cast<int>(loop.offered_rps() * duration_s);
    return loop;
}

Result<std::vector<Timed>> parse_log(const std::string& log) {
    std::vector<Timed> requests;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        std::istringstream fields(line);
        Timed one;
        if (!(fields >> one.start_us >> one.status >> one.duration_us)) {
            return Result<std::vector<Timed>>::failed("h2load's log has the line \"" + line + "\"");
        }
        requests.push_back(one);
    }
    return requests;
}

H2loadReport burst_report(const std::vector<Timed>& log, std::uint64_t wanted) {
    H2loadReport result = report(log, wanted);
    for (const Timed& one : log) {
        if (is_answered(one)) {
            result.latencies_s.push_back(static_cast<double>(one.duration_us) / 1e6);
        }
    }
    std::ranges::sort(result.latencies_s);
    return result;
}

H2loadReport open_report(std::vector<Timed> log, double rate, std::uint64_t wanted) {
    H2loadReport result = report(log, wanted);
    std::ranges::sort(log, {}, &Timed::start_us);
    for (std::size_t k = 0; k < log.size(); ++k) {
        const double due_s =
            static_cast<double>(log[0].start_us) / 1e6 + static_cast<double>(k) / rate;
        const double start_s = static_cast<double>(log[k].start_us) / 1e6;
        if (is_answered(log[k])) {
            result.latencies_s.push_back(std::max(0.0, start_s - due_s) +
                                         static_cast<double>(log[k].duration_us) / 1e6);
        }
    }
    std::ranges::sort(result.latencies_s);
    return result;
}

std::vector<std::string> burst_arguments(int requests, int connections,
                                         const std::filesystem::path& log,
                                         const std::filesystem::path& body,
                                         const std::string& url) {
    auto arguments = common_arguments(log, body);
    arguments.insert(arguments.end(), {"--requests=" + std::to_string(requests),
                                       "--clients=" + std::to_string(connections), url});
    return arguments;
}

std::vector<std::string> open_arguments(const OpenLoop& loop, const std::filesystem::path& log,
                                        const std::filesystem::path& body, const std::string& url) {
    auto arguments = common_arguments(log, body);
    arguments.insert(arguments.end(),
                     {"--requests=" + std::to_string(loop.requests),
                      "--clients=" + std::to_string(loop.connections),
                      "--rps=" + std::to_string(loop.rps_per_connection),
                      "--rate=" + std::to_string(loop.connections_per_period),
                      "--rate-period=" + std::to_string(loop.period_ms) + "ms", url});
    return arguments;
}

}  // namespace bench::load
