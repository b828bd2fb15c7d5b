#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <queue>
#include <vector>

namespace downstream_stub {

class StubSession;

/// The sessions whose answer is not due yet, and the one timer that serves them all. Used on the
/// loop's thread only; bounded by the connections, each of which waits for one answer at most.
class DelayedAnswers {
  public:
    using Clock = std::chrono::steady_clock;

    explicit DelayedAnswers(boost::asio::io_context& io) : timer_(io) {}

    void add(std::shared_ptr<StubSession> session, Clock::duration delay);

  private:
    struct Entry {
        Clock::time_point due;
        std::uint64_t order;  ///< equal delays are answered first in, first out
        std::shared_ptr<StubSession> session;

        bool operator<(const Entry& other) const {
            return due != other.due ? due > other.due : order > other.order;
        }
    };

    void arm();
    void answer_due();

    boost::asio::steady_timer timer_;
    std::priority_queue<Entry> entries_;
    std::uint64_t added_ = 0;
};

}  // namespace downstream_stub
