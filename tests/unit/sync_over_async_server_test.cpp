// What only the sync-over-async server has: its pool, seen from outside.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "client/programs.hpp"
#include "common/limits.hpp"
#include "sync_over_async/injection_policy.hpp"

using namespace std::chrono_literals;
using client::Connection;
using client::get;
using client::get_request;
using client::Port;
using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

namespace {

constexpr auto kSampleInterval = 20ms;
/// How much later than predicted a busy machine or a sanitizer's build may be.
constexpr auto kSlack = 15s;

/// The pool at one instant.
struct Pool {
    double threads = 0;
    double goal = 0;
    double blocked = 0;
    double injected = 0;
    double queued = 0;
};

Pool pool_of(Port port) {
    std::map<std::string, double> metrics;
    std::istringstream text(get(port, "/metrics").body);
    for (std::string line; std::getline(text, line);) {
        if (line.starts_with("waitbench_pool_")) {
            metrics[line.substr(0, line.find(' '))] = std::stod(line.substr(line.find(' ')));
        }
    }
    return {.threads = metrics.at("waitbench_pool_threads"),
            .goal = metrics.at("waitbench_pool_threads_goal"),
            .blocked = metrics.at("waitbench_pool_blocked"),
            .injected = metrics.at("waitbench_pool_injected_total"),
            .queued = metrics.at("waitbench_pool_queue_length")};
}

/// Connections that the server has accepted.
std::vector<Connection> open_connections(Port port, int count) {
    std::vector<Connection> connections;
    for (int n = 0; n < count; ++n) {
        connections.emplace_back(port);
        EXPECT_EQ(connections.back().exchange(get_request("/health")).status, 200);
    }
    return connections;
}

void send_all(std::vector<Connection>& connections, const std::string& target) {
    for (Connection& connection : connections) {
        connection.send(get_request(target));
    }
}

void expect_all_answered(std::vector<Connection>& connections, int status) {
    for (Connection& connection : connections) {
        EXPECT_EQ(connection.receive().status, status);
    }
}

bool all_silent(std::vector<Connection>& connections) {
    return std::all_of(connections.begin(), connections.end(),
                       [](Connection& connection) { return connection.is_silent_for(0ms); });
}

/// Sends the requests so that all are queued before the pool begins the first: its `threads`
/// threads are held by plain blocking calls meanwhile. Otherwise a completion item could slip in
/// between two of them, and some would be answered while others have not come yet. Each block is
/// shorter than the gate's interval, so that no thread is added for starvation. Returns the
/// earliest instant at which the pool can begin: a round early, in case a machine that stood still
/// made the gate add a thread after all.
Clock::time_point send_behind_blocks(Port port, std::vector<Connection>& connections,
                                     const std::string& target, int threads) {
    constexpr int kRounds = 3;
    auto blockers = open_connections(port, kRounds * threads);
    const auto start = Clock::now();
    send_all(blockers, "/block?ms=300");
    while (pool_of(port).queued < threads && Clock::now() < start + 2s) {
    }
    send_all(connections, target);
    expect_all_answered(blockers, 200);
    return start + (kRounds - 1) * 300ms;
}

struct TakeOff {
    Clock::time_point instant;
    bool all_were_blocked = false;  ///< every thread at once, and requests behind them
};

/// Watches until the first answer. It must not come before the pool has more threads than there
/// are requests.
TakeOff watch_take_off(Port port, std::vector<Connection>& connections) {
    const double requests = static_cast<double>(connections.size());
    const auto end = Clock::now() + client::kPatience;
    TakeOff take_off;
    while (Clock::now() < end) {
        const bool silent = all_silent(connections);  // before the count, which only grows
        const Pool pool = pool_of(port);
        if (!silent) {
            EXPECT_GT(pool.threads, requests) << "answered too early";
            take_off.instant = Clock::now();
            return take_off;
        }
        EXPECT_GE(pool.threads + pool.queued, requests) << "each is queued or holds a thread";
        take_off.all_were_blocked |= pool.blocked == pool.threads && pool.queued > 0;
        std::this_thread::sleep_for(kSampleInterval);
    }
    ADD_FAILURE() << "no answer";
    return take_off;
}

/// How long the schedule takes to so many threads.
milliseconds time_to_threads(unsigned threads, unsigned cpus) {
    const sync_over_async::InjectionSettings settings{.cpus = cpus, .min_threads = cpus};
    milliseconds elapsed{0};
    while (threads_under_total_blocking(settings, elapsed) < threads) {
        elapsed += 25ms;
    }
    return elapsed;
}

/// 24 requests to a pool of four threads that gets one more each 300 ms; the threads it has when
/// all are answered.
constexpr int kCrowd = 24;
const client::Flags kSlowGrowth{"--min-threads", "4", "--injection", "fixed:300ms"};

double threads_when_answered(client::Server& server, const std::string& target) {
    auto connections = open_connections(server.port(), kCrowd);
    send_behind_blocks(server.port(), connections, target, 4);
    expect_all_answered(connections, 200);
    return pool_of(server.port()).threads;
}

client::Flags with(client::Flags flags, const client::Flags& more) {
    flags.insert(flags.end(), more.begin(), more.end());
    return flags;
}

TEST(SyncOverAsyncServer, RefusesFlagsThatItDoesNotKnow) {
    for (const client::Flags& flags : {client::Flags{"--injection", "sometimes"},
                                       {"--injection", "fixed:"},
                                       {"--min-threads", "0"},
                                       {"--completions", "lifo"}}) {
        client::Process process(with({client::programs().server}, flags));
        EXPECT_EQ(process.wait(), 2) << flags[0] << " " << flags[1];
    }
}

TEST(SyncOverAsyncServer, OneConnectionIsAnsweredByASecondThread) {
    client::Stub stub;
    client::Server server(stub.port(), {"--assume-cpus", "1"});
    Connection connection(server.port());
    for (int turn = 0; turn < 5; ++turn) {
        EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
    }
    EXPECT_EQ(pool_of(server.port()).threads, 2);
}

TEST(SyncOverAsyncServer, AnswersNothingBeforeThreadsPassTheRequestsAndEverythingAfter) {
    constexpr int kClients = 20;
    client::Stub stub({"--delay", "100ms"});
    client::Server server(stub.port(), {"--assume-cpus", "2"});
    auto connections = open_connections(server.port(), kClients);
    const auto start = send_behind_blocks(server.port(), connections, "/wait", 2);
    const TakeOff take_off = watch_take_off(server.port(), connections);
    EXPECT_TRUE(take_off.all_were_blocked);
    EXPECT_GE(take_off.instant - start, time_to_threads(kClients + 1, 2));
    EXPECT_LT(take_off.instant - start, time_to_threads(kClients + 1, 2) + kSlack);
    for (int round = 0; round < 5; ++round) {
        for (Connection& connection : connections) {
            EXPECT_EQ(connection.receive().status, 200);
            connection.send(get_request("/wait"));
        }
    }
    expect_all_answered(connections, 200);
    const Pool pool = pool_of(server.port());
    EXPECT_EQ(pool.injected, pool.threads - 2);
    EXPECT_EQ(pool.blocked, 0);
    EXPECT_EQ(pool.queued, 0);
}

// The relapse: a pool that has let its idle threads go is as silent as at the start.
TEST(SyncOverAsyncServer, IdleThreadsEndAndTheNextBurstIsSilentAgain) {
    constexpr int kClients = 16;
    client::Stub stub({"--delay", "100ms"});
    client::Server server(stub.port(), {"--assume-cpus", "2"});
    auto connections = open_connections(server.port(), kClients);
    const auto start = send_behind_blocks(server.port(), connections, "/wait", 2);
    watch_take_off(server.port(), connections);
    expect_all_answered(connections, 200);
    const auto answered = Clock::now();
    const double most_threads = pool_of(server.port()).threads;
    while (pool_of(server.port()).threads == most_threads && Clock::now() < answered + 60s) {
        std::this_thread::sleep_for(kSampleInterval);
    }
    EXPECT_GE(Clock::now() - start, common::limits::kIdleThreadTimeout);
    while (pool_of(server.port()).threads > 2 && Clock::now() < answered + 60s) {
        std::this_thread::sleep_for(kSampleInterval);
    }
    EXPECT_LT(Clock::now() - answered, common::limits::kIdleThreadTimeout + kSlack);
    EXPECT_EQ(pool_of(server.port()).goal, 2);
    const auto again = send_behind_blocks(server.port(), connections, "/wait", 2);
    const TakeOff take_off = watch_take_off(server.port(), connections);
    EXPECT_GE(take_off.instant - again, time_to_threads(kClients + 1, 2));
    expect_all_answered(connections, 200);
}

// Far above, because on a busy machine a job can start a thread although another that was started
// for an earlier one has yet to come to its own.
TEST(SyncOverAsyncServer, AMinimumAboveTheRequestsCuresItAtAThreadARequest) {
    constexpr int kClients = 48;
    client::Stub stub({"--delay", "1s"});
    client::Server server(stub.port(), {"--assume-cpus", "2", "--min-threads", "500"});
    auto connections = open_connections(server.port(), kClients);
    send_all(connections, "/wait");
    expect_all_answered(connections, 200);
    const Pool pool = pool_of(server.port());
    EXPECT_EQ(pool.injected, 0) << "no thread was waited for";
    EXPECT_GE(pool.threads, kClients);
}

// A thread that is added takes the completions before it takes a request and blocks too; so each
// releases a convoy, however slowly the pool grows. Behind the requests the same item needs a
// thread more than there are requests, 21 delays after the first.
TEST(SyncOverAsyncServer, PriorityAnswersWithFewerThreadsThanRequestsWhereFifoAnswersNone) {
    client::Stub stub({"--delay", "100ms"});
    double threads = 0;
    {
        client::Server priority(stub.port(), with(kSlowGrowth, {"--completions", "priority"}));
        threads = threads_when_answered(priority, "/wait");
    }
    EXPECT_GT(threads, 4);
    EXPECT_LT(threads, kCrowd);
    client::Server fifo(stub.port(), with(kSlowGrowth, {"--drain-timeout", "200ms"}));
    auto connections = open_connections(fifo.port(), kCrowd);
    send_behind_blocks(fifo.port(), connections, "/wait", 4);
    while (pool_of(fifo.port()).threads < threads && all_silent(connections)) {
        std::this_thread::sleep_for(kSampleInterval);
    }
    EXPECT_TRUE(all_silent(connections));
    fifo.stop(1);
}

// The item of the timers goes ahead of all that is queued, so sleeps come in convoys.
TEST(SyncOverAsyncServer, SleepsAreAnsweredWithFewerThreadsThanRequests) {
    client::Server server(client::unused_port(), kSlowGrowth);
    const double threads = threads_when_answered(server, "/sleep?ms=100");
    EXPECT_GT(threads, 4);
    EXPECT_LT(threads, kCrowd);
}

TEST(SyncOverAsyncServer, AFixedDelayEndsTheSilenceToo) {
    constexpr int kClients = 16;
    client::Stub stub({"--delay", "100ms"});
    client::Server server(stub.port(), {"--min-threads", "2", "--injection", "fixed:50ms"});
    auto connections = open_connections(server.port(), kClients);
    const auto start = send_behind_blocks(server.port(), connections, "/wait", 2);
    const TakeOff take_off = watch_take_off(server.port(), connections);
    EXPECT_GE(take_off.instant - start, (kClients + 1 - 2) * 50ms);
    expect_all_answered(connections, 200);
}

TEST(SyncOverAsyncServer, WithoutInjectionItDeadlocksAndCanStillBeAskedAndStopped) {
    client::Stub stub({"--delay", "500ms"});
    for (const char* completions : {"fifo", "priority"}) {
        SCOPED_TRACE(completions);
        client::Server server(
            stub.port(), {"--assume-cpus", "2", "--injection", "none", "--completions", completions,
                          "--downstream-timeout", "1s", "--drain-timeout", "1s"});
        auto connections = open_connections(server.port(), 6);
        send_all(connections, "/wait");
        const auto end = Clock::now() + 3s;
        while (Clock::now() < end) {
            EXPECT_EQ(get(server.port(), "/health").status, 200);
            std::this_thread::sleep_for(100ms);
        }
        EXPECT_TRUE(all_silent(connections)) << "nobody is left even to say 504";
        const Pool pool = pool_of(server.port());
        EXPECT_EQ(pool.threads, 2);
        EXPECT_EQ(pool.blocked, 2);
        EXPECT_EQ(pool.goal, 2);
        EXPECT_GE(pool.queued, 4);
        const auto stopped = Clock::now();
        server.process().signal(SIGTERM);
        expect_all_answered(connections, 503);
        server.expect_exit(1);
        EXPECT_LT(Clock::now() - stopped, 1s + kSlack);
    }
}

// A plain blocking call raises no goal: only the gate, twice a second, adds a thread.
TEST(SyncOverAsyncServer, PlainBlockingTellsThePoolNothing) {
    client::Server server(client::unused_port(), {"--assume-cpus", "2"});
    auto connections = open_connections(server.port(), 4);
    const auto start = Clock::now();
    send_all(connections, "/block?ms=2000");
    while (all_silent(connections)) {
        const Pool pool = pool_of(server.port());
        const auto gates = (Clock::now() - start) / 500ms + 1;
        EXPECT_LE(pool.threads, 2 + static_cast<double>(gates));
        EXPECT_EQ(pool.blocked, 0);
        std::this_thread::sleep_for(kSampleInterval);
    }
    expect_all_answered(connections, 200);
    EXPECT_GE(pool_of(server.port()).threads, 3) << "two gates have passed in two seconds";
}

TEST(SyncOverAsyncServer, SleepingTasksGrowThePool) {
    client::Server server(client::unused_port(), {"--assume-cpus", "2"});
    EXPECT_EQ(get(server.port(), "/tasks?count=60&sleep_ms=50").status, 200);
    const Pool pool = pool_of(server.port());
    EXPECT_GT(pool.threads, 2 + 1) << "one more is for the request, which blocks as well";
    EXPECT_EQ(pool.injected, pool.threads - 2);
    EXPECT_EQ(pool.blocked, 0);
}

// A deadline is judged by the loop's instant, and told when a thread is free to tell it.
TEST(SyncOverAsyncServer, AStarvedRequestGetsIts504Late) {
    client::Stub stub({"--delay", "2s"});
    client::Server server(stub.port(), {"--assume-cpus", "2", "--downstream-timeout", "200ms"});
    auto connections = open_connections(server.port(), 12);
    send_behind_blocks(server.port(), connections, "/wait", 2);
    watch_take_off(server.port(), connections);
    expect_all_answered(connections, 504);
}

}  // namespace
