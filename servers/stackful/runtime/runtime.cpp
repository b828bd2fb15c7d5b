#include "stackful/runtime/runtime.hpp"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <system_error>
#include <thread>

#include "stackful/runtime/overflow.hpp"
#include "stackful/runtime/pinning.hpp"
#include "stackful/runtime/system.hpp"
#include "stackful/runtime/trace.hpp"

namespace stackful::runtime {
namespace {

/// How often stop() looks whether the last fiber has ended.
constexpr std::chrono::milliseconds kEndPoll{1};

std::size_t task_limit(std::size_t max_fibers) {
#if defined(__SANITIZE_THREAD__)
    const std::size_t most = common::limits::kTasksUnderThreadSanitizer;
#else
    const std::size_t most = common::limits::kTasksInFlight;
#endif
    // Connections must find stacks beside the tasks.
    return std::clamp<std::size_t>(max_fibers / 4 * 3, 1, most);
}

std::size_t fiber_limit(const StackPool& stacks, std::size_t asked_for) {
    const std::size_t limit = std::min(stacks.capacity(), asked_for);
#if defined(__SANITIZE_THREAD__)
    return std::min(limit, common::limits::kFibersUnderThreadSanitizer);
#else
    return limit;
#endif
}

}  // namespace

Runtime::Runtime(const Options& options)
    : options_(options),
      stacks_(options.stack_bytes, options.guard),
      max_fibers_(fiber_limit(stacks_, options.max_fibers)),
      task_slots_(task_limit(max_fibers_)),
      carriers_(*this),
      abandon_event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (abandon_event_ < 0) {
        throw std::system_error(errno, std::generic_category(), "eventfd");
    }
    for (std::size_t i = 0; i < options_.carriers; ++i) {
        schedulers_.push_back(std::make_unique<Scheduler>(*this, i));
    }
}

Runtime::~Runtime() {
    stop();
    ::close(abandon_event_);
}

void Runtime::start() {
    report_overflows(stacks_.stack_bytes());
    if (options_.trace_pinned) {
        prepare_trace();
    }
    started_ = true;
    carriers_.start();
}

void Runtime::stop() {
    if (!std::exchange(started_, false)) {
        return;
    }
    while (fibers_.load() > 0) {
        std::this_thread::sleep_for(kEndPoll);
    }
    stopping_.store(true);
    carriers_.stop();
}

bool Runtime::spawn_on(std::size_t scheduler, std::function<void()> body) {
    if (fibers_.fetch_add(1) >= max_fibers_) {
        fibers_.fetch_sub(1);
        return false;
    }
    const std::optional<Stack> stack = stacks_.take();
    if (!stack) {
        fibers_.fetch_sub(1);
        return false;
    }
    auto* fiber = new Fiber;
    fiber->home = schedulers_[scheduler].get();
    fiber->body = std::move(body);
    fiber->stack = *stack;
    make_ready(*fiber);
    return true;
}

void Runtime::end(Fiber& fiber) {
    stacks_.give_back(fiber.stack);
    delete &fiber;
    fibers_.fetch_sub(1);
}

void Runtime::abandon() {
    abandoned_.store(true);
    const std::uint64_t one = 1;
    [[maybe_unused]] const ssize_t written = ::write(abandon_event_, &one, sizeof one);
    for_each_scheduler([](Scheduler& scheduler) { scheduler.signal(); });
}

void Runtime::pinned_wait_begins() {
    pinned_.fetch_add(1, std::memory_order_relaxed);
    pinned_total_.fetch_add(1, std::memory_order_relaxed);
}

Counters Runtime::counters() {
    const Carriers::Counts threads = carriers_.counts();
    std::size_t busy = threads.running;
    for_each_scheduler([&](Scheduler& scheduler) { busy += scheduler.runnable(); });
    const std::size_t fibers = fibers_.load();
    return {fibers,
            fibers - std::min(fibers, busy),
            pinned_.load(),
            threads.carriers,
            threads.spares,
            threads.orphans,
            pinned_total_.load()};
}

std::size_t home_index() {
    return current_fiber()->home->index();
}

namespace {

bool commit_to_timer(Fiber& fiber, void*) {
    Carrier* carrier = Carrier::current();
    if (carrier->scheduler() == fiber.home) {
        fiber.home->add_timer(fiber);
    } else {
        // Its scheduler belongs to another carrier by now, and so do the timers.
        fiber.to_timer = true;
        fiber.home->post(fiber);
    }
    return true;
}

}  // namespace

void sleep_until(Instant instant) {
    Fiber* self = current_fiber();
    if (self == nullptr) {
        return std::this_thread::sleep_until(instant);
    }
    Runtime& runtime = self->home->runtime();
    if (self->monitors > 0) {
        const PinnedWait wait(*self);
        return poll_on_thread(-1, 0, runtime.abandon_event(), instant);
    }
    if (runtime.is_abandoned()) {
        return;
    }
    self->wakes_at = instant;
    park(*self, commit_to_timer, nullptr);
}

void block_for(std::chrono::nanoseconds duration) {
    Fiber* self = current_fiber();
    if (self == nullptr) {
        return std::this_thread::sleep_for(duration);
    }
    give_up_scheduler();
    poll_on_thread(-1, 0, self->home->runtime().abandon_event(), Clock::now() + duration);
}

}  // namespace stackful::runtime
