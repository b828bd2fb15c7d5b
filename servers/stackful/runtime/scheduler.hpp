#pragma once

#include <atomic>
#include <cstdint>

#include "stackful/runtime/descriptor.hpp"
#include "stackful/runtime/fiber.hpp"
#include "stackful/runtime/timers.hpp"

namespace stackful::runtime {

class Runtime;

/// The work of one carrier: an epoll instance, a run queue, timers and an inbox. It belongs to the
/// carrier that holds it, and may change hands between any two fibers; so nothing of it lives on a
/// carrier's stack, and a batch of events is in the run queue before any fiber runs.
class Scheduler {
  public:
    Scheduler(Runtime& runtime, std::size_t index);
    ~Scheduler();
    Scheduler(const Scheduler&) = delete;
    Scheduler& operator=(const Scheduler&) = delete;

    // For any thread.

    /// Gives a suspended fiber to this scheduler: to its run queue, or to its timers if it says so.
    void post(Fiber& fiber);
    /// Ends the sleep of whoever sleeps on this scheduler, or watches it.
    void wake();
    /// Makes the epoll instance readable once.
    void signal();
    /// Fibers that this round will run; for counters only.
    std::size_t runnable() const { return runnable_.load(std::memory_order_relaxed); }
    /// Registers a socket, edge-triggered in both directions. Null when there is no room.
    Descriptor* watch(int socket);

    Runtime& runtime() const { return runtime_; }
    std::size_t index() const { return index_; }
    DescriptorTable& descriptors() { return descriptors_; }
    int epoll() const { return epoll_; }

    // For the carrier that holds it.

    void enqueue(Fiber& fiber) { queue_.push(fiber); }
    void add_timer(Fiber& fiber);
    /// The next fiber of this round; null when the round is over.
    Fiber* next();
    /// Begins a round: whatever the inbox, the timers and the sweep make runnable.
    void gather();
    /// Adds what epoll has; waits for it until something is due if `may_wait`.
    void poll(bool may_wait);

    /// From here on whoever posts must wake a sleeper. Precedes every sleep.
    void fall_asleep() { asleep_.store(true); }
    void get_up() { asleep_.store(false); }

    // For whoever knows that nobody holds it, and for the holder.

    bool has_work() const { return queue_.size() > 0 || inbox_.load() != nullptr; }
    /// The instant at which a timer or the sweep needs a carrier.
    Instant next_due() const;

    // Kept by Carriers, under its lock.
    bool is_orphan = false;

  private:
    void set_round(std::size_t fibers) {
        left_in_round_ = fibers;
        runnable_.store(fibers, std::memory_order_relaxed);
    }
    void drain_inbox();
    bool needs_sweep() const;
    void sweep(Instant now);
    void deliver(std::uint64_t tag, std::uint32_t events);
    void wake_fiber(Fiber* fiber);

    Runtime& runtime_;
    const std::size_t index_;
    int epoll_;
    int event_;
    DescriptorTable descriptors_;
    FiberQueue queue_;
    std::size_t left_in_round_ = 0;
    std::atomic<std::size_t> runnable_ = 0;  // the same, for the counters
    Timers timers_;
    Instant next_sweep_{};
    std::atomic<Fiber*> inbox_ = nullptr;
    std::atomic<bool> asleep_ = false;
};

}  // namespace stackful::runtime
