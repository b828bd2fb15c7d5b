#pragma once

#include <mutex>

#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {

/// Surrounds a wait of a pinned fiber on its thread: gives the scheduler up, counts, and, if asked
/// for, logs the place.
class PinnedWait {
  public:
    explicit PinnedWait(Fiber& fiber);
    ~PinnedWait();
    PinnedWait(const PinnedWait&) = delete;
    PinnedWait& operator=(const PinnedWait&) = delete;

  private:
    Fiber& fiber_;
};

/// A lock that belongs to the OS thread, as Java's `synchronized` did before JDK 24: a fiber that
/// holds one is pinned, and waits for one block the thread.
class Monitor {
  public:
    void lock();
    void unlock();

  private:
    std::mutex mutex_;
};

}  // namespace stackful::runtime
