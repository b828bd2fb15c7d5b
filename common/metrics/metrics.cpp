#include "common/metrics/metrics.hpp"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <fstream>
#include <iterator>

namespace common::metrics {
namespace {

constexpr std::array<std::string_view, kPhases> kPhaseNames = {"queued", "running", "waiting"};

std::size_t status_index(int status) {
    const auto it = std::find(kStatuses.begin(), kStatuses.end(), status);
    return std::min<std::size_t>(it - kStatuses.begin(), kStatuses.size() - 1);
}

std::size_t bucket_index(std::chrono::nanoseconds duration) {
    const double seconds = std::chrono::duration<double>(duration).count();
    return std::lower_bound(kBucketBounds.begin(), kBucketBounds.end(), seconds) -
           kBucketBounds.begin();
}

/// From /proc, so that it counts every thread of the process, whoever started it.
double os_threads() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);) {
        if (line.starts_with("Threads:")) {
            return std::stod(line.substr(sizeof("Threads:")));
        }
    }
    return 0;
}

void head(std::string& text, std::string_view name, std::string_view type, std::string_view help) {
    fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name,
                   type);
}

}  // namespace

void Metrics::count(app::Endpoint endpoint, int status, std::chrono::nanoseconds duration) {
    Shard& shard = shards_[static_cast<std::size_t>(sched_getcpu()) % kShards];
    const auto row = static_cast<std::size_t>(endpoint);
    constexpr auto relaxed = std::memory_order_relaxed;
    shard.requests[row][status_index(status)].fetch_add(1, relaxed);
    shard.buckets[row][bucket_index(duration)].fetch_add(1, relaxed);
    shard.duration_ns[row].fetch_add(static_cast<std::uint64_t>(duration.count()), relaxed);
}

void append(std::string& text, std::string_view name, std::string_view type, std::string_view help,
            double value) {
    head(text, name, type, help);
    fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

std::string Metrics::text() const {
    const auto total = [&](auto&& field) {
        std::uint64_t sum = 0;
        for (const Shard& shard : shards_) {
            sum += field(shard).load(std::memory_order_relaxed);
        }
        return sum;
    };
    std::string text;
    const auto out = std::back_inserter(text);
    std::string histogram;
    const auto histogram_out = std::back_inserter(histogram);
    head(text, "waitbench_requests_total", "counter", "Requests answered.");
    head(histogram, "waitbench_request_duration_seconds", "histogram",
         "From the complete request to its answer.");
    for (std::size_t row = 0; row < app::kEndpoints; ++row) {
        const auto endpoint = app::name_of(static_cast<app::Endpoint>(row));
        for (std::size_t status = 0; status < kStatuses.size(); ++status) {
            if (const auto count =
                    total([&](auto& s) -> auto& { return s.requests[row][status]; })) {
                fmt::format_to(out,
                               "waitbench_requests_total{{endpoint=\"{}\",status=\"{}\"}} {}\n",
                               endpoint, kStatuses[status], count);
            }
        }
        std::uint64_t cumulated = 0;
        std::string buckets;
        for (std::size_t bucket = 0; bucket <= kBucketBounds.size(); ++bucket) {
            cumulated += total([&](auto& s) -> auto& { return s.buckets[row][bucket]; });
            fmt::format_to(
                std::back_inserter(buckets),
                "waitbench_request_duration_seconds_bucket{{endpoint=\"{}\",le=\"{}\"}} {}\n",
                endpoint,
                bucket < kBucketBounds.size() ? fmt::format("{}", kBucketBounds[bucket]) : "+Inf",
                cumulated);
        }
        if (cumulated > 0) {
            const double seconds =
                total([&](auto& s) -> auto& { return s.duration_ns[row]; }) / 1e9;
            fmt::format_to(histogram_out,
                           "{}waitbench_request_duration_seconds_sum{{endpoint=\"{}\"}} {}\n"
                           "waitbench_request_duration_seconds_count{{endpoint=\"{}\"}} {}\n",
                           buckets, endpoint, seconds, endpoint, cumulated);
        }
    }
    text += histogram;
    head(text, "waitbench_in_flight", "gauge", "Requests that have reached their model.");
    for (std::size_t phase = 0; phase < kPhases; ++phase) {
        fmt::format_to(out, "waitbench_in_flight{{phase=\"{}\"}} {}\n", kPhaseNames[phase],
                       in_flight_[phase].load());
    }
    append(text, "waitbench_threads", "gauge", "OS threads of this process.", os_threads());
    return text;
}

}  // namespace common::metrics
