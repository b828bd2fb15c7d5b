#include "stackful/runtime/carrier.hpp"

#include "stackful/runtime/carriers.hpp"
#include "stackful/runtime/overflow.hpp"
#include "stackful/runtime/pinning.hpp"
#include "stackful/runtime/runtime.hpp"
#include "stackful/runtime/scheduler.hpp"

namespace stackful::runtime {
namespace {

thread_local Carrier* this_carrier = nullptr;

}  // namespace

[[gnu::noipa]] Carrier* Carrier::current() {
    return this_carrier;
}

void Carrier::run() {
    const SignalStack signal_stack;
    this_carrier = this;
    while (scheduler_ != nullptr || carriers_.adopt(*this)) {
        if (Fiber* fiber = scheduler_->next()) {
            execute(*fiber);
        } else if (!runtime_.is_stopping()) {
            serve(*scheduler_);
        } else {
            break;
        }
    }
}

/// Between two rounds of fibers: finds out what runs next, or sleeps.
void Carrier::serve(Scheduler& held) {
    held.gather();
    if (held.has_work()) {
        held.poll(false);
        if (carriers_.are_short()) {
            carriers_.take_turns(*this);
        }
    } else if (carriers_.are_short()) {
        held.poll(false);
        if (!held.has_work()) {
            carriers_.watch_orphans(*this);
        }
    } else {
        held.fall_asleep();
        // Whoever changes one of these afterwards sees that we are asleep, and wakes us.
        const bool may_sleep =
            !held.has_work() && !carriers_.are_short() && !runtime_.is_stopping();
        held.poll(may_sleep);
        held.get_up();
    }
}

void Carrier::execute(Fiber& fiber) {
    running_.store(&fiber, std::memory_order_relaxed);
    do {
        switch_to_fiber(fiber);
        if (!fiber.context) {
            running_.store(nullptr, std::memory_order_relaxed);
            runtime_.end(fiber);
            return;
        }
    } while (!commit_(fiber, argument_));
    running_.store(nullptr, std::memory_order_relaxed);
}

void Carrier::give_up_scheduler() {
    if (scheduler_ != nullptr) {
        carriers_.give_up(*this);
    }
}

Fiber* current_fiber() {
    Carrier* carrier = Carrier::current();
    return carrier != nullptr ? carrier->running() : nullptr;
}

namespace {

void park_on_thread(Fiber& self, Commit commit, void* argument) {
    const PinnedWait wait(self);
    self.waits_on_thread.store(1);
    if (!commit(self, argument)) {
        self.waits_on_thread.store(0);
        return;
    }
    self.waits_on_thread.wait(1);
}

}  // namespace

void park(Fiber& self, Commit commit, void* argument) {
    if (self.monitors > 0) {
        return park_on_thread(self, commit, argument);
    }
    Carrier* carrier = Carrier::current();
    carrier->commit_ = commit;
    carrier->argument_ = argument;
    switch_to_carrier(self);
}

void make_ready(Fiber& fiber) {
    if (fiber.waits_on_thread.load() != 0) {
        fiber.waits_on_thread.store(0);
        fiber.waits_on_thread.notify_one();
        return;
    }
    Carrier* carrier = Carrier::current();
    if (carrier != nullptr && carrier->scheduler() == fiber.home) {
        fiber.home->enqueue(fiber);
    } else {
        fiber.home->post(fiber);
    }
}

void yield() {
    Fiber* self = current_fiber();
    if (self == nullptr || self->monitors > 0) {
        return;
    }
    park(
        *self, [](Fiber& fiber, void*) { return make_ready(fiber), true; }, nullptr);
}

void give_up_scheduler() {
    Carrier* carrier = Carrier::current();
    if (carrier != nullptr) {
        carrier->give_up_scheduler();
    }
}

}  // namespace stackful::runtime
