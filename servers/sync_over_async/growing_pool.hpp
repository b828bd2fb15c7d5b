#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <list>
#include <mutex>
#include <thread>
#include <vector>

#include "common/rare_warning.hpp"
#include "sync_over_async/injection_policy.hpp"

namespace sync_over_async {

/// A pool that adds threads while its threads block, as .NET's does. Jobs wait in one
/// first-in-first-out queue; a second lane goes ahead of it for `--completions priority`. The
/// queue is bounded by what is put in: one job a connection, one completion item, and
/// `limits::kTasksInFlight` tasks. Every member may be called from any thread.
class GrowingPool {
  public:
    using Job = std::function<void()>;
    enum class Lane { ordinary, priority };

    struct Numbers {
        unsigned threads = 0;
        unsigned blocked = 0;
        unsigned goal = 0;
        std::uint64_t injected = 0;  ///< threads started beyond the minimum, ever
        std::uint64_t completed = 0;
        std::size_t ordinary_length = 0;
        std::size_t priority_length = 0;
    };

    explicit GrowingPool(const InjectionSettings& settings);
    ~GrowingPool();
    /// Waits for the running jobs; what is still queued is dropped.
    void stop();

    void push(Job job, Lane lane = Lane::ordinary);

    /// Blocks the calling worker until the future is there, and tells the pool so.
    template <class Value>
    Value block_on(std::future<Value> future) {
        if (future.wait_for(std::chrono::seconds(0)) != std::future_status::ready) {
            note_blocked();
            future.wait();
            note_unblocked();
        }
        return future.get();
    }

    Numbers numbers() const;

  private:
    struct Worker;
    using Clock = std::chrono::steady_clock;

    void work(Worker& self);
    bool wait_for_work(std::unique_lock<std::mutex>& lock, Worker& self);
    void release_worker();
    void start_worker();
    bool take(Job& job);
    void note_blocked();
    void note_unblocked();
    void watch();
    InjectionPolicy::Counts counts() const;

    const unsigned min_threads_;
    mutable std::mutex mutex_;
    InjectionPolicy policy_;
    std::condition_variable look_;
    bool must_look_ = false;
    bool stopping_ = false;
    std::deque<Job> ordinary_;
    std::deque<Job> priority_;
    std::list<Worker> workers_;
    std::list<Worker> ended_;    ///< to be joined
    std::vector<Worker*> idle_;  ///< woken last in, first out
    unsigned working_ = 0;
    unsigned blocked_ = 0;
    std::uint64_t injected_ = 0;
    std::uint64_t completed_ = 0;
    Clock::time_point last_dequeue_ = Clock::now();
    common::RareWarning no_thread_;
    std::thread gate_;
};

}  // namespace sync_over_async
