#include "stackful/runtime/mutex.hpp"

#include "stackful/runtime/carrier.hpp"

namespace stackful::runtime {

void Mutex::lock() {
    {
        const std::lock_guard guard(guard_);
        if (!locked_) {
            locked_ = true;
            return;
        }
    }
    park(
        *current_fiber(),
        [](Fiber& fiber, void* mutex) { return static_cast<Mutex*>(mutex)->take_or_queue(fiber); },
        this);
}

/// True if the fiber must wait for unlock() to hand the lock over.
bool Mutex::take_or_queue(Fiber& fiber) {
    const std::lock_guard guard(guard_);
    if (locked_) {
        waiters_.push(fiber);
    }
    return std::exchange(locked_, true);
}

void Mutex::unlock() {
    Fiber* heir = nullptr;
    {
        const std::lock_guard guard(guard_);
        heir = waiters_.pop();
        locked_ = heir != nullptr;
    }
    if (heir != nullptr) {
        make_ready(*heir);
    }
}

}  // namespace stackful::runtime
