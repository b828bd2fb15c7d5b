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
    virtual bool is_timer() const { return false; }
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
/// pool has queued already. Timers have a list and an item of their own, which goes ahead of all
/// that is queued (and still needs a thread).
class Completions {
  public:
    /// `lane` is where the item for sockets queues.
    Completions(GrowingPool& pool, GrowingPool::Lane lane, std::chrono::milliseconds sweep);
    ~Completions();
    /// Stops and joins the loop.
    void stop();
    /// Any thread: ends every future there is and will be.
    void abandon();

    /// Any thread: waits for the operation and then lets the pool go on with it.
    void await(const std::shared_ptr<Operation>& operation);
    /// A future that is ready after `duration`, at once if that is zero. Any thread.
    std::future<void> sleep_for(std::chrono::milliseconds duration);

    asio::io_context& io() { return io_; }

  private:
    struct Event {
        std::shared_ptr<Operation> operation;
        error_code error;
    };
    /// What the pool has yet to go on with, and the one item that does it.
    struct Events {
        const GrowingPool::Lane lane;
        std::deque<Event> list{};
        bool item_is_queued = false;
    };

    void woken(const std::shared_ptr<Operation>& operation, error_code error);
    void queue_item(Events& events);
    void work_off(Events& events);
    bool take(Events& events, Event& event);
    void schedule_sweep();
    void sweep();

    GrowingPool& pool_;
    const std::chrono::milliseconds sweep_interval_;
    asio::io_context io_{1};
    asio::steady_timer sweep_timer_{io_};
    std::mutex mutex_;
    boost::intrusive::list<Operation> waiting_;
    Events sockets_;
    Events timers_{GrowingPool::Lane::priority};
    bool abandoned_ = false;
    std::thread thread_;
};

}  // namespace sync_over_async
