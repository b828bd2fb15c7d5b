#pragma once

#include <boost/asio/io_context.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/intrusive/list.hpp>
#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "sync_over_async/growing_pool.hpp"

namespace sync_over_async {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

/// Something under way that ends a future. One thread at a time works on it: its starter, the
/// loop while it waits, then the pool's thread that goes on with it.
class Operation : public boost::intrusive::list_base_hook<> {
  public:
    using Woken = std::function<void(const error_code& error)>;

    Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;
    virtual ~Operation() = default;

    virtual Instant deadline() const { return Instant::max(); }
    /// Begins to wait; the loop calls `woken` once.
    virtual void wait(Woken woken) = 0;
    /// Ends the wait early. The loop's thread.
    virtual void cancel() = 0;
    /// What has happened at this very instant, after `cancel`: nothing means ready.
    virtual error_code look() = 0;
    /// Goes on after a wait. A thread of the pool.
    virtual void go_on(const error_code& error) = 0;
    /// The drain is over: ends the future, also while another thread works on it.
    virtual void abandon() = 0;
};

/// One event loop that only waits. What follows a wait runs on the pool, as on Linux in .NET: the
/// loop appends to one list of events and queues ONE item that works them off, behind whatever the
/// pool has queued already.
class Completions {
  public:
    Completions(GrowingPool& pool, GrowingPool::Lane lane, std::chrono::milliseconds sweep);
    ~Completions();
    /// Stops and joins the loop.
    void stop();
    /// Any thread: ends every future there is and will be.
    void abandon();

    /// Any thread: waits for the operation and then lets the pool go on with it.
    void await(const std::shared_ptr<Operation>& operation);
    /// A future that is ready after `duration`. Any thread.
    std::future<void> sleep_for(std::chrono::milliseconds duration);

    asio::io_context& io() { return io_; }

  private:
    struct Event {
        std::shared_ptr<Operation> operation;
        error_code error;
    };

    void woken(const std::shared_ptr<Operation>& operation, error_code error);
    void queue_item();
    void work_off();
    bool take(Event& event);
    void schedule_sweep();
    void sweep();

    GrowingPool& pool_;
    const GrowingPool::Lane lane_;
    const std::chrono::milliseconds sweep_interval_;
    asio::io_context io_{1};
    asio::steady_timer sweep_timer_{io_};
    std::mutex mutex_;
    boost::intrusive::list<Operation> waiting_;
    std::deque<Event> events_;
    bool item_is_queued_ = false;
    bool abandoned_ = false;
    std::thread thread_;
};

}  // namespace sync_over_async
