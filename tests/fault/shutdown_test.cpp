// SIGTERM at the worst moment: while fibers are pinned, and while the pool is starved.
#include <signal.h>

#include <chrono>
#include <thread>

#include "expectations.hpp"
#include "observation.hpp"

using namespace client;
using namespace std::chrono_literals;

namespace {

constexpr int kConnections = 40;

/// Every request is in when SIGTERM comes, none is answered yet; all are answered, and another
/// server has the port at once.
void expect_all_answered(Port downstream, const std::string& target, Flags flags) {
    flags.insert(flags.end(), {"--drain-timeout", "1m"});  // a sanitized server is slow
    Flags same_port;
    {
        Server server(downstream, flags);
        same_port = {"--port", std::to_string(server.port())};
        std::vector<Connection> connections;
        for (int n = 0; n < kConnections; ++n) {
            connections.emplace_back(server.port()).send(get_request(target));
        }
        std::this_thread::sleep_for(100ms);
        server.process().signal(SIGTERM);
        for (Connection& connection : connections) {
            const auto response = connection.receive();
            EXPECT_EQ(response.status, 200) << response.body;
            EXPECT_TRUE(connection.ends());
        }
        server.expect_exit(0);
    }
    Server next(downstream, same_port);
    EXPECT_EQ(get(next.port(), "/health").status, 200);
}

/// The fewest threads that the model can do with.
Flags few_threads() {
    const std::string model = programs().model();
    return model == "stackful"    ? Flags{"--carriers", "2", "--max-carriers", "2"}
           : model == "stackless" ? Flags{"--threads", "2"}
           : model == "thread_pool"
               ? Flags{"--threads", "2"}
               : Flags{"--min-threads", "2", "--max-threads", "2", "--injection", "none"};
}

}  // namespace

TEST(Shutdown, AnswersAllWhileFibersArePinned) {
    Stub stub({"--delay", "500ms"});
    Flags flags;
    if (programs().model() == "sync_over_async") {
        flags = {"--min-threads", "100"};  // fewer than the requests would deadlock, as they should
    }
    expect_all_answered(stub.port(), "/wait?lock=monitor", flags);
}

TEST(Shutdown, AnswersAllWhilePinnedFibersOutnumberTheCarriers) {
    if (programs().model() != "stackful") {
        GTEST_SKIP() << "only a fiber can be pinned";
    }
    Stub stub({"--delay", "100ms"});
    expect_all_answered(stub.port(), "/wait?lock=monitor", few_threads());
}

TEST(Shutdown, AnswersAllWhileThePoolIsStarved) {
    expect_all_answered(shared_stub(), "/block?ms=100", few_threads());
}
