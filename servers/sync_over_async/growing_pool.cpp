#include "sync_over_async/growing_pool.hpp"

#include <algorithm>
#include <system_error>

#include "common/limits.hpp"

namespace sync_over_async {

struct GrowingPool::Worker {
    std::list<Worker>::iterator place{};
    std::condition_variable wake{};
    bool released = true;  ///< may take jobs; a worker is started because there are some
    std::thread thread{};
};

GrowingPool::GrowingPool(const InjectionSettings& settings)
    : min_threads_(settings.min_threads),
      policy_(settings, Clock::now()),
      gate_([this] { watch(); }) {}

GrowingPool::~GrowingPool() {
    stop();
}

void GrowingPool::stop() {
    {
        const std::lock_guard lock(mutex_);
        stopping_ = true;
        look_.notify_all();
        for (Worker* worker : idle_) {
            worker->wake.notify_all();
        }
    }
    if (gate_.joinable()) {
        gate_.join();
    }
    for (auto* workers : {&workers_, &ended_}) {
        for (Worker& worker : *workers) {
            if (worker.thread.joinable()) {
                worker.thread.join();
            }
        }
    }
}

void GrowingPool::push(Job job, Lane lane) {
    const std::lock_guard lock(mutex_);
    (lane == Lane::priority ? priority_ : ordinary_).push_back(std::move(job));
    release_worker();
}

/// Lets one more thread take jobs, if the goal allows it: the last that fell idle, or a new one.
/// Each then releases the next while there is work.
void GrowingPool::release_worker() {
    if (stopping_ || working_ >= policy_.goal() || (ordinary_.empty() && priority_.empty())) {
        return;
    }
    if (idle_.empty()) {
        start_worker();
        return;
    }
    ++working_;
    Worker* worker = idle_.back();
    idle_.pop_back();
    worker->released = true;
    worker->wake.notify_one();
}

void GrowingPool::start_worker() {
    workers_.emplace_front();
    Worker& worker = workers_.front();
    worker.place = workers_.begin();
    try {
        worker.thread = std::thread([this, &worker] { work(worker); });
    } catch (const std::system_error& error) {
        no_thread_("cannot start a thread beside " + std::to_string(workers_.size() - 1) +
                   " others: " + error.what());
        workers_.pop_front();
        return;
    }
    ++working_;
    injected_ += workers_.size() > min_threads_ ? 1 : 0;
}

bool GrowingPool::take(Job& job) {
    auto& lane = priority_.empty() ? ordinary_ : priority_;
    if (lane.empty()) {
        return false;
    }
    job = std::move(lane.front());
    lane.pop_front();
    last_dequeue_ = Clock::now();
    return true;
}

void GrowingPool::work(Worker& self) {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        Job job;
        // A lowered goal is obeyed between two jobs.
        if (working_ <= policy_.goal() && take(job)) {
            release_worker();
            lock.unlock();
            job();
            job = nullptr;
            lock.lock();
            ++completed_;
        } else if (!wait_for_work(lock, self)) {
            break;
        }
    }
}

/// False when the thread has been idle for so long that it ends.
bool GrowingPool::wait_for_work(std::unique_lock<std::mutex>& lock, Worker& self) {
    --working_;
    self.released = false;
    idle_.push_back(&self);
    const bool released = self.wake.wait_for(lock, common::limits::kIdleThreadTimeout,
                                             [&] { return stopping_ || self.released; });
    if (released) {
        return true;
    }
    std::erase(idle_, &self);
    ended_.splice(ended_.begin(), workers_, self.place);
    policy_.thread_ended(static_cast<unsigned>(workers_.size()), blocked_);
    return false;
}

void GrowingPool::note_blocked() {
    const std::lock_guard lock(mutex_);
    if (policy_.thread_blocked(++blocked_)) {
        must_look_ = true;
        look_.notify_one();
    }
}

void GrowingPool::note_unblocked() {
    const std::lock_guard lock(mutex_);
    if (policy_.thread_unblocked(--blocked_)) {
        must_look_ = true;
        look_.notify_one();
    }
}

InjectionPolicy::Counts GrowingPool::counts() const {
    return {.existing = static_cast<unsigned>(workers_.size()),
            .working = working_,
            .blocked = blocked_,
            .has_work = !ordinary_.empty() || !priority_.empty(),
            .last_dequeue = last_dequeue_};
}

/// The gate's thread: the only one that lets the pool grow.
void GrowingPool::watch() {
    std::unique_lock lock(mutex_);
    while (!stopping_) {
        must_look_ = false;
        const auto next = policy_.look(Clock::now(), counts());
        release_worker();
        std::list<Worker> ended;
        ended.splice(ended.begin(), ended_);
        if (!ended.empty()) {
            lock.unlock();
            for (Worker& worker : ended) {
                worker.thread.join();
            }
            lock.lock();
        }
        look_.wait_until(lock, next, [this] { return stopping_ || must_look_; });
    }
}

GrowingPool::Numbers GrowingPool::numbers() const {
    const std::lock_guard lock(mutex_);
    return {.threads = static_cast<unsigned>(workers_.size()),
            .blocked = blocked_,
            .goal = policy_.goal(),
            .injected = injected_,
            .completed = completed_,
            .ordinary_length = ordinary_.size(),
            .priority_length = priority_.size()};
}

}  // namespace sync_over_async
