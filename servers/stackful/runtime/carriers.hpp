#pragma once

#include <atomic>
#include <cstddef>
#include <deque>
#include <list>
#include <memory>
#include <mutex>
#include <vector>

#include "common/rare_warning.hpp"
#include "stackful/runtime/carrier.hpp"
#include "stackful/runtime/scheduler.hpp"

namespace stackful::runtime {

/// The OS threads, and who holds which scheduler. Go's rule: a carrier gives up its scheduler
/// before every wait that blocks the thread. A scheduler without a carrier is an orphan, which a
/// spare or new carrier adopts. At the limit of threads nobody may sleep on an empty scheduler
/// while an orphan has something to run: idle carriers orphan theirs too and watch all orphans at
/// once.
class Carriers {
  public:
    explicit Carriers(Runtime& runtime);
    ~Carriers();
    Carriers(const Carriers&) = delete;
    Carriers& operator=(const Carriers&) = delete;

    /// One carrier for every scheduler. Throws std::system_error when threads cannot be made.
    void start();
    /// Ends all carriers, which must have nothing to run, and joins them.
    void stop();

    // For carriers.

    /// Gives the carrier a scheduler; waits for one as a spare. False: the thread shall end.
    bool adopt(Carrier& carrier);
    /// Takes the carrier's scheduler from it. Called on a fiber's stack.
    void give_up(Carrier& carrier);
    /// Whether some orphan has no carrier on its way.
    bool are_short() const { return short_.load(); }
    /// Exchanges the carrier's busy scheduler for the orphan that has waited longest, unless idle
    /// carriers watch the orphans: at the limit a carrier that never runs out of work must not
    /// leave them alone.
    void take_turns(Carrier& carrier);
    /// Orphans the carrier's idle scheduler and waits for any orphan to have something to run.
    void watch_orphans(Carrier& carrier);

    struct Counts {
        std::size_t carriers, spares, orphans, running;
    };
    Counts counts();

  private:
    void summon();
    bool start_carrier();
    bool wait_as_spare(Carrier& carrier, std::unique_lock<std::mutex>& lock);
    void take(Carrier& carrier, Scheduler& orphan);
    void let_go(Carrier& carrier);
    Scheduler* orphan_with_work(Instant now);
    Instant arm_watch();
    Scheduler* wait_in_watch(Instant deadline, std::unique_lock<std::mutex>& lock);
    void send_watchers_home();
    void update_short() { short_.store(orphans_.size() > expected_); }

    Runtime& runtime_;
    std::mutex mutex_;
    std::list<std::unique_ptr<Carrier>> carriers_;
    std::size_t alive_ = 0;
    std::deque<Scheduler*> orphans_;
    std::vector<Carrier*> spares_;
    /// Carriers that are on their way to adopt an orphan.
    std::size_t expected_ = 0;
    std::atomic<bool> short_ = false;
    common::RareWarning no_thread_;

    // The watch: one epoll instance over those of the orphans.
    int watch_;
    int watch_event_;
    std::size_t watchers_ = 0;
    std::size_t homecoming_ = 0;
    std::size_t watch_generation_ = 0;
};

}  // namespace stackful::runtime
