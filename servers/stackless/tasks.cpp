#include "stackless/tasks.hpp"

#include <algorithm>
#include <atomic>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/post.hpp>
#include <deque>

#include "common/limits.hpp"

namespace stackless {
namespace {

/// So many are started before the loop looks at its connections again.
constexpr std::size_t kStartsPerTurn = 256;

/// The tasks of one request; lives in the coroutine that waits for them.
struct Batch {
    Batch(Tasks::Task function, Executor home, std::size_t shares)
        : task(std::move(function)), shares_left(shares), ended(home, Instant::max()) {}

    const Tasks::Task task;
    std::atomic<std::size_t> shares_left;
    Timer ended;  ///< cancelled, on its own loop, by whoever ends the last share
};

/// One loop's part of a batch.
struct Share {
    Batch& batch;
    std::size_t not_started;
    std::size_t not_ended;
};

}  // namespace

/// One loop's tasks. Used by the loop's thread alone, except for `add`.
class TaskRunner {
  public:
    TaskRunner(Loop& loop, std::size_t limit) : loop_(loop), limit_(limit) {}

    /// Any thread.
    void add(Batch& batch, std::size_t count) {
        asio::post(loop_.executor(), [this, &batch, count] {
            waiting_.push_back(std::make_shared<Share>(Share{batch, count, count}));
            start_some();
        });
    }

  private:
    bool may_start() const { return in_flight_ < limit_ && !waiting_.empty(); }

    /// One of each waiting share in turn, so that a small batch does not wait for a large one.
    void start_some() {
        if (loop_.abandoned()) {
            return drop_waiting();
        }
        for (std::size_t n = 0; n < kStartsPerTurn && may_start(); ++n) {
            std::shared_ptr<Share> share = std::move(waiting_.front());
            waiting_.pop_front();
            ++in_flight_;
            if (--share->not_started > 0) {
                waiting_.push_back(share);
            }
            asio::co_spawn(loop_.executor(), run_one(std::move(share)), asio::detached);
        }
        if (may_start() && !turn_is_posted_) {
            turn_is_posted_ = true;
            asio::post(loop_.executor(), [this] {
                turn_is_posted_ = false;
                start_some();
            });
        }
    }

    Awaitable<> run_one(std::shared_ptr<Share> share) {
        Batch& batch = share->batch;
        co_await batch.task(loop_);
        --in_flight_;
        end(*share, 1);
        start_some();
    }

    void end(Share& share, std::size_t tasks) {
        Batch& batch = share.batch;
        share.not_ended -= tasks;
        if (share.not_ended == 0 && batch.shares_left.fetch_sub(1) == 1) {
            asio::post(batch.ended.get_executor(), [&batch] { batch.ended.cancel(); });
        }
    }

    /// What has not begun when the drain is over would only end at once.
    void drop_waiting() {
        for (const auto& share : std::exchange(waiting_, {})) {
            end(*share, std::exchange(share->not_started, 0));
        }
    }

    Loop& loop_;
    const std::size_t limit_;
    std::size_t in_flight_ = 0;
    bool turn_is_posted_ = false;
    std::deque<std::shared_ptr<Share>> waiting_;
};

Tasks::Tasks(const std::vector<std::unique_ptr<Loop>>& loops) {
    const std::size_t limit =
        std::max<std::size_t>(common::limits::kTasksInFlight / loops.size(), 1);
    for (const auto& loop : loops) {
        runners_.push_back(std::make_unique<TaskRunner>(*loop, limit));
    }
}

Tasks::~Tasks() = default;

Awaitable<> Tasks::run_all(Loop& home, std::size_t count, Task task) {
    const std::size_t shares = std::min(count, runners_.size());
    if (shares == 0) {
        co_return;
    }
    Batch batch(std::move(task), home.executor(), shares);
    for (std::size_t n = 0; n < shares; ++n) {
        runners_[n]->add(batch, count / shares + (n < count % shares ? 1 : 0));
    }
    co_await batch.ended.async_wait(kErrorAsValue);
}

}  // namespace stackless
