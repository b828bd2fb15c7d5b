#pragma once

#include <chrono>
#include <cstddef>

/// Every bound of the runner, named once.
namespace bench::limits {

using namespace std::chrono_literals;

/// A program has this long to print its listening line, and then to answer as expected.
inline constexpr std::chrono::milliseconds kStart = 5s;
/// One request of the runner's own client, connecting included.
inline constexpr std::chrono::milliseconds kRequest = 2s;
inline constexpr std::size_t kAnswerBytes = 1024 * 1024;
/// After SIGTERM; then a second SIGTERM, and after as long again SIGKILL.
inline constexpr std::chrono::milliseconds kStop = 2s;
/// wrk overshoots its duration by 100 ms, and writes its histogram after it.
inline constexpr std::chrono::milliseconds kLoadOverrun = 10s;
/// wrk drops latencies above its timeout, so it is this much longer than the run.
inline constexpr std::chrono::seconds kLoadTimeoutMargin = 5s;
/// The pause between two looks at a child process or at /proc.
inline constexpr std::chrono::milliseconds kLook = 5ms;
inline constexpr std::chrono::milliseconds kSampleInterval = 100ms;
/// The connections are counted for the last time this long before the load ends.
inline constexpr std::chrono::milliseconds kBeforeEnd = 300ms;
/// The same for what a report keeps of the samples; a watched server is asked for /metrics then.
inline constexpr double kKeptIntervalS = 0.5;
inline constexpr double kWatchIntervalS = 0.5;
/// After the load, until requests that were out have been counted.
inline constexpr std::chrono::milliseconds kSettle = 300ms;
/// How long a server may take to finish what a load left behind, how often it is looked at, and
/// how many looks in a row must find nothing in flight.
inline constexpr std::chrono::milliseconds kSettleAtMost = 20s;
inline constexpr std::chrono::milliseconds kQuietLook = 20ms;
inline constexpr int kQuietLooks = 3;
/// The pause between two attempts to get the first answer of a program that starts.
inline constexpr std::chrono::microseconds kStartLook = 200us;
inline constexpr std::chrono::milliseconds kLongestBurst = 10min;
inline constexpr std::chrono::milliseconds kCeilingRun = 2s;
/// Spin canaries before and after a run; the fastest counts.
inline constexpr int kCanaries = 3;
/// Descriptors that a server needs besides two for each connection.
inline constexpr int kOtherDescriptors = 100;
/// Requests by which the stub's own wait is measured, one after the other; and how often, the
/// lowest median counts: a slow moment of the machine only adds.
inline constexpr int kStubRequests = 31;
inline constexpr int kStubTries = 3;
/// CPU time that the servers calibrate GET /cpu to.
inline constexpr double kCpuWorkS = 0.020;
// What an experiment file may ask for.
inline constexpr int kMostRuns = 100;
inline constexpr int kMostConnections = 100'000;
inline constexpr int kMostRequests = 10'000'000;
inline constexpr double kLongestRunS = 86'400;

// The profiles quick and fit.
inline constexpr std::chrono::milliseconds kQuickRun = 6s;
inline constexpr std::chrono::milliseconds kQuickWarmUp = 2s;
inline constexpr int kQuickRuns = 3;
inline constexpr std::chrono::milliseconds kFitRun = 10s;
inline constexpr int kFitRuns = 5;

/// What one request of a burst costs, roughly, for the time that is left.
inline constexpr double kBurstRequestS = 0.0005;
/// What a run takes beyond warm-up and load: starting, verifying, stopping.
inline constexpr std::chrono::milliseconds kRunOverhead = 700ms;

}  // namespace bench::limits
