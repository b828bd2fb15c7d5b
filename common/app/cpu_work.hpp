#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>

namespace common::app {

/// The SHA-256 chain of GET /cpu: d(1) = SHA-256 of the bytes `waitbench`, d(n+1) = SHA-256 of the
/// 32 raw bytes of d(n). Returns d(iterations) in lower-case hex; iterations is at least 1.
/// Thread-safe; computes on the calling thread and never waits.
std::string digest_chain(std::uint64_t iterations);

/// How many iterations take `limits::kCpuWork` of CPU time on this machine: the upper quartile
/// of many tries on the calling thread, which takes about a quarter of a second.
std::uint64_t calibrate_iterations();

/// The default number of iterations: given by flag, or calibrated once at first use. Thread-safe.
class CpuWorkSize {
  public:
    /// `iterations` 0 means: calibrate when first asked for.
    explicit CpuWorkSize(std::uint64_t iterations) : iterations_(iterations) {}

    /// Called once, by whoever asks first; must hand `calibrate` to a thread that may compute.
    void on_first_use(std::function<void()> start) { start_ = std::move(start); }

    /// The number, or 0 while it is being calibrated: then wait a little and ask again.
    std::uint64_t iterations();

    /// Calibrates on the calling thread and publishes the number.
    void calibrate() { iterations_ = calibrate_iterations(); }

  private:
    std::atomic<std::uint64_t> iterations_;
    std::atomic<bool> asked_ = false;
    std::function<void()> start_;
};

}  // namespace common::app
