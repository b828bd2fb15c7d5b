#include "stackful/runtime/tasks.hpp"

#include <algorithm>
#include <atomic>

#include "stackful/runtime/runtime.hpp"

namespace stackful::runtime {

void TaskSlots::take() {
    {
        const std::lock_guard lock(mutex_);
        if (free_ > 0) {
            --free_;
            return;
        }
    }
    park(
        *current_fiber(),
        [](Fiber& fiber, void* slots) {
            return static_cast<TaskSlots*>(slots)->take_or_queue(fiber);
        },
        this);
}

void TaskSlots::give_back() {
    Fiber* heir = nullptr;
    {
        const std::lock_guard lock(mutex_);
        heir = waiters_.pop();
        if (heir == nullptr) {
            ++free_;
        }
    }
    if (heir != nullptr) {
        make_ready(*heir);
    }
}

/// True if the fiber must wait until a slot is handed to it.
bool TaskSlots::take_or_queue(Fiber& fiber) {
    const std::lock_guard lock(mutex_);
    if (free_ == 0) {
        waiters_.push(fiber);
        return true;
    }
    --free_;
    return false;
}

namespace {

/// A starter starts this many tasks, then lets others have their turn.
constexpr std::size_t kTasksPerTurn = 64;

/// One call of run_all. Lives on the caller's stack until nothing is pending.
class Batch {
  public:
    Batch(Runtime& runtime, std::size_t count, const std::function<void()>& task)
        : runtime_(runtime), count_(count), task_(task), caller_(*current_fiber()) {}

    void run() {
        for (std::size_t i = 0; i < runtime_.schedulers(); ++i) {
            spawn_or_run(i, [this] { start_tasks(); });
        }
        park(
            caller_, [](Fiber&, void* batch) { return !static_cast<Batch*>(batch)->end_one(); },
            this);
    }

  private:
    void start_tasks() {
        while (const std::size_t tasks = claim()) {
            for (std::size_t i = 0; i < tasks; ++i) {
                runtime_.task_slots().take();
                spawn_or_run(home_index(), [this] {
                    task_();
                    runtime_.task_slots().give_back();
                });
            }
            yield();
        }
    }

    /// Nothing more once the runtime is abandoned: what is to come would only end at once.
    std::size_t claim() {
        if (runtime_.is_abandoned()) {
            return 0;
        }
        const std::size_t first = claimed_.fetch_add(kTasksPerTurn);
        return first < count_ ? std::min(kTasksPerTurn, count_ - first) : 0;
    }

    /// Without a stack for a fiber the caller does the work itself: slower, never wrong.
    template <class Work>
    void spawn_or_run(std::size_t scheduler, Work work) {
        pending_.fetch_add(1);
        const bool spawned = runtime_.spawn_on(scheduler, [this, work] {
            work();
            Fiber& caller = caller_;
            if (end_one()) {
                make_ready(caller);
            }
        });
        if (!spawned) {
            work();
            pending_.fetch_sub(1);
        }
    }

    /// True for the last. For all others the batch may be gone when this returns.
    bool end_one() { return pending_.fetch_sub(1) == 1; }

    Runtime& runtime_;
    const std::size_t count_;
    const std::function<void()>& task_;
    Fiber& caller_;
    std::atomic<std::size_t> claimed_ = 0;
    std::atomic<std::size_t> pending_ = 1;  // the caller itself
};

}  // namespace

void run_all(std::size_t count, const std::function<void()>& task) {
    Batch(current_fiber()->home->runtime(), count, task).run();
}

}  // namespace stackful::runtime
