#include "bench/predict/simulation.hpp"

#include <algorithm>
#include <chrono>
#include <deque>
#include <queue>

#include "common/limits.hpp"

namespace bench::predict {
namespace {

using namespace std::chrono_literals;
using sync_over_async::InjectionPolicy;
using Instant = InjectionPolicy::Instant;
using Duration = Instant::duration;

constexpr Instant kStart{};
constexpr Duration kSampleInterval = 500ms;

Duration duration(double seconds) {
    return std::chrono::duration_cast<Duration>(std::chrono::duration<double>(seconds));
}

double seconds(Instant instant) {
    return std::chrono::duration<double>(instant - kStart).count();
}

/// The server's GrowingPool and Completions without their threads. All requests are alike, and so
/// are all threads: where the server keeps lists of them, counts are enough here.
class Simulation {
  public:
    explicit Simulation(const Scenario& scenario)
        : priority_(scenario.completions == Completions::priority),
          wait_(duration(scenario.wait_s)),
          half_cpu_(duration(scenario.cpu_s_per_request / 2)),
          end_(kStart + duration(scenario.duration_s)),
          policy_(scenario.injection, kStart),
          jobs_(scenario.connections, Job::request),
          cpu_is_free_at_(std::max(1u, scenario.cpus), kStart) {}

    Course run(bool until_take_off);

  private:
    enum class Job { request, item };
    enum class Step {
        blocks,     ///< A thread has sent its call and waits for the future.
        is_ready,   ///< The downstream's answer has come, which is an event for the item.
        completes,  ///< An item has dealt with one event.
    };
    struct Event {
        Instant at;
        std::uint64_t order = 0;  ///< What was planned first happens first.
        Step step = Step::blocks;
        Instant end_of_item{};
        bool operator>(const Event& other) const {
            return at != other.at ? at > other.at : order > other.order;
        }
    };

    Instant next_instant() const;
    void advance();
    void happen(const Event& event);
    void look();
    void release_threads();
    void take_job();
    bool begin(Job job);
    void queue_item();
    void complete_one(Instant end_of_item);
    void plan(Instant at, Step step, Instant end_of_item = {});
    Instant use_cpu(Duration burst);

    const bool priority_;
    const Duration wait_, half_cpu_;
    const Instant end_;
    InjectionPolicy policy_;
    std::deque<Job> jobs_;
    std::vector<Instant> cpu_is_free_at_;
    std::priority_queue<Event, std::vector<Event>, std::greater<>> events_;
    std::uint64_t planned_ = 0;
    Instant now_ = kStart, look_at_ = kStart, last_dequeue_ = kStart;
    bool must_look_ = false;
    bool item_is_queued_ = false;
    std::size_t ready_ = 0;  ///< Events that no item has dealt with yet.
    unsigned existing_ = 0, working_ = 0, blocked_ = 0;
    std::deque<Instant> idle_since_;  ///< Idle threads, woken last in, first out.
    std::uint64_t completed_ = 0;
    std::optional<double> take_off_s_;
};

Course Simulation::run(bool until_take_off) {
    Course course;
    Instant sample_at = kStart + kSampleInterval;
    release_threads();
    while (!(until_take_off && take_off_s_)) {
        const Instant next = next_instant();
        for (; sample_at <= std::min(next, end_); sample_at += kSampleInterval) {
            course.half_seconds.push_back({seconds(sample_at), existing_, blocked_, completed_});
        }
        if (next > end_) {
            break;
        }
        now_ = next;
        advance();
    }
    course.take_off_s = take_off_s_;
    return course;
}

Instant Simulation::next_instant() const {
    Instant next = look_at_;
    if (!events_.empty()) {
        next = std::min(next, events_.top().at);
    }
    if (!idle_since_.empty()) {
        next = std::min<Instant>(next, idle_since_.front() + common::limits::kIdleThreadTimeout);
    }
    return next;
}

void Simulation::advance() {
    if (!events_.empty() && events_.top().at <= now_) {
        const Event event = events_.top();
        events_.pop();
        happen(event);
    } else if (!idle_since_.empty() &&
               idle_since_.front() + common::limits::kIdleThreadTimeout <= now_) {
        idle_since_.pop_front();
        policy_.thread_ended(--existing_, blocked_);
    } else {
        look();
    }
    release_threads();
    while (must_look_) {
        look();
        release_threads();
    }
}

void Simulation::happen(const Event& event) {
    switch (event.step) {
        case Step::blocks:
            must_look_ = policy_.thread_blocked(++blocked_) || must_look_;
            return plan(now_ + wait_, Step::is_ready);
        case Step::is_ready:
            ++ready_;
            return queue_item();
        case Step::completes:
            return complete_one(event.end_of_item);
    }
}

void Simulation::look() {
    must_look_ = false;
    look_at_ = policy_.look(now_, {.existing = existing_,
                                   .working = working_,
                                   .blocked = blocked_,
                                   .has_work = !jobs_.empty(),
                                   .last_dequeue = last_dequeue_});
}

void Simulation::release_threads() {
    while (working_ < policy_.goal() && !jobs_.empty()) {
        if (idle_since_.empty()) {
            ++existing_;
        } else {
            idle_since_.pop_back();
        }
        ++working_;
        take_job();
    }
}

/// A thread that has no job takes the next, or falls idle when the goal or the queue says so.
void Simulation::take_job() {
    while (working_ <= policy_.goal() && !jobs_.empty()) {
        const Job job = jobs_.front();
        jobs_.pop_front();
        last_dequeue_ = now_;
        if (begin(job)) {
            return;
        }
    }
    --working_;
    idle_since_.push_back(now_);
}

/// False for an item that finds nothing to do.
bool Simulation::begin(Job job) {
    if (job == Job::request) {
        plan(use_cpu(half_cpu_), Step::blocks);
        return true;
    }
    item_is_queued_ = false;
    if (ready_ == 0) {
        return false;
    }
    --ready_;
    queue_item();
    plan(use_cpu(half_cpu_), Step::completes, now_ + common::limits::kCompletionQuantum);
    return true;
}

void Simulation::queue_item() {
    if (!item_is_queued_) {
        item_is_queued_ = true;
        // There is one item at most, so the front of the queue is a lane of its own.
        priority_ ? jobs_.push_front(Job::item) : jobs_.push_back(Job::item);
    }
}

/// The thread that was blocked answers its request and is free, the connection sends its next one,
/// and the item's thread goes on with the next event, or lines up again when its time is over.
void Simulation::complete_one(Instant end_of_item) {
    ++completed_;
    take_off_s_ = take_off_s_.value_or(seconds(now_));
    must_look_ = policy_.thread_unblocked(--blocked_) || must_look_;
    jobs_.push_back(Job::request);
    take_job();
    if (now_ >= end_of_item) {
        queue_item();
    } else if (ready_ > 0) {
        --ready_;
        return plan(use_cpu(half_cpu_), Step::completes, end_of_item);
    }
    take_job();
}

void Simulation::plan(Instant at, Step step, Instant end_of_item) {
    events_.push({at, planned_++, step, end_of_item});
}

/// When a burst ends that now lines up for the CPUs, first in, first out.
Instant Simulation::use_cpu(Duration burst) {
    Instant& free_at = *std::ranges::min_element(cpu_is_free_at_);
    free_at = std::max(free_at, now_) + burst;
    return free_at;
}

}  // namespace

Course simulate(const Scenario& scenario) {
    return Simulation(scenario).run(false);
}

std::optional<double> take_off_s(const sync_over_async::InjectionSettings& settings,
                                 unsigned requests) {
    Scenario scenario;
    scenario.injection = settings;
    scenario.connections = requests;
    scenario.duration_s = kTakeOffHorizonS;
    return Simulation(scenario).run(true).take_off_s;
}

}  // namespace bench::predict
