#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <variant>
#include <vector>

#include "blocking/downstream.hpp"
#include "common/http/connector.hpp"

namespace thread_pool {

/// A fixed number of threads and one first-in-first-out queue: a request holds its thread from the
/// first line of its handler to the last. The queue is bounded by the connections, since each has
/// at most one request in it, and by one entry a thread for each running batch of tasks.
class WorkerPool final : public common::http::Executor {
  public:
    /// Starts `threads` threads. `downstream` and `context` must outlive the pool.
    WorkerPool(unsigned threads, blocking::Downstream& downstream, common::http::Context& context);
    /// Waits for the running jobs; what is still queued is dropped.
    ~WorkerPool() override;

    /// Any thread.
    void execute(common::http::Exchange exchange) override;

    /// Runs `task` `count` times on the pool of the calling worker. The caller works on its own
    /// batch meanwhile, so batches cannot wait for one another. Returns when all tasks have ended.
    static void run_all(std::size_t count, const std::function<void()>& task);

    std::size_t queued() const;

  private:
    /// A pool without threads yet.
    WorkerPool(blocking::Downstream& downstream, common::http::Context& context);

    struct Batch;
    using Job = std::variant<common::http::Exchange, std::shared_ptr<Batch>>;

    void work();
    void run(Job job);
    void push(Job job);

    blocking::Downstream& downstream_;
    common::http::Context& context_;
    mutable std::mutex mutex_;
    std::condition_variable not_empty_;
    std::deque<Job> queue_;
    bool stopping_ = false;
    std::vector<std::thread> threads_;
};

}  // namespace thread_pool
