#pragma once

#include <atomic>
#include <cstdint>

namespace stackful::runtime {

struct Fiber;

/// What is known about one direction of a descriptor, in one word, as in Go's netpoll: nothing, an
/// event that nobody has used yet, or the fiber that waits for one. Any thread may call anything;
/// only one fiber waits at a time. A wake-up may be spurious, so a woken fiber tries the socket.
class Readiness {
  public:
    /// Forgets everything. Nobody may be waiting.
    void reset() { word_.store(kNothing, std::memory_order_release); }

    /// Whether an event lies here unused.
    bool is_noted() const { return word_.load(std::memory_order_acquire) == kNoted; }

    /// Leaves a fully suspended fiber here. False, and the event is used up, if one came first:
    /// then the fiber must try again. Called from the carrier's side of the switch.
    bool park(Fiber& fiber) {
        std::uintptr_t expected = kNothing;
        if (word_.compare_exchange_strong(expected, address(fiber), std::memory_order_acq_rel)) {
            return true;
        }
        word_.exchange(kNothing, std::memory_order_acq_rel);
        return false;
    }

    /// Uses up an event, if there is one, before a wait of another kind.
    bool take() {
        std::uintptr_t expected = kNoted;
        return word_.compare_exchange_strong(expected, kNothing, std::memory_order_acq_rel);
    }

    /// Notes an event. Returns the fiber that waited for it, which the caller must make ready.
    Fiber* note() {
        std::uintptr_t old = word_.load(std::memory_order_acquire);
        while (old != kNoted) {
            const std::uintptr_t desired = old == kNothing ? kNoted : kNothing;
            if (word_.compare_exchange_weak(old, desired, std::memory_order_acq_rel)) {
                return old == kNothing ? nullptr : reinterpret_cast<Fiber*>(old);
            }
        }
        return nullptr;
    }

    /// Takes out a waiting fiber without an event; nothing is noted when nobody waits.
    Fiber* release() {
        std::uintptr_t old = word_.load(std::memory_order_acquire);
        while (old != kNothing && old != kNoted) {
            if (word_.compare_exchange_weak(old, kNothing, std::memory_order_acq_rel)) {
                return reinterpret_cast<Fiber*>(old);
            }
        }
        return nullptr;
    }

  private:
    static constexpr std::uintptr_t kNothing = 0;
    static constexpr std::uintptr_t kNoted = 1;
    static std::uintptr_t address(Fiber& fiber) { return reinterpret_cast<std::uintptr_t>(&fiber); }

    std::atomic<std::uintptr_t> word_ = kNothing;
};

}  // namespace stackful::runtime
