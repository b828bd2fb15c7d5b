#include <gtest/gtest.h>
#include <unistd.h>

#include <thread>

#include "bench/sample/process.hpp"

using namespace bench::sample;

namespace {

TEST(Sample, ReadsProcStatus) {
    const Status status = parse_status(
        "Name:\tserver\nVmHWM:\t    2048 kB\nVmRSS:\t    1024 kB\nThreads:\t203\n"
        "voluntary_ctxt_switches:\t7\nnonvoluntary_ctxt_switches:\t2\n");
    EXPECT_EQ(status.threads, 203);
    EXPECT_EQ(status.rss_bytes, 1024u * 1024);
    EXPECT_EQ(status.peak_rss_bytes, 2048u * 1024);
    EXPECT_EQ(parse_status("").threads, 0) << "a process that is gone";
}

TEST(Sample, ItsOwnProcess) {
    const double before_s = cpu_s(getpid());
    std::jthread sleeper([](std::stop_token stop) {
        while (!stop.stop_requested()) {
            usleep(1000);
        }
    });
    while (cpu_s(getpid()) - before_s < 0.01) {
    }
    EXPECT_GE(status(getpid()).threads, 2);
    EXPECT_GT(status(getpid()).rss_bytes, 0u);
    EXPECT_GT(context_switches(getpid()), 0u);
    EXPECT_GE(usable_cpus(), 1);
}

}  // namespace
