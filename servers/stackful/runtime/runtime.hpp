#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "common/limits.hpp"
#include "stackful/runtime/carriers.hpp"
#include "stackful/runtime/fiber.hpp"
#include "stackful/runtime/scheduler.hpp"
#include "stackful/runtime/stack.hpp"
#include "stackful/runtime/tasks.hpp"

namespace stackful::runtime {

struct Options {
    /// Schedulers, and carriers to begin with.
    std::size_t carriers = 1;
    /// OS threads at most, those that block included. At least `carriers`.
    std::size_t max_carriers = common::limits::kMaxCarriers;
    /// Whether a carrier that blocks gives up its scheduler.
    bool hand_off = true;
    /// Whether each place where a pinned fiber blocks is logged once, with its stack.
    bool trace_pinned = false;
    std::size_t stack_bytes = common::limits::kStackBytes;
    Guard guard = Guard::automatic;
    /// Fibers at most; the guard may allow fewer.
    std::size_t max_fibers = common::limits::kFibers;
    /// How long a carrier without work stays.
    std::chrono::milliseconds spare_idle = common::limits::kSpareIdle;
    /// How often fibers whose deadline has passed are woken.
    std::chrono::milliseconds sweep_interval = common::limits::kSweepInterval;
};

struct Counters {
    std::size_t fibers, parked, pinned, carriers, spares, orphans;
    std::uint64_t pinned_total;
};

/// The fiber runtime: schedulers, the carriers that run them, and the stacks.
class Runtime {
  public:
    explicit Runtime(const Options& options);
    /// Stops, if that was not done.
    ~Runtime();
    Runtime(const Runtime&) = delete;
    Runtime& operator=(const Runtime&) = delete;

    void start();
    /// Waits until every fiber has ended, then ends the carriers.
    void stop();

    // For any thread.

    /// Starts a fiber on a scheduler, counted from 0. The body must not throw. False when there is
    /// no stack for it.
    bool spawn_on(std::size_t scheduler, std::function<void()> body);
    std::size_t schedulers() const { return schedulers_.size(); }
    /// From now on every wait of a fiber ends at once, with `operation_aborted` where it has an
    /// error to give; only a monitor that another fiber holds is still waited for.
    void abandon();
    Counters counters();

    // For the runtime's own parts.

    const Options& options() const { return options_; }
    bool is_abandoned() const { return abandoned_.load(); }
    bool is_stopping() const { return stopping_.load(); }
    /// A descriptor that becomes readable when the runtime is abandoned.
    int abandon_event() const { return abandon_event_; }
    void end(Fiber& fiber);
    TaskSlots& task_slots() { return task_slots_; }
    StackPool& stacks() { return stacks_; }
    /// Counts the waits of pinned fibers.
    void pinned_wait_begins();
    void pinned_wait_ends() { pinned_.fetch_sub(1, std::memory_order_relaxed); }
    template <class Visit>
    void for_each_scheduler(Visit visit) {
        for (const auto& scheduler : schedulers_) {
            visit(*scheduler);
        }
    }

  private:
    const Options options_;
    StackPool stacks_;
    const std::size_t max_fibers_;
    TaskSlots task_slots_;
    std::vector<std::unique_ptr<Scheduler>> schedulers_;
    Carriers carriers_;
    int abandon_event_;
    bool started_ = false;
    std::atomic<bool> abandoned_ = false;
    std::atomic<bool> stopping_ = false;
    std::atomic<std::size_t> fibers_ = 0;
    std::atomic<std::size_t> pinned_ = 0;
    std::atomic<std::uint64_t> pinned_total_ = 0;
};

/// The index of the scheduler that the calling fiber belongs to.
std::size_t home_index();

/// Waits until then. Returns early when the runtime is abandoned.
void sleep_until(Instant instant);

/// Blocks the calling thread, which gives up its scheduler before. Returns early when the runtime
/// is abandoned.
void block_for(std::chrono::nanoseconds duration);

}  // namespace stackful::runtime
