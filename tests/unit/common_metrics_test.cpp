#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "common/metrics/metrics.hpp"

using namespace common;
using namespace std::chrono_literals;

namespace {

bool has(const std::string& text, const std::string& line) {
    return text.find("\n" + line + "\n") != std::string::npos;
}

}  // namespace

TEST(Metrics, CountsAndBuckets) {
    metrics::Metrics metrics;
    metrics.count(app::Endpoint::wait, 200, 20ms);
    metrics.count(app::Endpoint::wait, 200, 21ms);
    metrics.count(app::Endpoint::wait, 504, 30s);
    metrics.count(app::Endpoint::other, 404, 0ms);
    const auto text = metrics.text();
    EXPECT_TRUE(has(text, R"(waitbench_requests_total{endpoint="wait",status="200"} 2)")) << text;
    EXPECT_TRUE(has(text, R"(waitbench_requests_total{endpoint="wait",status="504"} 1)"));
    EXPECT_TRUE(has(text, R"(waitbench_requests_total{endpoint="other",status="404"} 1)"));
    const std::string histogram = "waitbench_request_duration_seconds";
    EXPECT_TRUE(has(text, histogram + R"(_bucket{endpoint="wait",le="0.01"} 0)"));
    EXPECT_TRUE(has(text, histogram + R"(_bucket{endpoint="wait",le="0.025"} 2)"));
    EXPECT_TRUE(has(text, histogram + R"(_bucket{endpoint="wait",le="30"} 3)"));
    EXPECT_TRUE(has(text, histogram + R"(_bucket{endpoint="wait",le="+Inf"} 3)"));
    EXPECT_TRUE(has(text, histogram + R"(_count{endpoint="wait"} 3)"));
    EXPECT_TRUE(has(text, histogram + R"(_sum{endpoint="wait"} 30.041)")) << text;
}

TEST(Metrics, ShowsWhatIsInFlight) {
    metrics::Metrics metrics;
    {
        const metrics::InPhase waiting(metrics, metrics::Phase::waiting);
        EXPECT_TRUE(has(metrics.text(), R"(waitbench_in_flight{phase="waiting"} 1)"));
        EXPECT_TRUE(has(metrics.text(), R"(waitbench_in_flight{phase="queued"} 0)"));
    }
    EXPECT_TRUE(has(metrics.text(), R"(waitbench_in_flight{phase="waiting"} 0)"));
}

TEST(Metrics, LosesNoCountBetweenThreads) {
    metrics::Metrics metrics;
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([&] {
            for (int n = 0; n < 1000; ++n) {
                metrics.count(app::Endpoint::echo, 200, 1ms);
            }
        });
    }
    for (auto& thread : threads) {
        thread.join();
    }
    EXPECT_TRUE(
        has(metrics.text(), R"(waitbench_requests_total{endpoint="echo",status="200"} 4000)"));
}

TEST(Metrics, AppendsSingleValues) {
    std::string text;
    metrics::append(text, "waitbench_fibers", "gauge", "Fibers that exist.", 5);
    EXPECT_EQ(text,
              "# HELP waitbench_fibers Fibers that exist.\n"
              "# TYPE waitbench_fibers gauge\n"
              "waitbench_fibers 5\n");
}
