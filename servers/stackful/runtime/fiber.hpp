#pragma once

#include <atomic>
#include <boost/context/fiber.hpp>
#include <chrono>
#include <cstdint>
#include <functional>

#include "stackful/runtime/stack.hpp"

namespace stackful::runtime {

using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

class Scheduler;

/// One stackful coroutine: the record that queues, timers and readiness words point at.
/// Exactly one of these holds it at any moment: a run queue, an inbox, a timer heap, one readiness
/// word, one waiters' list, or the carrier that runs it. So nothing can wake it twice.
struct Fiber {
    Fiber* next = nullptr;  // in a run queue, an inbox or a list of waiters
    Scheduler* home = nullptr;
    std::function<void()> body;
    Stack stack;

    /// Where the fiber goes on; empty while it runs and when it has ended.
    boost::context::fiber context;
    /// Where the carrier that runs the fiber goes on.
    boost::context::fiber carrier_context;

    /// Monitors held: above nought the fiber is pinned and waits on its thread.
    unsigned monitors = 0;
    /// Set while the fiber waits on its thread; whoever wakes it clears it.
    std::atomic<std::uint32_t> waits_on_thread = 0;
    /// When to wake; set while the fiber is on its way to a timer heap.
    Instant wakes_at{};
    bool to_timer = false;

    // What the sanitizers know of the carrier's side of a switch.
    void* sanitizer_carrier = nullptr;
    const void* carrier_stack = nullptr;
    std::size_t carrier_stack_bytes = 0;
};

/// Fibers in the order in which they came. Not thread-safe.
class FiberQueue {
  public:
    void push(Fiber& fiber) {
        fiber.next = nullptr;
        (last_ != nullptr ? last_->next : first_) = &fiber;
        last_ = &fiber;
        ++size_;
    }
    Fiber* pop() {
        Fiber* fiber = first_;
        if (fiber != nullptr) {
            first_ = fiber->next;
            if (first_ == nullptr) {
                last_ = nullptr;
            }
            --size_;
        }
        return fiber;
    }
    std::size_t size() const { return size_; }

  private:
    Fiber* first_ = nullptr;
    Fiber* last_ = nullptr;
    std::size_t size_ = 0;
};

// The switch itself. Only a carrier and `park` call these.

/// Runs the fiber until it parks or ends. Called by a carrier, on the thread's own stack.
void switch_to_fiber(Fiber& fiber);
/// Gives the thread back to the carrier that runs the fiber; returns when some carrier, perhaps
/// on another thread, switches to the fiber again. Called on the fiber's stack.
void switch_to_carrier(Fiber& fiber);
/// Frees what thread sanitizer keeps for the fibers of a stack.
void forget_switches(const Stack& stack);

}  // namespace stackful::runtime
