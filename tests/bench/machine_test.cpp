#include "bench/sample/machine.hpp"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "bench/sample/cgroup.hpp"
#include "bench/sample/network.hpp"
#include "bench/sample/process.hpp"
#include "bench/sample/text.hpp"

namespace bench::sample {
namespace {

using std::filesystem::path;

/// A folder that is gone when the test is over.
class Machine : public testing::Test {
  protected:
    Machine() {
        std::string name = (std::filesystem::temp_directory_path() / "waitbench-XXXXXX").string();
        folder_ = mkdtemp(name.data());
    }
    ~Machine() override { std::filesystem::remove_all(folder_); }

    void write(const path& file, const std::string& text) const {
        std::filesystem::create_directories((folder_ / file).parent_path());
        std::ofstream(folder_ / file) << text;
    }

    path folder_;
};

// As seen on Debian 12 with both versions mounted, shortened.
const std::string kVersion1Groups =
    "12:pids:/user.slice\n"
    "4:cpu,cpuacct:/user.slice/bench\n"
    "1:name=systemd:/user.slice\n"
    "0::/user.slice/session-2.scope\n";
const std::string kVersion1Mounts =
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "31 30 0:28 / /sys/fs/cgroup/cpu,cpuacct rw,relatime shared:7 - cgroup cgroup rw,cpu,cpuacct\n"
    "38 30 0:35 / /sys/fs/cgroup/pids rw,relatime shared:9 master:1 - cgroup cgroup rw,pids\n"
    "40 30 0:37 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw,nsdelegate\n";

// As seen on Debian 12 with version 2 alone.
const std::string kVersion2Groups = "0::/system.slice/bench.service\n";
const std::string kVersion2Mounts =
    "22 1 254:0 / / rw,relatime - ext4 /dev/vda rw\n"
    "29 24 0:25 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";

TEST_F(Machine, FindsVersion1) {
    const auto cpu = find_cgroup(kVersion1Groups, kVersion1Mounts, "cpu");
    EXPECT_EQ(cpu.version, 1);
    EXPECT_EQ(cpu.folders, (std::vector<path>{"/sys/fs/cgroup/cpu,cpuacct/user.slice/bench",
                                              "/sys/fs/cgroup/cpu,cpuacct/user.slice",
                                              "/sys/fs/cgroup/cpu,cpuacct"}));
    const auto pids = find_cgroup(kVersion1Groups, kVersion1Mounts, "pids");
    EXPECT_EQ(pids.version, 1);
    EXPECT_EQ(pids.folders,
              (std::vector<path>{"/sys/fs/cgroup/pids/user.slice", "/sys/fs/cgroup/pids"}));
}

TEST_F(Machine, AControllerOutsideOfVersion1BelongsToVersion2) {
    const auto memory = find_cgroup(kVersion1Groups, kVersion1Mounts, "memory");
    EXPECT_EQ(memory.version, 2);
    EXPECT_EQ(memory.folders.front(), path("/sys/fs/cgroup/unified/user.slice/session-2.scope"));
}

TEST_F(Machine, FindsVersion2) {
    const auto cpu = find_cgroup(kVersion2Groups, kVersion2Mounts, "cpu");
    EXPECT_EQ(cpu.version, 2);
    EXPECT_EQ(cpu.folders, (std::vector<path>{"/sys/fs/cgroup/system.slice/bench.service",
                                              "/sys/fs/cgroup/system.slice", "/sys/fs/cgroup"}));
}

TEST_F(Machine, FindsTheGroupOfAContainer) {
    const std::vector<path> top = {"/sys/fs/cgroup"};
    // With the host's group namespace: the mount shows the container's group and what is in it.
    const std::string mounts = "29 24 0:25 /docker/1f /sys/fs/cgroup ro - cgroup2 cgroup rw\n";
    EXPECT_EQ(find_cgroup("0::/docker/1f\n", mounts, "cpu").folders, top);
    EXPECT_EQ(find_cgroup("0::/docker/1f/a\n", mounts, "cpu").folders.front(), top[0] / "a");
    EXPECT_EQ(find_cgroup("0::/docker/1f2\n", mounts, "cpu").folders, top) << "another group";
    // A group outside of the namespace.
    EXPECT_EQ(find_cgroup("0::/../2a\n", kVersion2Mounts, "cpu").folders, top);
    EXPECT_TRUE(find_cgroup("", "", "cpu").folders.empty());
}

TEST_F(Machine, ParsesQuotas) {
    EXPECT_EQ(parse_cpu_max("150000 100000\n"), 1.5);
    EXPECT_EQ(parse_cpu_max("max 100000\n"), std::nullopt);
    EXPECT_EQ(parse_cpu_max(""), std::nullopt);
    EXPECT_EQ(parse_cfs_quota("50000\n", "100000\n"), 0.5);
    EXPECT_EQ(parse_cfs_quota("-1\n", "100000\n"), std::nullopt);
    EXPECT_EQ(parse_cfs_quota("50000\n", "0\n"), std::nullopt);
}

TEST_F(Machine, TheTightestGroupOfVersion2Binds) {
    write("a/b/cpu.max", "max 100000\n");
    write("a/cpu.max", "150000 100000\n");
    write("cpu.max", "400000 100000\n");
    write("a/b/cpu.stat", "usage_usec 7\nnr_periods 9\nnr_throttled 2\nthrottled_usec 5\n");
    write("a/cpu.stat", "usage_usec 7\nnr_periods 9\nnr_throttled 3\nthrottled_usec 5\n");
    write("cpu.stat", "usage_usec 7\n");
    write("a/pids.max", "1200\n");
    write("a/pids.current", "300\n");
    write("a/b/pids.max", "max\n");
    write("a/b/pids.current", "200\n");
    write("a/memory.max", "1073741824\n");
    write("a/b/memory.max", "max\n");
    const CgroupFolders group{2, {folder_ / "a/b", folder_ / "a", folder_}};
    EXPECT_EQ(cpu_quota(group), 1.5);
    EXPECT_EQ(throttled_periods(group), 5u);
    EXPECT_EQ(free_pids(group), 900u);
    EXPECT_EQ(memory_limit_bytes(group), 1073741824u);
}

TEST_F(Machine, TheTightestGroupOfVersion1Binds) {
    write("a/cpu.cfs_quota_us", "50000\n");
    write("a/cpu.cfs_period_us", "100000\n");
    write("cpu.cfs_quota_us", "-1\n");
    write("cpu.cfs_period_us", "100000\n");
    write("a/cpu.stat", "nr_periods 100\nnr_throttled 17\nthrottled_time 1234\n");
    write("cpu.stat", "nr_periods 0\nnr_throttled 0\nthrottled_time 0\n");
    write("a/memory.limit_in_bytes", "9223372036854771712\n");
    const CgroupFolders group{1, {folder_ / "a", folder_}};
    EXPECT_EQ(cpu_quota(group), 0.5);
    EXPECT_EQ(throttled_periods(group), 17u);
    EXPECT_EQ(free_pids(group), std::nullopt);
    EXPECT_EQ(memory_limit_bytes(group), std::nullopt) << "the word for no limit";
    write("a/memory.limit_in_bytes", "4096\n");
    EXPECT_EQ(memory_limit_bytes(group), 4096u);
    EXPECT_EQ(throttled_periods({2, {folder_ / "nowhere"}}), std::nullopt);
}

TEST_F(Machine, UsableCpusAreTheSmallerOfAffinityAndQuota) {
    EXPECT_EQ((CpuAllowance{4, std::nullopt}.usable()), 4);
    EXPECT_EQ((CpuAllowance{4, 1.5}.usable()), 1.5);
    EXPECT_EQ((CpuAllowance{2, 8.0}.usable()), 2);
    EXPECT_GT(cpu_allowance().usable(), 0);
}

TEST_F(Machine, ParsesCpuTimes) {
    const auto times = parse_cpu_times("cpu  100 20 30 9000 800 4 6 40 50 60\ncpu0 1 2\n", 100);
    ASSERT_TRUE(times);
    EXPECT_EQ(times->total_s, 100) << "a guest's time stands in user already";
    EXPECT_EQ(times->busy_s, 2);
    EXPECT_EQ(times->steal_s, 0.4);
    EXPECT_FALSE(parse_cpu_times("", 100));
    EXPECT_FALSE(parse_cpu_times("cpu  100 20\n", 100));
    EXPECT_FALSE(parse_cpu_times("intr 1 2 3 4 5 6 7 8 9\n", 100));
}

const std::string kNetstat =
    "TcpExt: SyncookiesSent DelayedACKs DelayedACKLocked ListenOverflows ListenDrops "
    "TCPReqQFullDoCookies TCPReqQFullDrop TCPNewer\n"
    "TcpExt: 1 2965492 311 749 751 5 3 9\n"
    "IpExt: InNoRoutes InTruncatedPkts\n"
    "IpExt: 0 0\n";
const std::string kSnmp =
    "Ip: Forwarding DefaultTTL\nIp: 2 64\n"
    "Tcp: RtoAlgorithm RtoMin RtoMax MaxConn ActiveOpens PassiveOpens\n"
    "Tcp: 1 200 120000 -1 670824 612943\n";

TEST_F(Machine, ParsesTcpCounters) {
    const auto counters = parse_tcp_counters(kNetstat, kSnmp);
    ASSERT_TRUE(counters);
    EXPECT_EQ(counters->listen_overflows, 749u);
    EXPECT_EQ(counters->listen_drops, 751u);
    EXPECT_EQ(counters->request_queue_drops, 3u);
    EXPECT_EQ(counters->request_queue_cookies, 5u);
    EXPECT_EQ(counters->delayed_acks, 2965492u);
    EXPECT_EQ(counters->active_opens, 670824u);
    EXPECT_EQ(counters->refused(), 754u);
    const TcpCounters none = *counters - *counters;
    EXPECT_EQ(none.refused() + none.active_opens + none.delayed_acks, 0u);
    EXPECT_EQ((*counters - TcpCounters{.active_opens = 670'000}).active_opens, 824u);
    EXPECT_FALSE(parse_tcp_counters(kNetstat, ""));
    EXPECT_FALSE(parse_tcp_counters("TcpExt: DelayedACKs\nTcpExt: 1\n", kSnmp));
}

TEST_F(Machine, CountsEphemeralPorts) {
    // 8000 and 61000 are outside of the range, and 8001 (32769) is there twice.
    const std::string connections =
        "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt\n"
        "   0: 0100007F:1F40 00000000:0000 0A 00000000:00000000 00:00000000 00000000\n"
        "   1: 0100007F:8001 0100007F:1F40 01 00000000:00000000 00:00000000 00000000\n"
        "   2: 0100007F:8001 0100007F:2328 06 00000000:00000000 00:00000000 00000000\n"
        "   3: 0100007F:8002 0100007F:1F40 06 00000000:00000000 00:00000000 00000000\n"
        "   4: 0100007F:EE48 0100007F:1F40 06 00000000:00000000 00:00000000 00000000\n";
    const auto ports = parse_ephemeral_ports("32768\t60999\n", connections);
    ASSERT_TRUE(ports);
    EXPECT_EQ(ports->used, 2);
    EXPECT_EQ(ports->time_wait, 2);
    EXPECT_EQ(ports->available(), 28'230);
    EXPECT_FALSE(parse_ephemeral_ports("", connections));
}

TEST_F(Machine, SeesItsOwnConnection) {
    if (!tcp_counters()) {
        GTEST_SKIP() << "this kernel does not show its TCP counters";
    }
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    ASSERT_EQ(bind(listener, reinterpret_cast<sockaddr*>(&address), size), 0);
    ASSERT_EQ(listen(listener, 1), 0);
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    const auto before = tcp_counters();
    const int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ASSERT_EQ(connect(client, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_GE((*tcp_counters() - *before).active_opens, 1u);
    const auto ports = ephemeral_ports();
    ASSERT_TRUE(ports);
    EXPECT_GE(ports->used, 1);
    EXPECT_GE(listen_backlog_limit().value_or(0), 1);
    close(client);
    close(listener);
}

TEST_F(Machine, ParsesProportionalSetSize) {
    const std::string rollup =
        "5639d1df4000-7ffe10ea0000 ---p 00000000 00:00 0                          [rollup]\n"
        "Rss:                1768 kB\nPss:                 247 kB\nPss_Dirty:           116 kB\n";
    EXPECT_EQ(parse_pss_bytes(rollup), 247u * 1024);
    EXPECT_EQ(parse_pss_bytes(""), std::nullopt);
    const auto own = pss_bytes(getpid());
    ASSERT_TRUE(own);
    EXPECT_GT(*own, 0u);
    EXPECT_LE(*own, status(getpid()).peak_rss_bytes);
}

TEST_F(Machine, RecognisesSanitizers) {
    const std::string begin =
        "7f00-7f01 r-xp 00000000 fe:00 393 /usr/lib/x86_64-linux-gnu/libc.so.6\n"
        "7f02-7f03 r-xp 00000000 fe:00 394 /usr/lib/x86_64-linux-gnu/";
    EXPECT_EQ(parse_sanitizer(begin + "libasan.so.8.0.0\n"), "asan");
    EXPECT_EQ(parse_sanitizer(begin + "libtsan.so.2.0.0\n"), "tsan");
    EXPECT_EQ(parse_sanitizer(begin + "libubsan.so.1.0.0\n"), "ubsan");
    EXPECT_EQ(parse_sanitizer(begin + "libclang_rt.asan-x86_64.so\n"), "asan");
    EXPECT_EQ(parse_sanitizer(begin + "libstdc++.so.6\n"), "");
#if defined(__SANITIZE_ADDRESS__)
    EXPECT_EQ(sanitizer(getpid()), "asan");
#elif defined(__SANITIZE_THREAD__)
    EXPECT_EQ(sanitizer(getpid()), "tsan");
#else
    EXPECT_EQ(sanitizer(getpid()), "");
#endif
    EXPECT_EQ(sanitizer(-1), std::nullopt) << "a process that is not there";
}

TEST_F(Machine, ReadsTheBuildTypeOfAVersion) {
    EXPECT_EQ(parse_build_type("server_stackful 0.1.0 (Release)\n"), "Release");
    EXPECT_EQ(parse_build_type("server_stackful 0.1.0 (Debug, thread sanitizer)\n"),
              "Debug, thread sanitizer");
    EXPECT_EQ(parse_build_type("server_stackful 0.1.0 ()"), "");
    EXPECT_EQ(parse_build_type("server_stackful 0.1.0\n"), std::nullopt);
    EXPECT_EQ(parse_build_type(""), std::nullopt);
}

TEST_F(Machine, ReadsSmallFiles) {
    write("text", "first\nPss:\t 12 kB\nPss_Dirty: 3 kB\nnr_throttled 7\nempty \n");
    EXPECT_EQ(first_line(folder_ / "text"), "first");
    EXPECT_EQ(first_line(folder_ / "nothing"), "");
    const std::string text = contents(folder_ / "text");
    EXPECT_EQ(number_behind("Pss:", text), 12u);
    EXPECT_EQ(number_behind("nr_throttled", text), 7u);
    EXPECT_EQ(number_behind("nr", text), std::nullopt);
    EXPECT_EQ(number_behind("first", text), std::nullopt);
    EXPECT_EQ(number_behind("empty", text), std::nullopt);
    EXPECT_EQ(number("max"), std::nullopt);
    EXPECT_EQ(number("-1"), std::nullopt);
    EXPECT_EQ(number("18446744073709551615\n"), 18446744073709551615u);
}

// How long it takes is no matter of a test; that it takes CPU time is.
TEST_F(Machine, TheCanaryComputes) {
    const double before_s = cpu_s(getpid());
    const double canary_s = spin_canary_s();
    EXPECT_GT(canary_s, 0);
    EXPECT_GT(cpu_s(getpid()) - before_s, 0);
    EXPECT_FALSE(governor().empty());
}

}  // namespace
}  // namespace bench::sample
