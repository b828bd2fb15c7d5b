#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <fstream>
#include <vector>

#include "stackful/runtime/stack.hpp"
#include "stackful_support.hpp"

using namespace stackful::runtime;
using namespace std::chrono_literals;
using stackful_test::Running;

namespace {

std::vector<Guard> guards_of_this_kernel() {
    if (StackPool::kernel_has_light_guards()) {
        return {Guard::madvise, Guard::mprotect};
    }
    return {Guard::mprotect};
}

std::size_t mappings() {
    std::ifstream maps("/proc/self/maps");
    std::size_t count = 0;
    for (std::string line; std::getline(maps, line);) {
        ++count;
    }
    return count;
}

TEST(Stacks, AreWritableAndUsedAgain) {
    for (Guard guard : guards_of_this_kernel()) {
        StackPool pool(64 * 1024, guard);
        const auto stack = pool.take();
        ASSERT_TRUE(stack);
        std::memset(stack->base, 1, stack->bytes);
        pool.give_back(*stack);
        EXPECT_EQ(pool.take()->base, stack->base);
    }
}

TEST(Stacks, ThatLieUnusedGiveTheirMemoryBack) {
    StackPool pool(16 * 1024, Guard::automatic);
    constexpr std::size_t kCount =
        common::limits::kWarmStacks + common::limits::kStacksTrimmedAtOnce + 1000;
    std::vector<Stack> stacks;
    for (std::size_t i = 0; i < kCount; ++i) {
        stacks.push_back(pool.take().value());
        stacks.back().base[0] = std::byte{1};
    }
    for (const Stack& stack : stacks) {
        pool.give_back(stack);
    }
    const auto warm = [&stacks] {
        return static_cast<std::size_t>(
            std::count_if(stacks.begin(), stacks.end(),
                          [](const Stack& stack) { return stack.base[0] == std::byte{1}; }));
    };
    EXPECT_TRUE(pool.has_surplus());
    auto now = std::chrono::steady_clock::now();
    pool.trim(now);  // all of them were needed just now
    EXPECT_EQ(warm(), kCount);
    pool.trim(now + common::limits::kTrimInterval / 2);
    EXPECT_EQ(warm(), kCount);
    pool.trim(now += common::limits::kTrimInterval);
    EXPECT_EQ(warm(), kCount - common::limits::kStacksTrimmedAtOnce);
    pool.trim(now += common::limits::kTrimInterval);
    EXPECT_EQ(warm(), common::limits::kWarmStacks);
    EXPECT_FALSE(pool.has_surplus());
    // A stack that was trimmed can be used again.
    for (std::size_t i = 0; i < kCount; ++i) {
        pool.take()->base[0] = std::byte{2};
    }
}

TEST(Stacks, LightGuardsSplitNoMapping) {
    if (!StackPool::kernel_has_light_guards()) {
        GTEST_SKIP() << "needs Linux 6.13";
    }
    StackPool pool(16 * 1024, Guard::madvise);
    const std::size_t before = mappings();
    for (int i = 0; i < 1000; ++i) {
        ASSERT_TRUE(pool.take());
    }
    EXPECT_LT(mappings(), before + 100);
}

TEST(Stacks, MprotectLimitsTheirNumber) {
    StackPool pool(16 * 1024, Guard::mprotect);
    EXPECT_GT(pool.capacity(), 1'000u);
    EXPECT_LT(pool.capacity(), 1'000'000u);
}

TEST(Stacks, WithoutAStackNoFiberStarts) {
    Running running(Options{.carriers = 1, .max_fibers = 2});
    auto first = running.spawn(0, [] { sleep_until(Clock::now() + 50ms); });
    auto second = running.spawn(0, [] { sleep_until(Clock::now() + 50ms); });
    EXPECT_FALSE(running->spawn_on(0, [] {}));
    first.get();
    second.get();
    while (running->counters().fibers > 0) {
        std::this_thread::sleep_for(1ms);
    }
    // Tasks without a stack of their own are run by their starter.
    std::atomic<int> ended = 0;
    running.run([&] { run_all(10, [&] { ++ended; }); });
    EXPECT_EQ(ended, 10);
}

#if !defined(__SANITIZE_THREAD__)
TEST(Stacks, MprotectAllowsAllThatItPromises) {
    Running running(Options{.carriers = 2, .stack_bytes = 16 * 1024, .guard = Guard::mprotect});
    std::size_t fibers = 0;
    std::atomic<std::size_t> ended = 0;
    std::atomic<bool> go_on = false;
    while (running->spawn_on(fibers % 2, [&] {
        while (!go_on) {
            sleep_until(Clock::now() + 100ms);
        }
        ++ended;
    })) {
        ++fibers;
    }
    EXPECT_GE(fibers, 10'000u);
    go_on = true;
    while (ended < fibers) {
        std::this_thread::sleep_for(1ms);
    }
}
#endif

TEST(Stacks, FibersRunOnEitherGuard) {
    for (Guard guard : guards_of_this_kernel()) {
        Running running(Options{.carriers = 2, .guard = guard});
        std::atomic<int> ended = 0;
        running.run([&] { run_all(500, [&] { ++ended; }); });
        EXPECT_EQ(ended, 500);
    }
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The name is GoogleTest's convention: death tests run first.
class StackDeathTest : public testing::TestWithParam<Guard> {};

/// Uses a few kilobytes of stack a level.
[[gnu::noinline]] int recurse(int levels) {
    volatile int here[1000];
    here[0] = levels;
    return levels == 0 ? 0 : recurse(levels - 1) + here[0];
}

TEST_P(StackDeathTest, AnOverflowIsNamed) {
    GTEST_FLAG_SET(death_test_style, "threadsafe");
    if (GetParam() == Guard::madvise && !StackPool::kernel_has_light_guards()) {
        GTEST_SKIP() << "needs Linux 6.13";
    }
    EXPECT_EXIT(
        {
            Running running(Options{.carriers = 1, .guard = GetParam()});
            running.run([] { recurse(1000); });
        },
        testing::KilledBySignal(SIGSEGV), "a fiber stack has overflown its 65536 bytes");
}

INSTANTIATE_TEST_SUITE_P(Guards, StackDeathTest, testing::Values(Guard::madvise, Guard::mprotect));

#endif

}  // namespace
