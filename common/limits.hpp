#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

/// The bounds that requests, clients and users meet, each named once; what bounds only the inside
/// of one file stands at its head. Deadlines that a flag can change are the flag's default.
namespace common::limits {

using namespace std::chrono_literals;

// What a request may hold.
inline constexpr std::uint32_t kHeaderBytes = 16 * 1024;
inline constexpr std::size_t kBodyBytes = 64 * 1024;
inline constexpr std::uint64_t kMilliseconds = 60'000;
inline constexpr std::uint64_t kTasks = 1'000'000;
inline constexpr std::uint64_t kCpuIterations = 10'000'000;

// What the downstream may answer.
inline constexpr std::uint32_t kDownstreamHeaderBytes = 16 * 1024;
inline constexpr std::size_t kDownstreamBodyBytes = 1024 * 1024;

// Deadlines: one instant for the whole phase.
inline constexpr std::chrono::milliseconds kHeaderTimeout = 10s;
inline constexpr std::chrono::milliseconds kBodyTimeout = 10s;
inline constexpr std::chrono::milliseconds kIdleTimeout = 60s;
inline constexpr std::chrono::milliseconds kWriteTimeout = 10s;
inline constexpr std::chrono::milliseconds kDownstreamTimeout = 30s;
inline constexpr std::chrono::milliseconds kDrainTimeout = 10s;
/// The sweep over a loop's deadlines runs this often, or every tenth of the shortest deadline.
inline constexpr std::chrono::milliseconds kSweepInterval = 100ms;

// After an answer that ends a connection the server discards what still comes, up to these.
inline constexpr std::size_t kLingerBytes = 64 * 1024;
inline constexpr std::chrono::milliseconds kLingerTimeout = 2s;

// One receive call asks for at most this much.
inline constexpr std::size_t kReceiveBytes = 4 * 1024;

/// Descriptors kept back from connections: listener, logs, event descriptors, a margin.
inline constexpr std::size_t kReservedDescriptors = 100;
/// Idle downstream connections that one pool of them keeps.
inline constexpr std::size_t kIdleDownstreamConnections = 4096;

/// CPU time that GET /cpu is calibrated to.
inline constexpr std::chrono::milliseconds kCpuWork = 20ms;
/// How often a request that needs the calibration looks whether it is done.
inline constexpr std::chrono::milliseconds kCalibrationPoll = 5ms;

// The fiber runtime (servers/stackful/runtime).
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr std::size_t kStackBytes = 256 * 1024;
#else
inline constexpr std::size_t kStackBytes = 64 * 1024;
#endif
inline constexpr std::size_t kStackGuardBytes = 64 * 1024;
inline constexpr std::size_t kTasksInFlight = 100'000;
inline constexpr std::size_t kMaxCarriers = 256;
inline constexpr std::size_t kHighestMaxCarriers = 32'767;
inline constexpr std::size_t kLeastStackBytes = 16 * 1024;
/// With --trace-pinned, since the fiber itself writes its trace.
inline constexpr std::size_t kLeastTracedStackBytes = 32 * 1024;
inline constexpr std::size_t kMostStackBytes = 8 * 1024 * 1024;
inline constexpr std::size_t kFibers = 1'000'000;
inline constexpr std::size_t kFibersUnderThreadSanitizer = 7'500;  // GCC 12's ends at 8,000
inline constexpr std::size_t kTasksUnderThreadSanitizer = 500;  // a new fiber takes it milliseconds
inline constexpr std::size_t kStacksPerSlab = 64;
/// Free stacks that keep their memory. Of those beyond, so many at most give it back to the kernel
/// at every interval, if they were not needed during it.
inline constexpr std::size_t kWarmStacks = 1024;
inline constexpr std::size_t kStacksTrimmedAtOnce = 2048;
inline constexpr std::chrono::milliseconds kTrimInterval = 250ms;
/// Mappings kept back from stack guards made with mprotect, which cost two each.
inline constexpr std::size_t kReservedMappings = 2'000;
/// Events that one call of epoll_wait takes.
inline constexpr std::size_t kEventBatch = 256;
/// A carrier without work ends after this time.
inline constexpr std::chrono::milliseconds kSpareIdle = 5s;
/// Places where pinned fibers block that --trace-pinned logs, and stack frames of each.
inline constexpr std::size_t kTracedPlaces = 100;
inline constexpr std::size_t kTracedFrames = 48;

// The growing pool (servers/sync_over_async): .NET's figures.
/// A pool thread that found no work for so long ends.
inline constexpr std::chrono::milliseconds kIdleThreadTimeout = 20s;
/// One completion item works off events for so long before it lines up again.
inline constexpr std::chrono::milliseconds kCompletionQuantum = 15ms;

}  // namespace common::limits
