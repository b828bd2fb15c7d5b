#include "stackful/runtime/pinning.hpp"

#include "stackful/runtime/runtime.hpp"
#include "stackful/runtime/trace.hpp"

namespace stackful::runtime {

PinnedWait::PinnedWait(Fiber& fiber) : fiber_(fiber) {
    Runtime& runtime = fiber_.home->runtime();
    runtime.pinned_wait_begins();
    if (runtime.options().trace_pinned) {
        trace_pinned_wait();
    }
    give_up_scheduler();
}

PinnedWait::~PinnedWait() {
    fiber_.home->runtime().pinned_wait_ends();
}

void Monitor::lock() {
    Fiber* self = current_fiber();
    if (self != nullptr) {
        ++self->monitors;
    }
    if (mutex_.try_lock()) {
        return;
    }
    if (self == nullptr) {
        return mutex_.lock();
    }
    const PinnedWait wait(*self);
    mutex_.lock();
}

void Monitor::unlock() {
    mutex_.unlock();
    if (Fiber* self = current_fiber()) {
        --self->monitors;
    }
}

}  // namespace stackful::runtime
