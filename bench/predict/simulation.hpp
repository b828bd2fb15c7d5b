#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sync_over_async/injection_policy.hpp"

/// What sync over async does from a cold start, by a small discrete-event simulation. It asks the
/// server's own InjectionPolicy, with simulated time, so that prediction and server cannot hold
/// different rules about threads.
namespace bench::predict {

/// Where the item that completes calls queues: behind the waiting requests, or ahead of them.
enum class Completions { fifo, priority };

/// A closed loop: every connection sends its next request when the last one is answered.
struct Scenario {
    sync_over_async::InjectionSettings injection;
    Completions completions = Completions::fifo;
    unsigned connections = 0;
    double wait_s = 0;  ///< Of the downstream call.
    /// Half of it is used before the wait and half by the item that ends it; 0 when not known.
    double cpu_s_per_request = 0;
    unsigned cpus = 1;  ///< That there are; what the policy assumes stands in `injection`.
    double duration_s = 0;
};

/// The state at the end of a half second.
struct HalfSecond {
    double t_s = 0;
    unsigned threads = 0, blocked = 0;
    std::uint64_t completed = 0;  ///< Requests since the start.
};

struct Course {
    std::vector<HalfSecond> half_seconds;
    std::optional<double> take_off_s;  ///< The first answer; none within the duration.
};

Course simulate(const Scenario& scenario);

/// Seconds until the first of `requests` simultaneous ones is answered, from the schedule alone: no
/// wait, no CPU, completions first in, first out. The pool needs a thread for each and one more.
/// None within kTakeOffHorizonS.
std::optional<double> take_off_s(const sync_over_async::InjectionSettings& settings,
                                 unsigned requests);

/// Four threads a second give .NET's largest pool, 32,767 threads, in 8,200 s.
inline constexpr double kTakeOffHorizonS = 10'000;

}  // namespace bench::predict
