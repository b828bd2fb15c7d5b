#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <mutex>
#include <vector>

#include "stackful/runtime/mutex.hpp"
#include "stackful/runtime/pinning.hpp"
#include "stackful/runtime/stream.hpp"
#include "stackful_support.hpp"

using namespace stackful::runtime;
using namespace std::chrono_literals;
using stackful_test::Running;

namespace {

void sleep_pinned(std::chrono::milliseconds duration) {
    Monitor monitor;
    const std::lock_guard lock(monitor);
    sleep_until(Clock::now() + duration);
}

TEST(Pinning, AnotherCarrierTakesTheSchedulerOver) {
    Running running(Options{.carriers = 1, .max_carriers = 2});
    std::atomic<bool> pinned_ended = false;
    auto pinned = running.spawn(0, [&] {
        sleep_pinned(500ms);
        pinned_ended = true;
    });
    std::this_thread::sleep_for(20ms);
    EXPECT_EQ(running->counters().pinned, 1u);
    running.run([&] { EXPECT_FALSE(pinned_ended); });
    pinned.get();
    EXPECT_EQ(running->counters().carriers, 2u);
    EXPECT_EQ(running->counters().pinned_total, 1u);
}

TEST(Pinning, PlainBlockingIsCoveredToo) {
    Running running(Options{.carriers = 1, .max_carriers = 2});
    std::atomic<bool> blocked_ended = false;
    auto blocked = running.spawn(0, [&] {
        block_for(500ms);
        blocked_ended = true;
    });
    std::this_thread::sleep_for(20ms);
    running.run([&] { EXPECT_FALSE(blocked_ended); });
    blocked.get();
}

TEST(Pinning, WithoutHandOffTheSchedulerStandsStill) {
    Running running(Options{.carriers = 1, .hand_off = false});
    std::atomic<bool> pinned_ended = false;
    auto pinned = running.spawn(0, [&] {
        sleep_pinned(100ms);
        pinned_ended = true;
    });
    std::this_thread::sleep_for(20ms);
    running.run([&] { EXPECT_TRUE(pinned_ended); });
    pinned.get();
    EXPECT_EQ(running->counters().carriers, 1u);
}

// One of two carriers is blocked and there may be no third: the other serves both schedulers.
TEST(Pinning, AtTheLimitNoSchedulerIsLeftAlone) {
    Running running(Options{.carriers = 2, .max_carriers = 2});
    std::atomic<bool> pinned_ended = false;
    auto pinned = running.spawn(0, [&] {
        sleep_pinned(1s);
        pinned_ended = true;
    });
    std::this_thread::sleep_for(50ms);
    for (int turn = 0; turn < 20; ++turn) {
        for (std::size_t scheduler : {0u, 1u}) {
            running.spawn(scheduler, [&] { sleep_until(Clock::now() + 2ms); }).get();
            EXPECT_FALSE(pinned_ended);
        }
        std::this_thread::sleep_for(1ms);
    }
    EXPECT_LE(running->counters().carriers, 2u);
    pinned.get();
    // And afterwards each scheduler has its own carrier again.
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(running->counters().orphans, 0u);
}

// A carrier that never runs out of work would not look at the orphans by itself.
TEST(Pinning, AtTheLimitABusyCarrierTakesTurns) {
    Running running(Options{.carriers = 2, .max_carriers = 2});
    std::atomic<bool> pinned_ended = false;
    std::atomic<bool> reached = false;
    auto pinned = running.spawn(0, [&] {
        sleep_pinned(1s);
        pinned_ended = true;
    });
    auto busy = running.spawn(1, [&] {
        while (!reached) {
            yield();
        }
        EXPECT_FALSE(pinned_ended);
    });
    std::this_thread::sleep_for(50ms);
    auto orphaned = running.spawn(0, [&] { reached = true; });
    busy.get();
    orphaned.get();
    pinned.get();
}

TEST(Pinning, APinnedWaitForAMutexIsCounted) {
    Running running(Options{.carriers = 1, .max_carriers = 2});
    Mutex mutex;
    auto holder = running.spawn(0, [&] {
        const std::lock_guard lock(mutex);
        sleep_until(Clock::now() + 200ms);
    });
    auto waiter = running.spawn(0, [&] {
        Monitor monitor;
        const std::lock_guard pinning(monitor);
        const std::lock_guard lock(mutex);
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(running->counters().pinned, 1u);
    holder.get();
    waiter.get();
    EXPECT_EQ(running->counters().pinned, 0u);
    EXPECT_EQ(running->counters().pinned_total, 1u);
}

// The orphan's sockets and timers are watched, not only its inbox.
TEST(Pinning, AtTheLimitOrphansGetTheirEvents) {
    Running running(Options{.carriers = 2, .max_carriers = 2});
    int ends[2];
    ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
    std::atomic<bool> pinned_ended = false;
    auto reader = running.spawn(0, [&] {
        Stream stream(ends[0]);
        char byte = 0;
        iovec vector{&byte, 1};
        boost::system::error_code error;
        EXPECT_EQ(stream.read(&vector, 1, error), 1u);
        EXPECT_FALSE(pinned_ended);
    });
    auto sleeper = running.spawn(0, [&] {
        sleep_until(Clock::now() + 100ms);
        EXPECT_FALSE(pinned_ended);
    });
    auto pinned = running.spawn(0, [&] {
        sleep_pinned(2s);
        pinned_ended = true;
    });
    std::this_thread::sleep_for(50ms);
    EXPECT_EQ(::write(ends[1], "a", 1), 1);
    reader.get();
    sleeper.get();
    pinned.get();
    ::close(ends[1]);
}

TEST(Pinning, SparesGoAwayWhenTheyAreIdle) {
    Running running(Options{.carriers = 1, .max_carriers = 16, .spare_idle = 200ms});
    running.run([] { run_all(10, [] { sleep_pinned(300ms); }); });
    EXPECT_GT(running->counters().carriers, 1u);
    const Instant patience = Clock::now() + 10s;
    while (running->counters().carriers > 1 && Clock::now() < patience) {
        std::this_thread::sleep_for(10ms);
    }
    EXPECT_EQ(running->counters().carriers, 1u);
    EXPECT_EQ(running->counters().spares, 0u);
    running.run([] {});
}

TEST(Pinning, CarriersBoundWhatPinnedFibersDoAtOnce) {
    Running running(Options{.carriers = 2, .max_carriers = 2});
    const Instant start = Clock::now();
    running.run([] { run_all(20, [] { sleep_pinned(10ms); }); });
    EXPECT_GE(Clock::now() - start, 100ms);
}

TEST(Pinning, AContendedMonitorBlocksTheCarrier) {
    Running running(Options{.carriers = 2, .max_carriers = 8});
    Monitor monitor;
    int inside = 0;
    running.run([&] {
        run_all(20, [&] {
            const std::lock_guard lock(monitor);
            EXPECT_EQ(++inside, 1);
            sleep_until(Clock::now() + 1ms);
            --inside;
        });
    });
    EXPECT_GE(running->counters().pinned_total, 20u);
}

TEST(Pinning, APinnedFiberMayWaitForAMutex) {
    Running running(Options{.carriers = 2, .max_carriers = 8});
    Mutex mutex;
    std::atomic<int> entered = 0;
    running.run([&] {
        run_all(20, [&] {
            Monitor monitor;
            const std::lock_guard pinned(monitor);
            const std::lock_guard lock(mutex);
            ++entered;
            sleep_until(Clock::now() + 1ms);
        });
    });
    EXPECT_EQ(entered, 20);
}

/// Fibers of every kind at once, with few threads and with many: all must end.
class PinningMix : public testing::TestWithParam<std::size_t> {};

TEST_P(PinningMix, Ends) {
    Running running(Options{.carriers = 3, .max_carriers = GetParam(), .spare_idle = 2ms});
    std::atomic<unsigned> kind = 0;
    std::atomic<int> ended = 0;
    Mutex mutex;
    running.run([&] {
        run_all(400, [&] {
            for (int turn = 0; turn < 4; ++turn) {
                switch (kind++ % 5) {
                    case 0:
                        sleep_pinned(1ms);
                        break;
                    case 1:
                        block_for(1ms);
                        break;
                    case 2:
                        sleep_until(Clock::now() + 1ms);
                        break;
                    case 3:
                        yield();
                        break;
                    default: {
                        const std::lock_guard lock(mutex);
                        sleep_until(Clock::now() + 50us);
                    }
                }
            }
            ++ended;
        });
    });
    EXPECT_EQ(ended, 400);
    EXPECT_LE(running->counters().carriers, GetParam());
}

INSTANTIATE_TEST_SUITE_P(FewAndManyCarriers, PinningMix, testing::Values(3, 4, 32));

}  // namespace
