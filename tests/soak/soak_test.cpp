// A long load of everything at once, and whether all is back where it was afterwards.
#include "soak.hpp"

#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <thread>

#include "expectations.hpp"
#include "observation.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr int kConnections = 20;
constexpr auto kWarmUp = 5s;
/// What the allocator may keep beyond what it kept after the warm-up.
constexpr std::size_t kGrowthKib = 16 * 1024;
/// Each call that was out at once may have left one kept connection to the downstream.
constexpr std::size_t kKeptConnections = 2 * kConnections;

/// One value of /metrics; 0 when it is not there.
double metric(Port port, const std::string& name) {
    const std::string text = get(port, "/metrics").body;
    const auto at = text.find("\n" + name + " ");
    return at == std::string::npos ? 0 : std::strtod(text.c_str() + at + name.size() + 2, nullptr);
}

/// Connections that come, ask, are answered or not, and go in one way or another.
void churn(Port port, const std::atomic<bool>& stopping, std::atomic<int>& answered) {
    for (int n = 0; !stopping; ++n) {
        try {
            Connection connection(port);
            connection.send(n % 3 == 0   ? get_request("/wait")
                            : n % 3 == 1 ? post_request("/echo", R"({"id":1,"name":"a"})")
                                         : get_request("/tasks?count=20&sleep_ms=1"));
            switch (n % 5) {
                case 0:
                    connection.reset();
                    break;
                case 1:
                    connection.finish_sending();
                    [[fallthrough]];
                case 2:
                case 3:
                    answered += connection.receive().status > 0;
                    break;
                default:
                    break;  // closed without a look at the answer
            }
        } catch (const std::runtime_error& error) {
            ADD_FAILURE() << error.what();
            return;
        }
        std::this_thread::sleep_for(2ms);
    }
}

/// wrk on /wait, and the churn beside it.
void load(Port port, std::chrono::seconds duration) {
    std::atomic<bool> stopping = false;
    std::atomic<int> answered = 0;
    std::thread churning([&] { churn(port, stopping, answered); });
    Process wrk({soak_options().wrk, "--threads", "1", "--connections",
                 std::to_string(kConnections), "--duration", std::to_string(duration.count()) + "s",
                 "--timeout", "60s", "http://127.0.0.1:" + std::to_string(port) + "/wait"});
    EXPECT_EQ(wrk.wait(duration + 60s), 0) << wrk.standard_error();
    stopping = true;
    churning.join();
    EXPECT_GT(answered, 0);
    EXPECT_NE(wrk.standard_output().find("Requests/sec"), std::string::npos);
    EXPECT_EQ(wrk.standard_output().find("Socket errors"), std::string::npos)
        << wrk.standard_output();
}

bool is_quiet(Port port) {
    const std::string text = get(port, "/metrics").body;
    return text.find("in_flight{phase=\"waiting\"} 0\n") != std::string::npos &&
           text.find("in_flight{phase=\"queued\"} 0\n") != std::string::npos;
}

}  // namespace

TEST(Soak, LeavesMemoryDescriptorsAndFibersWhereTheyWere) {
    if (access(soak_options().wrk.c_str(), X_OK) != 0) {
        GTEST_SKIP() << "wrk is not installed";
    }
    Stub stub({"--delay", "5ms", "--jitter", "5ms", "--fault",
               "reset:0.02,close:0.02,truncate:0.02,garbage:0.02,500:0.02"});
    Flags flags;
    if (programs().model() == "sync_over_async") {
        flags = {"--min-threads", "100"};  // else it would be silent for most of the time
    }
    Server server(stub.port(), flags);
    const pid_t pid = server.process().pid();
    EXPECT_EQ(get(server.port(), "/health").status, 200);
    const std::size_t descriptors = open_descriptors(pid);
    const double fibers = metric(server.port(), "waitbench_fibers");
    load(server.port(), kWarmUp);
    EXPECT_TRUE(becomes_true([&] { return is_quiet(server.port()); }));
    const std::size_t memory_kib = process_status(pid, "VmRSS");

    load(server.port(), soak_options().duration);

    EXPECT_TRUE(becomes_true([&] { return is_quiet(server.port()); }));
    EXPECT_TRUE(becomes_true([&] {
        return open_descriptors(pid) <= descriptors + kKeptConnections;
    })) << descriptors
        << " descriptors, then " << open_descriptors(pid);
    EXPECT_TRUE(becomes_true([&] { return metric(server.port(), "waitbench_fibers") <= fibers; }))
        << fibers << " fibers, then " << metric(server.port(), "waitbench_fibers");
    EXPECT_LT(process_status(pid, "VmRSS"), memory_kib + kGrowthKib) << "KiB";
    EXPECT_EQ(get(server.port(), "/health").status, 200);
}
