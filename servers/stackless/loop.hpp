#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <thread>

#include "common/http/context.hpp"
#include "stackless/asynchronous.hpp"

namespace stackless {

using ListHook =
    boost::intrusive::list_base_hook<boost::intrusive::link_mode<boost::intrusive::auto_unlink>>;
template <class Member>
using List = boost::intrusive::list<Member, boost::intrusive::constant_time_size<false>>;

/// A wait with a deadline: in its loop's sweep for as long as it lives. The sweep only wakes: the
/// cancelled wait ends with `operation_aborted`, then its owner tries the socket without blocking,
/// and fails only if that is empty.
class Expiring : public ListHook {
  public:
    Expiring() = default;
    Expiring(const Expiring&) = delete;
    Expiring& operator=(const Expiring&) = delete;
    virtual ~Expiring() = default;
    virtual Instant deadline() const = 0;
    virtual void cancel() = 0;
};

/// One thread and its io_context. Everything here but the constructor, `start`, `stop` and
/// `executor` belongs to that thread.
class Loop {
  public:
    explicit Loop(common::http::Context& context);
    ~Loop();
    void start();
    /// Ends and joins the thread, so that what the loop worked for may be destroyed.
    void stop();

    Executor executor() { return io_.get_executor(); }
    common::http::Context& context() { return context_; }
    void watch(Expiring& expiring) { expiring_.push_back(expiring); }

    /// Suspends the calling coroutine. Returns early only when the drain is over.
    Awaitable<> sleep_for(std::chrono::milliseconds duration);

    /// Wakes every wait whose deadline has passed.
    void sweep();
    /// The drain is over: ends all sleeps and downstream calls, those to come as well.
    void abandon();
    bool abandoned() const { return abandoned_; }

  private:
    struct Sleep : ListHook {
        Sleep(Executor executor, std::chrono::milliseconds duration) : timer(executor, duration) {}
        Timer timer;
    };
    void schedule_sweep();

    common::http::Context& context_;
    asio::io_context io_{1};  // one thread runs it; others only post to it
    Timer sweep_timer_{io_.get_executor()};
    List<Expiring> expiring_;
    List<Sleep> sleeps_;
    bool abandoned_ = false;
    std::thread thread_;
};

}  // namespace stackless
