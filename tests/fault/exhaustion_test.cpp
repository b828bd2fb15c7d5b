// What runs out: descriptors, threads, memory for stacks, what the kernel watches. Lowered here.
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "expectations.hpp"
#include "observation.hpp"
#include "wrapped_server.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

bool is_model(const char* model) {
    return programs().model() == model;
}

bool uses_fibers_per_connection() {
    return is_model("stackful") && programs().server_flags.empty();
}

/// Statuses of all of these connections, each of which has sent one request.
std::vector<int> statuses(std::vector<Connection>& connections) {
    std::vector<int> all;
    for (Connection& connection : connections) {
        all.push_back(connection.receive().status);
    }
    return all;
}

}  // namespace

#if !defined(__SANITIZE_ADDRESS__)
// Not there: to look at an object's type the undefined-behaviour sanitizer opens a pipe.

TEST(Descriptors, ThatRunOutDelayConnectionsUntilOthersClose) {
    Server server(shared_stub(), {"--max-connections", "1000"});
    const pid_t pid = server.process().pid();
    Connection early(server.port());
    EXPECT_EQ(early.exchange(get_request("/health")).status, 200);
    const std::size_t before = open_descriptors(pid);
    const auto start = Clock::now();
    {
        const LoweredLimit limit(pid, RLIMIT_NOFILE, limit_with_free_descriptors(pid, 20));
        std::vector<Connection> crowd;
        for (int n = 0; n < 60; ++n) {
            crowd.emplace_back(server.port()).send(get_request("/health"));
        }
        EXPECT_TRUE(becomes_true([&] {
            return server.process().standard_error().find("cannot accept a connection") !=
                   std::string::npos;
        }));
        EXPECT_TRUE(crowd.back().is_silent_for(0ms));
        EXPECT_LT(cpu_time_during(pid, 2s), 500ms) << "it spins";
        EXPECT_EQ(early.exchange(get_request("/health")).status, 200);
        // Each that goes makes room for one that waits, although the limit stays.
        for (auto& connection : crowd) {
            EXPECT_EQ(connection.receive().status, 200);
            connection.reset();
        }
    }
    const auto seconds = std::chrono::ceil<std::chrono::seconds>(Clock::now() - start).count();
    EXPECT_LE(occurrences(server.process().standard_error(), "cannot accept a connection"),
              static_cast<std::size_t>(seconds) + 1);
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
    // One kept connection to the downstream, and the one by which stackful gives stacks back.
    EXPECT_TRUE(becomes_true([&] { return open_descriptors(pid) <= before + 2; }))
        << before << " descriptors, then " << open_descriptors(pid);
}

TEST(Descriptors, ThatADownstreamCallLacksAre503AndTheConnectionIsKept) {
    Server server(shared_stub());
    Connection connection(server.port());
    EXPECT_EQ(connection.exchange(get_request("/health")).status, 200);
    {
        const pid_t pid = server.process().pid();
        const LoweredLimit limit(pid, RLIMIT_NOFILE, limit_with_free_descriptors(pid, 0));
        for (int n = 0; n < 20; ++n) {
            const auto response = connection.exchange(get_request("/wait"));
            expect_error(response, 503, "descriptor");
            EXPECT_FALSE(response.says_close());
        }
    }
    EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
    const auto warnings =
        occurrences(server.process().standard_error(), "cannot call the downstream");
    EXPECT_GE(warnings, 1u);
    EXPECT_LT(warnings, 20u);
}

#endif

TEST(Watches, ThatTheKernelRefusesAre503) {
    WrappedServer server(under_watch_limit(60), shared_stub());
    std::vector<Connection> crowd;
    for (int n = 0; n < 80; ++n) {
        crowd.emplace_back(server.port()).send(get_request("/health"));
    }
    const auto all = statuses(crowd);
    EXPECT_GT(std::count(all.begin(), all.end(), 200), 0);
    EXPECT_GT(std::count(all.begin(), all.end(), 503), 0);
    EXPECT_EQ(std::count(all.begin(), all.end(), 200) + std::count(all.begin(), all.end(), 503),
              80);
    EXPECT_NE(server.process().standard_error().find("cannot watch another connection"),
              std::string::npos);
    crowd.clear();
    EXPECT_TRUE(becomes_true([&] { return get(server.port(), "/wait").status == 200; }));
}

TEST(ThreadLimit, AtTheStartGetsOneSentenceAndStatus1) {
    std::string why_not;
    Flags command = under_thread_limit(2, why_not);
    if (kSanitized || command.empty()) {
        GTEST_SKIP() << (kSanitized ? "a sanitizer needs a thread of its own" : why_not);
    }
    command.insert(command.end(), {programs().server, "--port", "0"});
    const std::string model = programs().model();
    if (model == "stackful") {
        command.insert(command.end(), {"--carriers", "8"});
    } else if (model == "stackless") {
        command.insert(command.end(), {"--threads", "8"});
    }
    Process process(command);
    EXPECT_EQ(process.wait(), 1);
    EXPECT_EQ(process.standard_output(), "");
    EXPECT_NE(process.standard_error().find("cannot start all of its threads"), std::string::npos)
        << process.standard_error();
}

// thread_pool and stackless start no thread after the first line. What sync_over_async does without
// the threads that its blocked ones wait for is another test's: it deadlocks, as with --injection
// none. Plain blocking grows it, too, and needs no other thread.
TEST(ThreadLimit, WhenThePoolOrTheCarriersShouldGrowIsLoggedAndAllAreAnswered) {
    const bool stackful = is_model("stackful");
    if (!stackful && !is_model("sync_over_async")) {
        GTEST_SKIP() << "this model starts no threads while it runs";
    }
    std::string why_not;
    const Flags command = under_thread_limit(8, why_not);
    if (kSanitized || command.empty()) {
        GTEST_SKIP() << (kSanitized ? "a sanitizer needs a thread of its own" : why_not);
    }
    WrappedServer server(command, shared_stub(),
                         stackful ? Flags{"--carriers", "2"} : Flags{"--assume-cpus", "2"});
    // A pool that blocks grows when nothing has been dequeued for half a second.
    const std::string target = stackful ? "/wait?lock=monitor" : "/block?ms=1500";
    std::vector<Connection> crowd;
    for (int n = 0; n < (stackful ? 60 : 12); ++n) {
        crowd.emplace_back(server.port()).send(get_request(target));
    }
    for (const int status : statuses(crowd)) {
        EXPECT_EQ(status, 200);
    }
    const auto log = server.process().standard_error();
    EXPECT_GE(occurrences(log, "cannot start a"), 1u) << log;
    EXPECT_LT(occurrences(log, "cannot start a"), 20u) << log;
    EXPECT_LT(cpu_time_during(server.process().pid(), 1s), 300ms) << "it spins";
}

TEST(StackMemory, ThatRunsOutIs503UntilStacksAreGivenBack) {
    if (kSanitized || !uses_fibers_per_connection()) {
        GTEST_SKIP() << "only a fiber needs a stack, and a sanitizer all of the address space";
    }
    Server server(shared_stub());
    const pid_t pid = server.process().pid();
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
    {
        // Room for what is allocated, and none for another slab of stacks, which is 8 MiB.
        constexpr std::size_t kHeadroomBytes = 6 * 1024 * 1024;
        const LoweredLimit limit(pid, RLIMIT_AS,
                                 process_status(pid, "VmSize") * 1024 + kHeadroomBytes);
        std::vector<Connection> crowd;
        for (int n = 0; n < 100; ++n) {
            crowd.emplace_back(server.port()).send(get_request("/health"));
        }
        const auto all = statuses(crowd);
        EXPECT_GT(std::count(all.begin(), all.end(), 200), 30);
        EXPECT_GT(std::count(all.begin(), all.end(), 503), 10);
        EXPECT_NE(server.process().standard_error().find("no stack for another fiber"),
                  std::string::npos);
        crowd.clear();
        EXPECT_TRUE(becomes_true([&] { return get(server.port(), "/wait").status == 200; }));
    }
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
}
