#include "thread_pool/worker_pool.hpp"

#include <algorithm>

#include "blocking/handlers.hpp"

namespace thread_pool {
namespace {

thread_local WorkerPool* current_pool = nullptr;

}  // namespace

/// Tasks that one request has started. An entry in the queue runs one task and then lines up again,
/// so that other requests get their turn between the tasks of a long batch.
struct WorkerPool::Batch {
    const std::function<void()>& task;
    std::size_t not_started;
    std::size_t not_ended;
    std::mutex mutex{};
    std::condition_variable ended{};

    /// Runs one task; false when there was none left to start.
    bool run_one() {
        {
            const std::lock_guard lock(mutex);
            if (not_started == 0) {
                return false;
            }
            --not_started;
        }
        task();
        const std::lock_guard lock(mutex);
        if (--not_ended == 0) {
            ended.notify_all();
        }
        return true;
    }
};

WorkerPool::WorkerPool(unsigned threads, blocking::Downstream& downstream,
                       common::http::Context& context)
    : WorkerPool(downstream, context) {
    // Should this throw, the pool exists already and its destructor ends those that have begun.
    for (unsigned n = 0; n < threads; ++n) {
        threads_.emplace_back([this] { work(); });
    }
}

WorkerPool::WorkerPool(blocking::Downstream& downstream, common::http::Context& context)
    : downstream_(downstream), context_(context) {}

WorkerPool::~WorkerPool() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
    }
    not_empty_.notify_all();
    for (std::thread& thread : threads_) {
        thread.join();
    }
}

void WorkerPool::execute(common::http::Exchange exchange) {
    push(std::move(exchange));
}

// [push]
void WorkerPool::push(Job job) {
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back(std::move(job));
    }
    not_empty_.notify_one();
}
// [/push]

std::size_t WorkerPool::queued() const {
    const std::lock_guard lock(mutex_);
    return queue_.size();
}

// [worker]
void WorkerPool::work() {
    current_pool = this;
    for (;;) {
        std::unique_lock lock(mutex_);
        not_empty_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
        if (stopping_) {
            return;
        }
        Job job = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        run(std::move(job));
    }
}

void WorkerPool::run(Job job) {
    if (auto* exchange = std::get_if<common::http::Exchange>(&job)) {
        exchange->begin();
        exchange->respond(blocking::handle(exchange->call(), downstream_, context_));
    } else if (std::get<std::shared_ptr<Batch>>(job)->run_one()) {
        push(std::move(job));
    }
}
// [/worker]

void WorkerPool::run_all(std::size_t count, const std::function<void()>& task) {
    const auto batch = std::make_shared<Batch>(task, count, count);
    WorkerPool& pool = *current_pool;
    const std::size_t entries = std::min(pool.threads_.size(), count);
    for (std::size_t n = 1; n < entries; ++n) {
        pool.push(batch);
    }
    while (batch->run_one()) {
    }
    std::unique_lock lock(batch->mutex);
    batch->ended.wait(lock, [&] { return batch->not_ended == 0; });
}

}  // namespace thread_pool
