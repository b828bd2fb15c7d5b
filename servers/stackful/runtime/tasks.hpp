#pragma once

#include <cstddef>
#include <functional>
#include <mutex>

#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {

/// Bounds the task fibers of one runtime. Waiters park, first come, first served.
class TaskSlots {
  public:
    explicit TaskSlots(std::size_t slots) : free_(slots) {}
    void take();
    void give_back();

  private:
    bool take_or_queue(Fiber& fiber);

    std::mutex mutex_;  // never held across a park
    std::size_t free_;
    FiberQueue waiters_;
};

/// Runs `task` `count` times, each in a fiber of its own, dealt over all schedulers, and returns
/// when all have ended. At most `limits::kTasksInFlight` of the runtime's tasks are under way at
/// once; the rest start as others end. Called on a fiber, which parks.
void run_all(std::size_t count, const std::function<void()>& task);

}  // namespace stackful::runtime
