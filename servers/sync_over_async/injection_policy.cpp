#include "sync_over_async/injection_policy.hpp"

#include <algorithm>

namespace sync_over_async {
namespace {

using namespace std::chrono_literals;

// .NET's defaults (the settings System.Threading.ThreadPool.Blocking.*).
constexpr std::chrono::milliseconds kDelayStep = 25ms;
constexpr std::chrono::milliseconds kMaxDelay = 250ms;
constexpr std::chrono::milliseconds kGateInterval = 500ms;

}  // namespace

InjectionPolicy::InjectionPolicy(const InjectionSettings& settings, Instant start)
    : settings_(settings),
      goal_(std::min(settings.min_threads, settings.max_threads)),
      gate_at_(start + kGateInterval) {}

unsigned InjectionPolicy::target(unsigned blocked) const {
    return std::min(settings_.min_threads + blocked, settings_.max_threads);
}

unsigned InjectionPolicy::without_delay() const {
    const unsigned at_once = settings_.kind == Injection::dotnet ? settings_.cpus : 0;
    return std::min(settings_.min_threads + at_once, settings_.max_threads);
}

bool InjectionPolicy::thread_blocked(unsigned blocked) {
    if (settings_.kind == Injection::none || pending_ == Pending::grow ||
        goal_ >= target(blocked)) {
        return false;
    }
    const bool must_look = pending_ == Pending::none;
    pending_ = Pending::grow;
    return must_look;
}

bool InjectionPolicy::thread_unblocked(unsigned blocked) {
    if (pending_ == Pending::shrink || added_for_blocking_ == 0 || goal_ <= target(blocked)) {
        return false;
    }
    pending_ = Pending::shrink;
    return true;
}

void InjectionPolicy::thread_ended(unsigned existing, unsigned blocked) {
    goal_ = std::max(std::min(goal_, target(blocked)), std::min(existing, goal_));
}

InjectionPolicy::Instant InjectionPolicy::look(Instant now, const Counts& counts) {
    adjust_to_blocking(now, counts);
    if (now >= gate_at_) {
        gate_at_ = now + kGateInterval;
        look_for_starvation(now, counts);
    }
    return delayed_ ? std::min(grow_at_, gate_at_) : gate_at_;
}

void InjectionPolicy::adjust_to_blocking(Instant now, const Counts& counts) {
    const bool delay_has_passed = delayed_ && now >= grow_at_;
    if (pending_ == Pending::grow && delayed_ && !delay_has_passed) {
        return;
    }
    delayed_ = false;
    if (pending_ == Pending::none) {
        return;
    }
    pending_ = Pending::none;
    const unsigned target_threads = target(counts.blocked);
    if (goal_ > target_threads) {
        shrink_to(target_threads);
    } else if (goal_ < target_threads) {
        grow_to(target_threads, now, counts, delay_has_passed);
    }
}

/// Only what blocking added is taken back, so that what starvation added stays.
void InjectionPolicy::shrink_to(unsigned target) {
    const unsigned fewer = std::min(goal_ - target, added_for_blocking_);
    added_for_blocking_ -= fewer;
    goal_ -= fewer;
}

/// Threads that exist are released at once, and so many more are created at once; after that each
/// new thread waits its delay, which grows with the threads.
void InjectionPolicy::grow_to(unsigned target, Instant now, const Counts& counts,
                              bool delay_has_passed) {
    const unsigned free_of_delay =
        std::max(without_delay(), std::min(counts.existing, settings_.max_threads));
    const unsigned at_once = std::min(target, free_of_delay);
    const unsigned before = goal_;
    if (goal_ < at_once) {
        goal_ = at_once;
    } else if (delay_has_passed) {
        ++goal_;
    }
    added_for_blocking_ += goal_ - before;
    if (goal_ < target) {
        pending_ = Pending::grow;
        delayed_ = true;
        grow_at_ = now + next_delay();
    }
}

std::chrono::milliseconds InjectionPolicy::next_delay() const {
    if (settings_.kind == Injection::fixed) {
        return settings_.fixed_delay;
    }
    const unsigned beyond = goal_ > without_delay() ? goal_ - without_delay() : 0;
    return std::min(kDelayStep * (1 + beyond / settings_.cpus), kMaxDelay);
}

/// The older rule: jobs wait, none was taken for a while, and nobody said that he blocks.
void InjectionPolicy::look_for_starvation(Instant now, const Counts& counts) {
    if (settings_.kind == Injection::dotnet && pending_ == Pending::none && counts.has_work &&
        now - counts.last_dequeue >= kGateInterval && counts.working < settings_.max_threads &&
        counts.working >= goal_) {
        goal_ = counts.working + 1;
    }
}

unsigned threads_under_total_blocking(const InjectionSettings& settings,
                                      std::chrono::milliseconds elapsed) {
    const InjectionPolicy::Instant start{};
    InjectionPolicy policy(settings, start);
    for (auto now = start; now <= start + elapsed;) {
        const unsigned threads = policy.goal();
        policy.thread_blocked(threads);
        const auto next = policy.look(now, {.existing = threads,
                                            .working = threads,
                                            .blocked = threads,
                                            .has_work = true,
                                            .last_dequeue = now});
        // New threads block at the same instant, which asks for the next look.
        now = policy.goal() > threads ? now : next;
    }
    return policy.goal();
}

}  // namespace sync_over_async
