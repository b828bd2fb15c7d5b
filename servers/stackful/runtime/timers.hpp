#pragma once

#include <algorithm>
#include <vector>

#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {

/// Sleeping fibers, the earliest first. Only the carrier that holds the scheduler touches it.
class Timers {
  public:
    void add(Fiber& fiber) {
        heap_.push_back({fiber.wakes_at, &fiber});
        std::push_heap(heap_.begin(), heap_.end(), later);
    }

    /// The earliest fiber if its instant has come, else null.
    Fiber* pop_due(Instant now) {
        if (heap_.empty() || heap_.front().instant > now) {
            return nullptr;
        }
        std::pop_heap(heap_.begin(), heap_.end(), later);
        Fiber* fiber = heap_.back().fiber;
        heap_.pop_back();
        return fiber;
    }

    Instant earliest() const { return heap_.empty() ? Instant::max() : heap_.front().instant; }

  private:
    struct Entry {
        Instant instant;
        Fiber* fiber;
    };
    static bool later(const Entry& a, const Entry& b) { return a.instant > b.instant; }

    std::vector<Entry> heap_;
};

}  // namespace stackful::runtime
