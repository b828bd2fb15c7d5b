#include <gtest/gtest.h>

#include <atomic>
#include <mutex>
#include <set>
#include <vector>

#include "stackful/runtime/mutex.hpp"
#include "stackful/runtime/pinning.hpp"
#include "stackful_support.hpp"

using namespace stackful::runtime;
using namespace std::chrono_literals;
using stackful_test::Running;

namespace {

#if defined(__SANITIZE_THREAD__)
constexpr std::size_t kMany = 500;
#else
constexpr std::size_t kMany = 20'000;
#endif

TEST(Fibers, RunOnEveryScheduler) {
    Running running(3);
    for (std::size_t i = 0; i < 3; ++i) {
        std::size_t home = 99;
        running.spawn(i, [&] { home = home_index(); }).get();
        EXPECT_EQ(home, i);
    }
}

TEST(Fibers, SleepAboutAsLongAsAsked) {
    Running running(1);
    const Instant start = Clock::now();
    running.run([] { sleep_until(Clock::now() + 30ms); });
    EXPECT_GE(Clock::now() - start, 30ms);
    EXPECT_LT(Clock::now() - start, 1s);
}

TEST(Fibers, ManySleepAtOnceOnFewThreads) {
    Running running(2);
    std::atomic<std::size_t> ended = 0;
    const Instant start = Clock::now();
    running.run([&] {
        run_all(kMany, [&] {
            sleep_until(Clock::now() + 50ms);
            ++ended;
        });
    });
    EXPECT_EQ(ended, kMany);
    EXPECT_LT(Clock::now() - start, 20s);
    EXPECT_EQ(running->counters().carriers, 2u);
}

TEST(Fibers, SeveralBatchesAtOnceEnd) {
    Running running(2);
    std::atomic<std::size_t> ended = 0;
    std::vector<std::future<void>> calls;
    for (std::size_t i = 0; i < 4; ++i) {
        calls.push_back(running.spawn(i % 2, [&] {
            run_all(kMany / 2, [&] {
                sleep_until(Clock::now() + 1ms);
                ++ended;
            });
        }));
    }
    for (auto& call : calls) {
        call.get();
    }
    EXPECT_EQ(ended, 4 * (kMany / 2));
}

TEST(Fibers, AnEmptyBatchEndsAtOnce) {
    Running running(2);
    running.run([] { run_all(0, [] {}); });
}

TEST(Fibers, YieldLetsTheOthersRun) {
    Running running(1);
    std::atomic<bool> other_ran = false;
    running.run([&] {
        running->spawn_on(0, [&] { other_ran = true; });
        while (!other_ran) {
            yield();
        }
    });
}

TEST(Fibers, AMutexAdmitsOneAndItsHolderMayPark) {
    Running running(2);
    Mutex mutex;
    int inside = 0;
    int entered = 0;
    running.run([&] {
        run_all(100, [&] {
            const std::lock_guard lock(mutex);
            EXPECT_EQ(++inside, 1);
            sleep_until(Clock::now() + 100us);
            --inside;
            ++entered;
        });
    });
    EXPECT_EQ(entered, 100);
}

TEST(Fibers, AbandonEndsSleep) {
    Running running(2);
    const Instant start = Clock::now();
    auto sleeper = running.spawn(1, [] { sleep_until(Clock::now() + 1h); });
    std::this_thread::sleep_for(20ms);
    running->abandon();
    sleeper.get();
    EXPECT_LT(Clock::now() - start, 10s);
}

TEST(Fibers, CountersTellWhatIsThere) {
    Running running(1);
    auto sleeper = running.spawn(0, [] { sleep_until(Clock::now() + 100ms); });
    std::this_thread::sleep_for(30ms);
    EXPECT_EQ(running->counters().fibers, 1u);
    EXPECT_EQ(running->counters().parked, 1u);
    sleeper.get();
}

// errno, the carrier and everything else of a thread must be looked up again after a switch.
TEST(Fibers, MayResumeOnAnotherThread) {
    Running running(Options{.carriers = 2, .max_carriers = 8});
    std::set<std::thread::id> threads;
    std::mutex guard;
    running.run([&] {
        run_all(200, [&] {
            for (int turn = 0; turn < 5; ++turn) {
                Monitor monitor;
                {
                    const std::lock_guard lock(monitor);
                    sleep_until(Clock::now() + 200us);
                }
                sleep_until(Clock::now() + 200us);
                const std::lock_guard lock(guard);
                threads.insert(std::this_thread::get_id());
            }
        });
    });
    EXPECT_GT(threads.size(), 2u);
    EXPECT_LE(running->counters().carriers, 8u);
    EXPECT_EQ(running->counters().pinned_total, 1000u);
}

}  // namespace
