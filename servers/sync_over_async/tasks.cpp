#include "sync_over_async/tasks.hpp"

#include <algorithm>

namespace sync_over_async {

struct Tasks::Batch {
    Batch(std::function<void()> function, std::size_t count, std::size_t queued)
        : task(std::move(function)), not_queued(count - queued), not_ended(count) {}

    const std::function<void()> task;
    std::mutex mutex;
    std::size_t not_queued;
    std::size_t not_ended;
    std::promise<void> ended;
};

std::future<void> Tasks::start(std::size_t count, std::function<void()> task) {
    const std::size_t queued = count == 0 ? 0 : take_room(count);
    const auto batch = std::make_shared<Batch>(std::move(task), count, queued);
    auto ended = batch->ended.get_future();
    if (count == 0) {
        batch->ended.set_value();
    }
    for (std::size_t n = 0; n < queued; ++n) {
        queue(batch);
    }
    return ended;
}

/// At least one, so that every batch gets on, if there is no room for any.
std::size_t Tasks::take_room(std::size_t wanted) {
    std::ptrdiff_t room = room_;
    std::ptrdiff_t taken;
    do {
        taken = std::clamp<std::ptrdiff_t>(room, 1, static_cast<std::ptrdiff_t>(wanted));
    } while (!room_.compare_exchange_weak(room, room - taken));
    return static_cast<std::size_t>(taken);
}

void Tasks::queue(std::shared_ptr<Batch> batch) {
    pool_.push([this, batch = std::move(batch)] { run_one(batch); });
}

void Tasks::run_one(const std::shared_ptr<Batch>& batch) {
    batch->task();
    bool more;
    bool last;
    {
        const std::lock_guard lock(batch->mutex);
        more = batch->not_queued > 0;
        batch->not_queued -= more ? 1 : 0;
        last = --batch->not_ended == 0;
    }
    if (more) {
        queue(batch);
    } else {
        ++room_;
    }
    if (last) {
        batch->ended.set_value();
    }
}

}  // namespace sync_over_async
