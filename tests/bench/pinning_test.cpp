#include "bench/target/pinning.hpp"

#include <gtest/gtest.h>
#include <sched.h>

#include <chrono>
#include <thread>

#include "bench/target/child.hpp"

using namespace bench::target;

namespace {

/// The tests may themselves run on a few CPUs only.
int an_allowed_cpu() {
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    int cpu = 0;
    while (!CPU_ISSET(cpu, &allowed)) {
        ++cpu;
    }
    return cpu;
}

}  // namespace

TEST(Pinning, NamesServerStubAndLoad) {
    const std::string cpu = std::to_string(an_allowed_cpu());
    const auto pinning = parse_pinning("server=" + cpu + ",load=" + cpu + "-" + cpu);
    ASSERT_TRUE(pinning) << pinning.error;
    EXPECT_EQ(pinning.value->server, Cpus{an_allowed_cpu()});
    EXPECT_EQ(pinning.value->load, Cpus{an_allowed_cpu()});
    EXPECT_TRUE(pinning.value->stub.empty());
    EXPECT_FALSE(pinning.value->server_is_alone()) << "the stub may run anywhere";
}

TEST(Pinning, TellsWhetherTheServerIsAlone) {
    EXPECT_TRUE((Pinning{{0, 1}, {2}, {3}, ""}).server_is_alone());
    EXPECT_FALSE((Pinning{{0, 1}, {1}, {3}, ""}).server_is_alone());
    EXPECT_FALSE((Pinning{{0, 1}, {2}, {1, 3}, ""}).server_is_alone());
    EXPECT_FALSE((Pinning{{}, {2}, {3}, ""}).server_is_alone());
}

TEST(Pinning, RefusesWhatItDoesNotUnderstand) {
    for (const char* const text : {"server", "server=", "server=x", "server=-1", "server=1-0",
                                   "server=0-", "serve=0", "server=0,server=0", "server=0;stub=0",
                                   "server=0 ", "server=99999", "server=0,,load=0"}) {
        EXPECT_FALSE(parse_pinning(text)) << text;
    }
}

TEST(Pinning, RefusesACpuThatIsNotThere) {
    EXPECT_NE(parse_pinning("server=1023").error.find("may not use CPU 1023"), std::string::npos);
}

TEST(Pinning, KeepsAProgramOnItsCpus) {
    const int cpu = an_allowed_cpu();
    const auto folder = std::filesystem::path(testing::TempDir()) / "pinned";
    auto child =
        Child::start("/bin/sh", {"-c", "grep Cpus_allowed_list /proc/self/status"}, folder, {cpu});
    ASSERT_TRUE(child) << child.error;
    while (!child->has_ended()) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    EXPECT_EQ(child->output(), "Cpus_allowed_list:\t" + std::to_string(cpu) + "\n");
}
