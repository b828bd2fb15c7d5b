#pragma once

#include <chrono>

/// When a pool whose threads block gets more of them, as .NET 6 and later decide it
/// (PortableThreadPool.Blocking.cs and .GateThread.cs of dotnet/runtime, read as a description).
/// Values only: no clock, no threads, no locks. The caller passes the time and the counts.
namespace sync_over_async {

enum class Injection {
    dotnet,  ///< as .NET does
    none,    ///< never more than the minimum
    fixed,   ///< one thread a fixed delay while threads block
};

struct InjectionSettings {
    Injection kind = Injection::dotnet;
    unsigned cpus = 1;
    unsigned min_threads = 1;
    unsigned max_threads = 32'767;
    std::chrono::milliseconds fixed_delay{0};
};

class InjectionPolicy {
  public:
    using Instant = std::chrono::steady_clock::time_point;

    struct Counts {
        unsigned existing = 0;  ///< threads, those that wait for work included
        unsigned working = 0;   ///< threads that hold a job, blocked ones included
        unsigned blocked = 0;   ///< threads that block on a future, and told the pool
        bool has_work = false;  ///< a job is queued
        Instant last_dequeue{};
    };

    InjectionPolicy(const InjectionSettings& settings, Instant start);

    /// How many threads may hold a job at once.
    unsigned goal() const { return goal_; }

    /// A thread has begun (has ended) to block, which makes `blocked` of them. True when `look`
    /// must be called at once.
    bool thread_blocked(unsigned blocked);
    bool thread_unblocked(unsigned blocked);
    /// An idle thread has ended, which leaves `existing`.
    void thread_ended(unsigned existing, unsigned blocked);

    /// Adjusts the goal. Returns the instant at which to look again at the latest.
    Instant look(Instant now, const Counts& counts);

  private:
    /// The adjustment that blocking or its end asks for.
    enum class Pending { none, grow, shrink };

    unsigned target(unsigned blocked) const;
    unsigned without_delay() const;
    void adjust_to_blocking(Instant now, const Counts& counts);
    void shrink_to(unsigned target);
    void grow_to(unsigned target, Instant now, const Counts& counts, bool delay_has_passed);
    std::chrono::milliseconds next_delay() const;
    void look_for_starvation(Instant now, const Counts& counts);

    InjectionSettings settings_;
    unsigned goal_;
    unsigned added_for_blocking_ = 0;
    Pending pending_ = Pending::none;
    bool delayed_ = false;  ///< growth waits for `grow_at_`
    Instant grow_at_;
    Instant gate_at_;
};

/// The threads that a pool has `elapsed` after its start when every thread blocks as soon as it
/// exists and jobs never run out.
unsigned threads_under_total_blocking(const InjectionSettings& settings,
                                      std::chrono::milliseconds elapsed);

}  // namespace sync_over_async
