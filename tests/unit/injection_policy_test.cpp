#include "sync_over_async/injection_policy.hpp"

#include <gtest/gtest.h>

#include <vector>

using namespace std::chrono_literals;
using namespace sync_over_async;
using std::chrono::milliseconds;

namespace {

using Instant = InjectionPolicy::Instant;

InjectionSettings for_cpus(unsigned cpus) {
    return {.cpus = cpus, .min_threads = cpus};
}

InjectionPolicy::Counts all_blocked(unsigned threads) {
    return {.existing = threads, .working = threads, .blocked = threads, .has_work = true};
}

struct Row {
    unsigned cpus;
    milliseconds elapsed;
    unsigned threads;
};

}  // namespace

// Twice the CPUs at once; then one each 25 ms for the next CPUs threads, each 50 ms for the next,
// and so on up to 250 ms. The figures were added up by hand from that sentence.
TEST(TotalBlocking, FollowsTheSchedule) {
    const std::vector<Row> rows = {
        {2, 0ms, 4},      {2, 24ms, 4},  {2, 25ms, 5},  {2, 50ms, 6},   {2, 99ms, 6},
        {2, 100ms, 7},    {2, 1s, 15},   {2, 5s, 33},   {2, 30s, 133},  {8, 0ms, 16},
        {8, 100ms, 20},   {8, 1s, 37},   {8, 5s, 68},   {8, 30s, 172},  {64, 0ms, 128},
        {64, 100ms, 132}, {64, 1s, 168}, {64, 5s, 258}, {64, 30s, 488},
    };
    for (const Row& row : rows) {
        EXPECT_EQ(threads_under_total_blocking(for_cpus(row.cpus), row.elapsed), row.threads)
            << row.cpus << " CPUs, " << row.elapsed.count() << " ms";
    }
}

// Second by second, as .NET 10 was seen to grow (Kestrel with .Result, 100 connections, two and
// eight CPUs). Its counter lags: the best shift is half a second.
TEST(TotalBlocking, AgreesWithTheOriginal) {
    const std::vector<Row> seen = {
        {2, 1s, 12},  {2, 2s, 18},  {2, 3s, 23},  {2, 5s, 31},  {2, 10s, 51}, {2, 16s, 75},
        {2, 20s, 91}, {2, 22s, 99}, {8, 1s, 32},  {8, 2s, 44},  {8, 3s, 52},  {8, 5s, 66},
        {8, 7s, 76},  {8, 9s, 85},  {8, 11s, 94}, {8, 12s, 98},
    };
    for (const Row& row : seen) {
        const auto ours = threads_under_total_blocking(for_cpus(row.cpus), row.elapsed - 500ms);
        EXPECT_NEAR(ours, row.threads, 3) << row.cpus << " CPUs, " << row.elapsed.count() << " ms";
    }
}

TEST(TotalBlocking, StopsAtTheMaximum) {
    EXPECT_EQ(threads_under_total_blocking({.cpus = 8, .min_threads = 8, .max_threads = 50}, 60s),
              50u);
    EXPECT_EQ(threads_under_total_blocking({.cpus = 8, .min_threads = 8, .max_threads = 10}, 0ms),
              10u);
}

TEST(TotalBlocking, TheMinimumCountsAtOnce) {
    EXPECT_EQ(threads_under_total_blocking({.cpus = 2, .min_threads = 1100}, 0ms), 1102u);
}

TEST(TotalBlocking, WithoutInjectionNothingGrows) {
    EXPECT_EQ(
        threads_under_total_blocking({.kind = Injection::none, .cpus = 4, .min_threads = 4}, 60s),
        4u);
}

TEST(TotalBlocking, AFixedDelayAddsOneThreadADelay) {
    const InjectionSettings settings{
        .kind = Injection::fixed, .cpus = 4, .min_threads = 4, .fixed_delay = 500ms};
    EXPECT_EQ(threads_under_total_blocking(settings, 499ms), 4u);
    EXPECT_EQ(threads_under_total_blocking(settings, 500ms), 5u);
    EXPECT_EQ(threads_under_total_blocking(settings, 10s), 24u);
}

TEST(InjectionPolicy, OneBlockedThreadGetsOneMore) {
    const Instant start{};
    InjectionPolicy policy(for_cpus(2), start);
    EXPECT_TRUE(policy.thread_blocked(1));
    EXPECT_FALSE(policy.thread_blocked(2)) << "a look is due already";
    policy.look(start, all_blocked(1));
    EXPECT_EQ(policy.goal(), 3u);
}

TEST(InjectionPolicy, TheEndOfBlockingTakesBackWhatItAdded) {
    const Instant start{};
    InjectionPolicy policy(for_cpus(2), start);
    policy.thread_blocked(2);
    policy.look(start, all_blocked(2));
    ASSERT_EQ(policy.goal(), 4u);
    EXPECT_TRUE(policy.thread_unblocked(1));
    policy.look(start + 1ms, {.existing = 4, .working = 1, .blocked = 1});
    EXPECT_EQ(policy.goal(), 3u);
    EXPECT_TRUE(policy.thread_unblocked(0));
    policy.look(start + 2ms, {.existing = 4});
    EXPECT_EQ(policy.goal(), 2u);
}

TEST(InjectionPolicy, ThreadsThatExistAreReleasedWithoutDelay) {
    const Instant start{};
    InjectionPolicy policy(for_cpus(2), start);
    policy.thread_blocked(60);
    policy.look(start, {.existing = 50, .working = 2, .blocked = 60, .has_work = true});
    EXPECT_EQ(policy.goal(), 50u);
    const auto next = policy.look(start, all_blocked(60));
    EXPECT_EQ(policy.goal(), 50u) << "the next one must be created, which waits";
    EXPECT_EQ(next, start + 250ms);
}

TEST(InjectionPolicy, StarvationAddsOneThreadAGate) {
    const Instant start{};
    InjectionPolicy policy(for_cpus(2), start);
    InjectionPolicy::Counts counts{
        .existing = 2, .working = 2, .has_work = true, .last_dequeue = start};
    policy.look(start + 499ms, counts);
    EXPECT_EQ(policy.goal(), 2u);
    policy.look(start + 500ms, counts);
    EXPECT_EQ(policy.goal(), 3u);
    counts.working = 3;
    counts.last_dequeue = start + 600ms;
    policy.look(start + 1000ms, counts);
    EXPECT_EQ(policy.goal(), 3u) << "a job was taken less than a gate ago";
    policy.look(start + 1500ms, counts);
    EXPECT_EQ(policy.goal(), 4u);
    // What starvation added is not taken back when blocking ends.
    EXPECT_FALSE(policy.thread_unblocked(0));
}

TEST(InjectionPolicy, NoStarvationWithoutWork) {
    const Instant start{};
    InjectionPolicy policy(for_cpus(2), start);
    policy.look(start + 10s, {.existing = 2, .working = 2, .last_dequeue = start});
    EXPECT_EQ(policy.goal(), 2u);
}

TEST(InjectionPolicy, AnEndedThreadLowersTheGoalButNotBelowWhatBlockingAsksFor) {
    const Instant start{};
    InjectionPolicy policy(for_cpus(2), start);
    policy.thread_blocked(60);
    policy.look(start, {.existing = 62, .working = 60, .blocked = 60, .has_work = true});
    ASSERT_EQ(policy.goal(), 62u);
    policy.thread_ended(61, 60);
    EXPECT_EQ(policy.goal(), 62u);
    policy.thread_ended(50, 10);
    EXPECT_EQ(policy.goal(), 50u);
    policy.thread_ended(5, 10);
    EXPECT_EQ(policy.goal(), 12u);
}
