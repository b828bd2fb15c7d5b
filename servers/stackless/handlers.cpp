#include "stackless/handlers.hpp"

#include <thread>

namespace stackless {
namespace {

using namespace common;

/// Wrong on purpose: a coroutine shares its thread with all the others of its loop, so while it
/// sleeps here no connection of this loop is read, answered or expired. With one loop a CPU that is
/// CPUs / duration requests a second, however many connections there are.
void block_for(app::Milliseconds duration) {
    std::this_thread::sleep_for(duration);
}

// [wait]
Awaitable<app::Answer> run(app::Wait, Place& place) {
    // A lock would pin nothing: a coroutine that waits holds no thread. So `lock` has no effect.
    co_return app::answer_of(co_await place.downstream.get());
}
// [/wait]

// [echo]
Awaitable<app::Answer> run(app::Echo call, Place& place) {
    if (call.sleep) {
        co_await place.loop.sleep_for(*call.sleep);
    }
    if (call.block) {
        block_for(*call.block);
    }
    co_return app::answer_of(call);
}
// [/echo]

Awaitable<app::Answer> run(app::Cpu call, Place& place) {
    auto& size = place.loop.context().cpu_work_size;
    std::uint64_t iterations = call.iterations.value_or(0);
    while (iterations == 0 && (iterations = size.iterations()) == 0) {
        co_await place.loop.sleep_for(limits::kCalibrationPoll);
    }
    co_return app::digested(iterations, app::digest_chain(iterations));
}

// [sleep]
Awaitable<app::Answer> run(app::Sleep call, Place& place) {
    co_await place.loop.sleep_for(call.duration);
    co_return app::ok();
}
// [/sleep]

// [block]
Awaitable<app::Answer> run(app::Block call, Place&) {
    block_for(call.duration);
    co_return app::ok();
}
// [/block]

// [tasks]
Awaitable<app::Answer> run(app::Tasks call, Place& place) {
    const auto start = Clock::now();
    co_await place.tasks.run_all(
        place.loop, call.count, [sleep = call.sleep](Loop& loop) { return loop.sleep_for(sleep); });
    co_return app::tasks_done(call,
                              std::chrono::duration_cast<app::Milliseconds>(Clock::now() - start));
}
// [/tasks]

}  // namespace

// [handle]
Awaitable<app::Answer> handle(app::Call call, Place& place) {
    return std::visit([&](auto& kind) { return run(std::move(kind), place); }, call);
}
// [/handle]

}  // namespace stackless
