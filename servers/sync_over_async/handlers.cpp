#include "sync_over_async/handlers.hpp"

#include <thread>

#include "common/http/dispatch.hpp"

namespace sync_over_async {
namespace {

using namespace common;

/// A plain blocking call tells the pool nothing, so no thread is added for it.
void block_for(app::Milliseconds duration) {
    std::this_thread::sleep_for(duration);
}

struct Handlers {
    Place& place;

    // [wait]
    app::Answer operator()(const app::Wait&) {
        // Wrong on purpose: this thread blocks until a thread of the same pool completes the call.
        // While more requests than threads are in, nobody is left to do that.
        return app::answer_of(place.pool.block_on(place.client.get()));
    }
    // [/wait]

    // [echo]
    app::Answer operator()(const app::Echo& call) {
        if (call.sleep) {
            place.pool.block_on(place.completions.sleep_for(*call.sleep));
        }
        if (call.block) {
            block_for(*call.block);
        }
        return app::answer_of(call);
    }
    // [/echo]

    app::Answer operator()(const app::Cpu& call) {
        std::uint64_t iterations = call.iterations.value_or(0);
        while (iterations == 0 && (iterations = place.context.cpu_work_size.iterations()) == 0) {
            place.pool.block_on(place.completions.sleep_for(limits::kCalibrationPoll));
        }
        return app::digested(iterations, app::digest_chain(iterations));
    }

    app::Answer operator()(const app::Sleep& call) {
        place.pool.block_on(place.completions.sleep_for(call.duration));
        return app::ok();
    }

    app::Answer operator()(const app::Block& call) {
        block_for(call.duration);
        return app::ok();
    }

    // [tasks]
    app::Answer operator()(const app::Tasks& call) {
        const auto start = Clock::now();
        place.pool.block_on(place.tasks.start(
            call.count, [&] { place.pool.block_on(place.completions.sleep_for(call.sleep)); }));
        return app::tasks_done(call,
                               std::chrono::duration_cast<app::Milliseconds>(Clock::now() - start));
    }
    // [/tasks]
};

}  // namespace

app::Answer handle(const app::Call& call, Place& place) {
    try {
        return std::visit(Handlers{place}, call);
    } catch (const std::exception& error) {
        return common::http::answer_to_failure(error);
    }
}

}  // namespace sync_over_async
