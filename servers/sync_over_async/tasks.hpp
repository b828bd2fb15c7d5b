#pragma once

#include <atomic>
#include <cstddef>
#include <functional>
#include <future>
#include <memory>

#include "common/limits.hpp"
#include "sync_over_async/growing_pool.hpp"

namespace sync_over_async {

/// Starts tasks as jobs of the pool, behind whatever is queued. At most `limits::kTasksInFlight`
/// are queued or running at once; the rest of a batch follow as its first ones end.
class Tasks {
  public:
    explicit Tasks(GrowingPool& pool) : pool_(pool) {}

    /// Runs `task` `count` times; the future is ready when all have ended. Any thread.
    std::future<void> start(std::size_t count, std::function<void()> task);

  private:
    struct Batch;
    std::size_t take_room(std::size_t wanted);
    void queue(std::shared_ptr<Batch> batch);
    void run_one(const std::shared_ptr<Batch>& batch);

    GrowingPool& pool_;
    /// Below nought when more batches than that run at once, each with one task queued.
    std::atomic<std::ptrdiff_t> room_ = common::limits::kTasksInFlight;
};

}  // namespace sync_over_async
