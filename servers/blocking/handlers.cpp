#include "blocking/handlers.hpp"

#include <mutex>

#include "blocking/waiting.hpp"
#include "common/http/dispatch.hpp"

namespace blocking {
namespace {

using namespace common;

struct Handlers {
    Downstream& downstream;
    http::Context& context;

    // [wait]
    app::Answer operator()(const app::Wait& call) {
        waiting::Monitor monitor;
        waiting::Mutex mutex;
        std::unique_lock monitor_held(monitor, std::defer_lock);
        std::unique_lock mutex_held(mutex, std::defer_lock);
        if (call.lock == app::Lock::monitor) {
            monitor_held.lock();
        } else if (call.lock == app::Lock::cooperative) {
            mutex_held.lock();
        }
        return app::answer_of(downstream.get());
    }
    // [/wait]

    // [echo]
    app::Answer operator()(const app::Echo& call) {
        if (call.sleep) {
            waiting::sleep_for(*call.sleep);
        }
        if (call.block) {
            waiting::block_for(*call.block);
        }
        return app::answer_of(call);
    }
    // [/echo]

    // [cpu]
    app::Answer operator()(const app::Cpu& call) {
        std::uint64_t iterations = call.iterations.value_or(0);
        while (iterations == 0 && (iterations = context.cpu_work_size.iterations()) == 0) {
            waiting::sleep_for(limits::kCalibrationPoll);
        }
        return app::digested(iterations, app::digest_chain(iterations));
    }
    // [/cpu]

    app::Answer operator()(const app::Sleep& call) {
        waiting::sleep_for(call.duration);
        return app::ok();
    }

    app::Answer operator()(const app::Block& call) {
        waiting::block_for(call.duration);
        return app::ok();
    }

    // [tasks]
    app::Answer operator()(const app::Tasks& call) {
        const auto start = waiting::Clock::now();
        waiting::run_all(call.count, [&call] { waiting::sleep_for(call.sleep); });
        return app::tasks_done(
            call, std::chrono::duration_cast<app::Milliseconds>(waiting::Clock::now() - start));
    }
    // [/tasks]
};

}  // namespace

common::app::Answer handle(const common::app::Call& call, Downstream& downstream,
                           common::http::Context& context) {
    try {
        return std::visit(Handlers{downstream, context}, call);
    } catch (const std::exception& error) {
        return common::http::answer_to_failure(error);
    }
}

}  // namespace blocking
