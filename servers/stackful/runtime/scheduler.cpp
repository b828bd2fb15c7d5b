#include "stackful/runtime/scheduler.hpp"

#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <system_error>

#include "common/limits.hpp"
#include "stackful/runtime/runtime.hpp"
#include "stackful/runtime/system.hpp"

namespace stackful::runtime {
namespace {

// Generations start at nought and slots stay far below: no descriptor has this tag.
constexpr std::uint64_t kSignalTag = UINT64_MAX;

}  // namespace

Scheduler::Scheduler(Runtime& runtime, std::size_t index)
    : runtime_(runtime),
      index_(index),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    epoll_event signal{};
    // Edge-triggered, so that it need never be read.
    signal.events = EPOLLIN | EPOLLET;
    signal.data.u64 = kSignalTag;
    if (epoll_ < 0 || event_ < 0 || ::epoll_ctl(epoll_, EPOLL_CTL_ADD, event_, &signal) != 0) {
        throw std::system_error(errno, std::generic_category(), "epoll");
    }
}

Scheduler::~Scheduler() {
    ::close(event_);
    ::close(epoll_);
}

void Scheduler::post(Fiber& fiber) {
    Fiber* head = inbox_.load(std::memory_order_relaxed);
    do {
        fiber.next = head;
    } while (!inbox_.compare_exchange_weak(head, &fiber));
    wake();
}

void Scheduler::wake() {
    if (asleep_.load() && asleep_.exchange(false)) {
        signal();
    }
}

void Scheduler::signal() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(event_, &one, sizeof one);
}

Descriptor* Scheduler::watch(int socket) {
    Descriptor* descriptor = descriptors_.take();
    if (descriptor == nullptr) {
        return nullptr;
    }
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;
    event.data.u64 = descriptor->tag();
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, socket, &event) == 0) {
        // Whoever sleeps here may have nothing to sweep so far, and so no reason to get up.
        wake();
        return descriptor;
    }
    descriptors_.give_back(*descriptor);
    return nullptr;
}

void Scheduler::add_timer(Fiber& fiber) {
    timers_.add(fiber);
}

Fiber* Scheduler::next() {
    if (left_in_round_ == 0) {
        return nullptr;
    }
    set_round(left_in_round_ - 1);
    return queue_.pop();
}

void Scheduler::gather() {
    drain_inbox();
    const Instant now = Clock::now();
    while (Fiber* fiber = timers_.pop_due(runtime_.is_abandoned() ? Instant::max() : now)) {
        queue_.push(*fiber);
    }
    if (needs_sweep() && (now >= next_sweep_ || runtime_.is_abandoned())) {
        sweep(now);
    }
    set_round(queue_.size());
}

void Scheduler::drain_inbox() {
    Fiber* newest = inbox_.exchange(nullptr);
    Fiber* oldest = nullptr;
    while (newest != nullptr) {
        Fiber* older = newest->next;
        newest->next = oldest;
        oldest = newest;
        newest = older;
    }
    while (oldest != nullptr) {
        Fiber* fiber = oldest;
        oldest = fiber->next;
        if (fiber->to_timer) {
            fiber->to_timer = false;
            timers_.add(*fiber);
        } else {
            queue_.push(*fiber);
        }
    }
}

void Scheduler::sweep(Instant now) {
    next_sweep_ = now + runtime_.options().sweep_interval;
    const std::int64_t nanoseconds = to_nanoseconds(now);
    const bool abandoned = runtime_.is_abandoned();
    descriptors_.for_each([&](Descriptor& descriptor) {
        if (abandoned || descriptor.deadline.load(std::memory_order_relaxed) <= nanoseconds) {
            wake_fiber(descriptor.read.release());
            wake_fiber(descriptor.write.release());
        }
    });
    runtime_.stacks().trim(now);
}

bool Scheduler::needs_sweep() const {
    return !descriptors_.is_empty() || runtime_.stacks().has_surplus();
}

Instant Scheduler::next_due() const {
    const Instant timer = timers_.earliest();
    return needs_sweep() ? std::min(timer, next_sweep_) : timer;
}

void Scheduler::poll(bool may_wait) {
    std::array<epoll_event, common::limits::kEventBatch> events;
    const int count = wait_for_events(epoll_, events.data(), events.size(),
                                      may_wait ? next_due() : Instant::min());
    for (int i = 0; i < count; ++i) {
        deliver(events[i].data.u64, events[i].events);
    }
    set_round(queue_.size());
}

void Scheduler::deliver(std::uint64_t tag, std::uint32_t events) {
    if (tag == kSignalTag) {
        return;
    }
    Descriptor* descriptor = descriptors_.find(tag);
    if (descriptor == nullptr) {
        return;
    }
    constexpr std::uint32_t kEnd = EPOLLHUP | EPOLLERR;
    if ((events & (EPOLLRDHUP | kEnd)) != 0) {
        descriptor->hung_up.store(true, std::memory_order_release);
    }
    if ((events & (EPOLLIN | EPOLLRDHUP | kEnd)) != 0) {
        wake_fiber(descriptor->read.note());
    }
    if ((events & (EPOLLOUT | kEnd)) != 0) {
        wake_fiber(descriptor->write.note());
    }
}

void Scheduler::wake_fiber(Fiber* fiber) {
    if (fiber == nullptr) {
        return;
    }
    if (fiber->home == this) {
        queue_.push(*fiber);
    } else {
        fiber->home->post(*fiber);
    }
}

}  // namespace stackful::runtime
