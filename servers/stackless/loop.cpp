#include "stackless/loop.hpp"

namespace stackless {

Loop::Loop(common::http::Context& context) : context_(context) {
    schedule_sweep();
}

Loop::~Loop() {
    stop();
}

void Loop::start() {
    thread_ = std::thread([this] { io_.run(); });
}

void Loop::stop() {
    io_.stop();
    if (thread_.joinable()) {
        thread_.join();
    }
}

// One timer a loop, not one an operation: arming and disarming a timer around every read and write
// would cost more than the reads and writes.
void Loop::schedule_sweep() {
    sweep_timer_.expires_after(context_.deadlines.sweep_interval());
    sweep_timer_.async_wait([this](const error_code& error) {
        if (!error) {
            sweep();
            schedule_sweep();
        }
    });
}

void Loop::sweep() {
    const Instant now = Clock::now();
    for (Expiring& expiring : expiring_) {
        if (expiring.deadline() <= now) {
            expiring.cancel();
        }
    }
}

Awaitable<> Loop::sleep_for(std::chrono::milliseconds duration) {
    if (!abandoned_) {
        Sleep sleep(executor(), duration);
        sleeps_.push_back(sleep);
        co_await sleep.timer.async_wait(kErrorAsValue);
    }
}

void Loop::abandon() {
    abandoned_ = true;
    for (Sleep& sleep : sleeps_) {
        sleep.timer.cancel();
    }
    for (Expiring& expiring : expiring_) {
        expiring.cancel();
    }
}

}  // namespace stackless
