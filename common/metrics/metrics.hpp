#pragma once

#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/app/call.hpp"

/// Counters of one process and their Prometheus text. Everything here may be called from any
/// thread at any time; reading while others count gives each counter at some recent moment.
namespace common::metrics {

/// Where a request that has reached its model is. Queued: handed over, no worker has it yet.
enum class Phase { queued, running, waiting };
inline constexpr std::size_t kPhases = 3;

/// The upper bounds of the duration histogram, in seconds.
inline constexpr std::array kBucketBounds = {0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1,
                                             0.25,   0.5,   1.0,    2.5,   5.0,  10.0,  30.0};
/// The statuses that the suite answers with; any other is counted as the last, 500.
inline constexpr std::array kStatuses = {200, 400, 404, 405, 408, 413, 417,
                                         431, 501, 502, 503, 504, 505, 500};

class Metrics {
  public:
    /// Counts one answered request; `duration` runs from the complete request to its answer.
    void count(app::Endpoint endpoint, int status, std::chrono::nanoseconds duration);
    void enter(Phase phase) { in_flight_[static_cast<std::size_t>(phase)].fetch_add(1); }
    void leave(Phase phase) { in_flight_[static_cast<std::size_t>(phase)].fetch_sub(1); }

    /// All counters as Prometheus text, the number of OS threads included.
    std::string text() const;

  private:
    // One shard a CPU (modulo), so that two cores do not pass one cache line to and fro.
    static constexpr std::size_t kShards = 16;
    struct alignas(64) Shard {
        std::atomic<std::uint64_t> requests[app::kEndpoints][kStatuses.size()] = {};
        std::atomic<std::uint64_t> buckets[app::kEndpoints][kBucketBounds.size() + 1] = {};
        std::atomic<std::uint64_t> duration_ns[app::kEndpoints] = {};
    };
    std::array<Shard, kShards> shards_;
    std::array<std::atomic<std::int64_t>, kPhases> in_flight_ = {};
};

/// Counts a request in a phase for as long as it lives.
class InPhase {
  public:
    InPhase(Metrics& metrics, Phase phase) : metrics_(metrics), phase_(phase) {
        metrics_.enter(phase_);
    }
    InPhase(const InPhase&) = delete;
    InPhase& operator=(const InPhase&) = delete;
    ~InPhase() { metrics_.leave(phase_); }

  private:
    Metrics& metrics_;
    Phase phase_;
};

/// Appends one metric without labels: its help, its type (`gauge` or `counter`) and its value.
void append(std::string& text, std::string_view name, std::string_view type, std::string_view help,
            double value);

}  // namespace common::metrics
