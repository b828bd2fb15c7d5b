#include <gtest/gtest.h>

#include "common/options.hpp"

using namespace common;
using namespace std::chrono_literals;

TEST(Durations, NeedANumberAndAUnit) {
    EXPECT_EQ(parse_duration("20ms"), 20ms);
    EXPECT_EQ(parse_duration("30s"), 30s);
    EXPECT_EQ(parse_duration("2m"), 2min);
    EXPECT_EQ(parse_duration("1h"), 1h);
    EXPECT_EQ(parse_duration("0s"), 0s);
    for (const char* wrong : {"", "20", "ms", "-1s", "+1s", "1.5s", " 1s", "1s ", "1 s", "1S",
                              "1us", "99999999999999999999s", "18446744073709551615h"}) {
        EXPECT_FALSE(parse_duration(wrong)) << wrong;
    }
}

TEST(Sizes, NeedANumberAndAUnit) {
    EXPECT_EQ(parse_size("512B"), 512u);
    EXPECT_EQ(parse_size("64KiB"), 64u * 1024);
    EXPECT_EQ(parse_size("1MiB"), 1024u * 1024);
    for (const char* wrong : {"", "64", "KiB", "64K", "64kb", "-1B", "18446744073709551615GiB"}) {
        EXPECT_FALSE(parse_size(wrong)) << wrong;
    }
}

TEST(Endpoints, AreAddressAndPort) {
    EXPECT_EQ(parse_endpoint("127.0.0.1:9000")->port(), 9000);
    EXPECT_TRUE(parse_endpoint("[::1]:9000")->address().is_v6());
    EXPECT_TRUE(parse_endpoint("localhost:1")->address().is_loopback());
    for (const char* wrong : {"", "9000", "127.0.0.1", "127.0.0.1:", "127.0.0.1:0",
                              "127.0.0.1:65536", "127.0.0.1:x", "example.org:80"}) {
        EXPECT_FALSE(parse_endpoint(wrong)) << wrong;
    }
}
