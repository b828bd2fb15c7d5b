#pragma once

#include <condition_variable>
#include <thread>

#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {

class Carriers;
class Runtime;

/// Runs on the carrier's side of a switch, when the fiber is fully suspended, and publishes it to
/// whoever will wake it. False: the event came first and the fiber goes on at once. After the
/// publication another carrier may run the fiber, so nothing of it may be touched.
using Commit = bool (*)(Fiber& fiber, void* argument);

/// An OS thread that runs fibers. It holds one scheduler, or none while it runs a fiber to its next
/// park after a wait on the thread.
class Carrier {
  public:
    Carrier(Runtime& runtime, Carriers& carriers) : runtime_(runtime), carriers_(carriers) {}

    /// The calling thread's carrier; null elsewhere. Never inlined and never assumed to give the
    /// same answer twice: the compiler must not keep a thread-local address across a switch.
    static Carrier* current();

    /// The body of the thread.
    void run();

    Fiber* running() const { return running_.load(std::memory_order_relaxed); }
    Scheduler* scheduler() const { return scheduler_; }
    void give_up_scheduler();

  private:
    friend class Carriers;
    friend void park(Fiber& self, Commit commit, void* argument);

    void serve(Scheduler& held);
    void execute(Fiber& fiber);

    Runtime& runtime_;
    Carriers& carriers_;
    std::atomic<Fiber*> running_ = nullptr;  // written by this thread, counted by others
    Commit commit_ = nullptr;
    void* argument_ = nullptr;

    // Kept by Carriers, under its lock; `scheduler_` also belongs to the thread itself.
    Scheduler* scheduler_ = nullptr;
    bool is_expected_ = false;
    bool has_ended_ = false;
    std::condition_variable wanted_;
    std::thread thread_;
};

/// The fiber that calls; null on a thread that runs none.
Fiber* current_fiber();

/// Suspends the calling fiber until it is made ready. A pinned fiber waits on its thread instead,
/// after the thread has given up its scheduler.
void park(Fiber& self, Commit commit, void* argument);

/// Makes a fiber run again that its last `commit` has published. Any thread; exactly one caller.
void make_ready(Fiber& fiber);

/// Gives the calling fiber's turn to the others of its scheduler.
void yield();

/// Precedes everything that blocks the thread: another carrier takes the scheduler over.
void give_up_scheduler();

}  // namespace stackful::runtime
