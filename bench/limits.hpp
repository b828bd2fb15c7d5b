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
/// Requests by which the stub's own wait is measured, one after the other.
inline constexpr int kStubRequests = 31;
/// What a run takes beyond warm-up and load: starting, verifying, stopping.
inline constexpr std::chrono::milliseconds kRunOverhead = 700ms;

}  // namespace bench::limits
