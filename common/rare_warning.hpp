#pragma once

#include <spdlog/spdlog.h>

#include <atomic>
#include <chrono>
#include <string>

namespace common {

/// A warning that may be due a hundred thousand times a second, since what has run out runs out
/// for everybody: it is logged once a second. Any thread.
class RareWarning {
  public:
    void operator()(const std::string& text) {
        using namespace std::chrono;
        const std::int64_t now =
            duration_cast<milliseconds>(steady_clock::now().time_since_epoch()).count();
        std::int64_t next = next_ms_.load(std::memory_order_relaxed);
        if (now >= next && next_ms_.compare_exchange_strong(next, now + kInterval.count())) {
            spdlog::warn("{}", text);
        }
    }

  private:
    static constexpr std::chrono::milliseconds kInterval{1000};
    std::atomic<std::int64_t> next_ms_ = 0;
};

}  // namespace common
