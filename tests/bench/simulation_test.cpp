#include "bench/predict/simulation.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

using namespace bench::predict;
using namespace std::chrono_literals;
using sync_over_async::Injection;
using sync_over_async::InjectionSettings;

namespace {

InjectionSettings dotnet(unsigned cpus, unsigned min_threads) {
    return {.cpus = cpus, .min_threads = min_threads};
}

Scenario scenario(unsigned connections, const InjectionSettings& injection, double duration_s) {
    Scenario result;
    result.injection = injection;
    result.connections = connections;
    result.wait_s = 0.020;
    result.cpus = 2;
    result.duration_s = duration_s;
    return result;
}

const HalfSecond& at(const Course& course, double t_s) {
    return course.half_seconds.at(static_cast<std::size_t>(t_s * 2) - 1);
}

/// A fifth of what the original (.NET 10, Kestrel) was measured at, or 3 threads.
double tolerance(double original) {
    return std::max(original / 5, 3.0);
}

TEST(Simulation, TakesOffWhenTheOriginalDid) {
    const struct {
        unsigned connections, cpus;
        double original_s, duration_s;
    } cases[] = {{100, 2, 22, 25}, {100, 8, 12, 15}, {1000, 2, 239, 250}, {1000, 8, 207, 240}};
    for (const auto& [connections, cpus, original_s, duration_s] : cases) {
        const auto course = simulate(scenario(connections, dotnet(cpus, cpus), duration_s));
        ASSERT_TRUE(course.take_off_s) << connections << " " << cpus;
        EXPECT_NEAR(*course.take_off_s, original_s, original_s / 5) << connections << " " << cpus;
    }
}

// From the schedule: 4 threads at once, 2 a delay from 25 to 250 ms (2.75 s), then 4 a second.
TEST(Simulation, TakeOffIsTheOneHundredAndFirstThread) {
    EXPECT_DOUBLE_EQ(take_off_s(dotnet(2, 2), 100).value_or(0), 22);
    EXPECT_DOUBLE_EQ(take_off_s(dotnet(8, 8), 100).value_or(0), 12.25);
    EXPECT_DOUBLE_EQ(take_off_s(dotnet(2, 2), 1000).value_or(0), 247);
    EXPECT_DOUBLE_EQ(take_off_s(dotnet(2, 2), 3).value_or(-1), 0) << "enough without delay";
}

TEST(Simulation, ThreadsAreTheOriginalsAtEverySecond) {
    const std::pair<double, double> two_cpus[] = {
        {1, 12},  {2, 18},  {3, 23},  {4, 27},  {5, 31},  {6, 35},  {7, 39},  {8, 43},  {9, 47},
        {10, 51}, {12, 59}, {14, 67}, {16, 75}, {18, 83}, {20, 91}, {22, 99}, {26, 121}};
    const std::pair<double, double> eight_cpus[] = {
        {1, 32}, {2, 44}, {3, 52},  {4, 59},  {5, 66},  {6, 71},   {7, 76},
        {8, 81}, {9, 85}, {10, 90}, {11, 94}, {12, 98}, {13, 101}, {14, 102}};
    const auto two = simulate(scenario(100, dotnet(2, 2), 30));
    for (const auto& [t_s, threads] : two_cpus) {
        EXPECT_NEAR(at(two, t_s).threads, threads, tolerance(threads)) << t_s;
    }
    const auto eight = simulate(scenario(100, dotnet(8, 8), 30));
    for (const auto& [t_s, threads] : eight_cpus) {
        EXPECT_NEAR(at(eight, t_s).threads, threads, tolerance(threads)) << t_s;
    }
    const std::pair<double, double> thousand[] = {{20, 90},   {40, 170},  {60, 250},
                                                  {120, 489}, {180, 729}, {239, 956}};
    const auto long_silence = simulate(scenario(1000, dotnet(2, 2), 240));
    for (const auto& [t_s, threads] : thousand) {
        EXPECT_NEAR(at(long_silence, t_s).threads, threads, tolerance(threads)) << t_s;
    }
}

TEST(Simulation, NothingBeforeTakeOffAndTheClosedLoopAfter) {
    const auto course = simulate(scenario(100, dotnet(2, 2), 40));
    EXPECT_EQ(at(course, 21.5).completed, 0u);
    EXPECT_EQ(at(course, 21.5).blocked, at(course, 21.5).threads) << "every thread is blocked";
    EXPECT_NEAR(static_cast<double>(at(course, 40).completed - at(course, 30).completed),
                10 * 100 / 0.020, 100);
    EXPECT_EQ(course.half_seconds.size(), 80u);
}

TEST(Simulation, MinThreadsAboveTheRequestsIsTheCure) {
    const auto cured = simulate(scenario(1000, dotnet(2, 1100), 1));
    EXPECT_DOUBLE_EQ(cured.take_off_s.value_or(0), 0.020);
    EXPECT_FALSE(simulate(scenario(1000, dotnet(2, 312), 30)).take_off_s)
        << "the original with 312 gave no answer in 30 s either";
    EXPECT_FALSE(simulate(scenario(3, dotnet(1, 3), 0.019)).take_off_s);
}

TEST(Simulation, WithoutInjectionItIsADeadlock) {
    InjectionSettings none = dotnet(2, 2);
    none.kind = Injection::none;
    EXPECT_FALSE(take_off_s(none, 2));
    EXPECT_TRUE(take_off_s(none, 1)) << "the second thread completes the call";
    const auto course = simulate(scenario(2, none, 10));
    EXPECT_EQ(at(course, 10).completed, 0u);
    EXPECT_EQ(at(course, 10).threads, 2u);
}

TEST(Simulation, AFixedDelayIsAThreadADelay) {
    InjectionSettings fixed = dotnet(2, 2);
    fixed.kind = Injection::fixed;
    fixed.fixed_delay = 100ms;
    EXPECT_DOUBLE_EQ(take_off_s(fixed, 100).value_or(0), 9.9);
}

TEST(Simulation, TheCpusBoundTheRate) {
    auto loaded = scenario(1000, dotnet(2, 1100), 4);
    loaded.cpu_s_per_request = 100e-6;
    const auto course = simulate(loaded);
    EXPECT_NEAR(static_cast<double>(at(course, 4).completed - at(course, 2).completed),
                2 * 2 / 100e-6, 1000);
}

// A prototype with this lane answered 105 and 350 requests a second: each new thread completes what
// the others wait for, and then all of them block again.
TEST(Simulation, ThePriorityLaneGivesConvoys) {
    auto priority = scenario(1000, dotnet(2, 2), 30);
    priority.completions = Completions::priority;
    const auto course = simulate(priority);
    EXPECT_LT(course.take_off_s.value_or(1), 0.050);
    const double rate = static_cast<double>(at(course, 30).completed) / 30;
    EXPECT_GT(rate, 50);
    EXPECT_LT(rate, 1000);
}

// Calls that end lower the goal, so that a pool that once had a thread for each of 100 requests
// lets those go that find no work for 20 s.
TEST(Simulation, IdleThreadsEndTwentySecondsAfterTakeOff) {
    auto loaded = scenario(100, dotnet(2, 2), 48);
    loaded.cpu_s_per_request = 1e-3;
    const auto course = simulate(loaded);
    EXPECT_NEAR(course.take_off_s.value_or(0), 22, 0.1);
    EXPECT_EQ(at(course, 41).threads, 101u);
    EXPECT_LT(at(course, 48).threads, 95u);
    EXPECT_GT(at(course, 48).completed, at(course, 47).completed);
}

}  // namespace
