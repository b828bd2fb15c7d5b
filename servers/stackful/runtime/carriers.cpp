#include "stackful/runtime/carriers.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "common/limits.hpp"
#include "stackful/runtime/runtime.hpp"
#include "stackful/runtime/system.hpp"

namespace stackful::runtime {

Carriers::Carriers(Runtime& runtime)
    : runtime_(runtime),
      watch_(::epoll_create1(EPOLL_CLOEXEC)),
      watch_event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    epoll_event event{};
    event.events = EPOLLIN;
    if (watch_ < 0 || watch_event_ < 0 ||
        ::epoll_ctl(watch_, EPOLL_CTL_ADD, watch_event_, &event) != 0)
        throw std::system_error(errno, std::generic_category(), "epoll");
}

Carriers::~Carriers() {
    ::close(watch_event_);
    ::close(watch_);
}

void Carriers::start() {
    const std::lock_guard lock(mutex_);
    runtime_.for_each_scheduler([this](Scheduler& scheduler) {
        // Disarmed until somebody watches.
        epoll_event event{};
        event.data.ptr = &scheduler;
        event.events = EPOLLONESHOT;
        if (::epoll_ctl(watch_, EPOLL_CTL_ADD, scheduler.epoll(), &event) != 0) {
            throw std::system_error(errno, std::generic_category(), "epoll");
        }
        scheduler.is_orphan = true;
        orphans_.push_back(&scheduler);
        if (!start_carrier()) {
            throw std::system_error(EAGAIN, std::generic_category(), "thread");
        }
    });
}

void Carriers::stop() {
    {
        const std::lock_guard lock(mutex_);
        for (Carrier* spare : spares_) {
            spare->wanted_.notify_one();
        }
        send_watchers_home();
        runtime_.for_each_scheduler([](Scheduler& scheduler) { scheduler.signal(); });
    }
    for (const auto& carrier : carriers_) {
        carrier->thread_.join();
    }
    carriers_.clear();
}

bool Carriers::adopt(Carrier& carrier) {
    std::unique_lock lock(mutex_);
    if (carrier.is_expected_) {
        carrier.is_expected_ = false;
        --expected_;
    }
    while (orphans_.empty()) {
        if (!wait_as_spare(carrier, lock)) {
            carrier.has_ended_ = true;
            --alive_;
            return false;
        }
    }
    take(carrier, *orphans_.front());
    return true;
}

bool Carriers::wait_as_spare(Carrier& carrier, std::unique_lock<std::mutex>& lock) {
    spares_.push_back(&carrier);
    // By the system's clock: thread sanitizer does not know a condition's wait by the steady one.
    const auto deadline = std::chrono::system_clock::now() + runtime_.options().spare_idle;
    carrier.wanted_.wait_until(lock, deadline,
                               [&] { return carrier.is_expected_ || runtime_.is_stopping(); });
    if (!carrier.is_expected_) {
        std::erase(spares_, &carrier);
        return false;
    }
    carrier.is_expected_ = false;
    --expected_;
    return true;
}

void Carriers::take(Carrier& carrier, Scheduler& orphan) {
    std::erase(orphans_, &orphan);
    orphan.is_orphan = false;
    orphan.get_up();
    carrier.scheduler_ = &orphan;
    // When every orphan could have a carrier of its own again, the watch is over.
    if (watchers_ > 0 && orphans_.size() <= expected_ + watchers_) {
        send_watchers_home();
    }
    update_short();
}

void Carriers::let_go(Carrier& carrier) {
    Scheduler& scheduler = *carrier.scheduler_;
    carrier.scheduler_ = nullptr;
    scheduler.fall_asleep();
    scheduler.is_orphan = true;
    orphans_.push_back(&scheduler);
}

void Carriers::give_up(Carrier& carrier) {
    if (!runtime_.options().hand_off) {
        return;
    }
    const std::lock_guard lock(mutex_);
    let_go(carrier);
    if (orphans_.size() > expected_) {
        summon();
    }
    update_short();
}

/// Finds a carrier for the orphan that came last.
void Carriers::summon() {
    if (!spares_.empty()) {
        Carrier* spare = spares_.back();
        spares_.pop_back();
        spare->is_expected_ = true;
        ++expected_;
        spare->wanted_.notify_one();
        return;
    }
    if (alive_ < runtime_.options().max_carriers) {
        if (start_carrier()) {
            return;
        }
        no_thread_("cannot start a carrier beside " + std::to_string(alive_) + " others");
    }
    short_.store(true);
    // Those who sleep must watch. A watcher must look at the new orphan's queue and timers.
    runtime_.for_each_scheduler([](Scheduler& scheduler) {
        if (!scheduler.is_orphan) {
            scheduler.wake();
        }
    });
    if (watchers_ > 0) {
        arm_watch();
        orphans_.back()->signal();
    }
}

bool Carriers::start_carrier() {
    std::erase_if(carriers_, [](const std::unique_ptr<Carrier>& carrier) {
        if (carrier->has_ended_) {
            carrier->thread_.join();
        }
        return carrier->has_ended_;
    });
    auto carrier = std::make_unique<Carrier>(runtime_, *this);
    carrier->is_expected_ = true;
    try {
        carrier->thread_ = std::thread([raw = carrier.get()] { raw->run(); });
    } catch (const std::system_error&) {
        return false;
    }
    ++expected_;
    ++alive_;
    carriers_.push_back(std::move(carrier));
    return true;
}

void Carriers::take_turns(Carrier& carrier) {
    const std::lock_guard lock(mutex_);
    if (watchers_ == 0 && orphans_.size() > expected_) {
        let_go(carrier);
        take(carrier, *orphans_.front());
    }
}

void Carriers::watch_orphans(Carrier& carrier) {
    std::unique_lock lock(mutex_);
    if (orphans_.size() <= expected_) {
        return;
    }
    let_go(carrier);
    while (!runtime_.is_stopping()) {
        Scheduler* orphan = orphan_with_work(Clock::now());
        if (orphan == nullptr && orphans_.size() <= expected_ + watchers_ + 1) {
            orphan = orphans_.front();
        }
        if (orphan != nullptr) {
            return take(carrier, *orphan);
        }
        const std::size_t generation = watch_generation_;
        ++watchers_;
        orphan = wait_in_watch(arm_watch(), lock);
        if (generation != watch_generation_) {
            // Sent home: we count as expected, and the run loop calls adopt().
            carrier.is_expected_ = true;
            if (--homecoming_ == 0) {
                std::uint64_t count = 0;
                [[maybe_unused]] const ssize_t got = ::read(watch_event_, &count, sizeof count);
            }
            return;
        }
        --watchers_;
        if (orphan != nullptr && orphan->is_orphan) {
            return take(carrier, *orphan);
        }
    }
}

Scheduler* Carriers::orphan_with_work(Instant now) {
    const auto found = std::find_if(orphans_.begin(), orphans_.end(), [now](Scheduler* orphan) {
        return orphan->has_work() || orphan->next_due() <= now;
    });
    return found == orphans_.end() ? nullptr : *found;
}

/// Arms every orphan and returns when the first of them has something due.
Instant Carriers::arm_watch() {
    Instant earliest = Instant::max();
    for (Scheduler* orphan : orphans_) {
        epoll_event event{};
        event.events = EPOLLIN | EPOLLONESHOT;
        event.data.ptr = orphan;
        ::epoll_ctl(watch_, EPOLL_CTL_MOD, orphan->epoll(), &event);
        earliest = std::min(earliest, orphan->next_due());
    }
    return earliest;
}

Scheduler* Carriers::wait_in_watch(Instant deadline, std::unique_lock<std::mutex>& lock) {
    lock.unlock();
    epoll_event event{};
    const int count = wait_for_events(watch_, &event, 1, deadline);
    lock.lock();
    return count == 1 ? static_cast<Scheduler*>(event.data.ptr) : nullptr;
}

void Carriers::send_watchers_home() {
    expected_ += watchers_;
    homecoming_ += watchers_;
    watchers_ = 0;
    ++watch_generation_;
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(watch_event_, &one, sizeof one);
}

Carriers::Counts Carriers::counts() {
    const std::lock_guard lock(mutex_);
    const auto running = std::count_if(carriers_.begin(), carriers_.end(), [](const auto& carrier) {
        return carrier->running() != nullptr;
    });
    return {alive_, spares_.size(), orphans_.size(), static_cast<std::size_t>(running)};
}

}  // namespace stackful::runtime
