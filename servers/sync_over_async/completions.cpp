#include "sync_over_async/completions.hpp"

#include <atomic>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>

#include "common/limits.hpp"

namespace sync_over_async {
namespace {

class Sleep final : public Operation {
  public:
    Sleep(asio::io_context& io, std::chrono::milliseconds duration) : timer_(io, duration) {}

    std::future<void> future() { return promise_.get_future(); }
    bool is_timer() const override { return true; }
    void wait(Woken woken) override { timer_.async_wait(std::move(woken)); }
    void cancel() override { timer_.cancel(); }
    error_code look() override { return {}; }
    void go_on(const error_code&) override { finish(); }
    void abandon() override { finish(); }

  private:
    void finish() {
        if (!finished_.exchange(true)) {
            promise_.set_value();
        }
    }

    asio::steady_timer timer_;
    std::promise<void> promise_;
    std::atomic<bool> finished_ = false;
};

}  // namespace

Completions::Completions(GrowingPool& pool, GrowingPool::Lane lane, std::chrono::milliseconds sweep)
    : pool_(pool), sweep_interval_(sweep), sockets_{lane} {
    schedule_sweep();
    thread_ = std::thread([this] { io_.run(); });
}

Completions::~Completions() {
    stop();
    waiting_.clear();  // the operations themselves belong to the handlers in io_
}

void Completions::stop() {
    io_.stop();
    if (thread_.joinable()) {
        thread_.join();
    }
}

void Completions::await(const std::shared_ptr<Operation>& operation) {
    const std::lock_guard lock(mutex_);
    if (abandoned_) {
        operation->abandon();
        return;
    }
    waiting_.push_back(*operation);
    operation->wait([this, operation](const error_code& error) { woken(operation, error); });
}

/// The loop's thread. What a deadline means is decided here, at the loop's instant: the pool may
/// come to the event much later.
void Completions::woken(const std::shared_ptr<Operation>& operation, error_code error) {
    if (error == asio::error::operation_aborted) {
        error = operation->look();
    }
    Events& events = operation->is_timer() ? timers_ : sockets_;
    {
        const std::lock_guard lock(mutex_);
        waiting_.erase(waiting_.iterator_to(*operation));
        events.list.push_back({operation, error});
    }
    queue_item(events);
}

// [queue]
void Completions::queue_item(Events& events) {
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(events.item_is_queued, true)) {
            return;
        }
    }
    pool_.push([this, &events] { work_off(events); }, events.lane);
}
// [/queue]

// [completions]
void Completions::work_off(Events& events) {
    const Instant end = Clock::now() + common::limits::kCompletionQuantum;
    {
        const std::lock_guard lock(mutex_);
        events.item_is_queued = false;
    }
    Event event;
    if (!take(events, event)) {
        return;
    }
    queue_item(events);  // so that a second thread may help with what is still in the list
    do {
        event.operation->go_on(event.error);
        if (Clock::now() >= end) {
            return queue_item(events);
        }
    } while (take(events, event));
}
// [/completions]

bool Completions::take(Events& events, Event& event) {
    event = {};
    const std::lock_guard lock(mutex_);
    if (events.list.empty()) {
        return false;
    }
    event = std::move(events.list.front());
    events.list.pop_front();
    return true;
}

std::future<void> Completions::sleep_for(std::chrono::milliseconds duration) {
    const auto sleep = std::make_shared<Sleep>(io_, duration);
    auto future = sleep->future();
    if (duration.count() == 0) {
        sleep->go_on({});
    } else {
        await(sleep);
    }
    return future;
}

void Completions::schedule_sweep() {
    sweep_timer_.expires_after(sweep_interval_);
    sweep_timer_.async_wait([this](const error_code& error) {
        if (!error) {
            sweep();
            schedule_sweep();
        }
    });
}

void Completions::sweep() {
    const Instant now = Clock::now();
    const std::lock_guard lock(mutex_);
    for (Operation& operation : waiting_) {
        if (operation.deadline() <= now) {
            operation.cancel();
        }
    }
}

void Completions::abandon() {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
    for (Operation& operation : waiting_) {
        operation.abandon();
    }
    for (const auto* events : {&sockets_, &timers_}) {
        for (const Event& event : events->list) {
            event.operation->abandon();
        }
    }
}

}  // namespace sync_over_async
