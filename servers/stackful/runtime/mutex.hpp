#pragma once

#include <mutex>

#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {

/// A lock whose waiters park, first come, first served. Its holder may park too, and unlock on
/// another thread. Satisfies BasicLockable; fibers only. Not recursive.
class Mutex {
  public:
    void lock();
    void unlock();

  private:
    bool take_or_queue(Fiber& fiber);

    std::mutex guard_;  // never held across a park
    bool locked_ = false;
    FiberQueue waiters_;
};

}  // namespace stackful::runtime
