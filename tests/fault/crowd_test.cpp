// Many that want nothing, or never finish asking, beside one who asks properly.
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iostream>

#include "expectations.hpp"
#include "observation.hpp"

using namespace client;
using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

namespace {

constexpr std::size_t kHalfSent = 500;
/// Connections to the downstream that the few requests here may leave, one a scheduler or loop.
constexpr std::size_t kKept = 8;
#if defined(__SANITIZE_THREAD__)  // a fiber takes it seven milliseconds to make
constexpr std::size_t kIdle = 500;
#else
constexpr std::size_t kIdle = kSanitized ? 2000 : 5000;
#endif
/// Fewer where this process may not open so many, and the server, which needs two for each.
std::size_t idle_connections() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    const std::size_t most = limit.rlim_cur / 2 - 100 - kHalfSent;
    return std::min(kIdle, most);
}
constexpr auto kBound = kSanitized ? 10s : 1s;

/// Asks each kind of request a few times: every answer comes within the bound. Prints the medians,
/// because how much a crowd slows the others down is a measurement (docs/reliability.md).
void expect_prompt_answers(Port port, std::string_view beside) {
    for (const std::string& request :
         {get_request("/health"), get_request("/wait"), get_request("/sleep?ms=1"),
          post_request("/echo", R"({"id":1,"name":"a"})")}) {
        std::array<std::chrono::duration<double, std::milli>, 5> times{};
        for (auto& time : times) {
            const auto start = Clock::now();
            EXPECT_EQ(ask(port, request).status, 200) << request;
            time = Clock::now() - start;
            EXPECT_LT(time, kBound) << request;
        }
        std::ranges::nth_element(times, times.begin() + times.size() / 2);
        std::cout << request.substr(0, request.find(" HTTP")) << " beside " << beside << ": median "
                  << times[times.size() / 2].count() << " ms\n";
    }
}

}  // namespace

TEST(Crowd, HalfSentRequestsAndIdleConnectionsHoldNobodyUp) {
    Server server(shared_stub(),
                  {"--header-timeout", "5m", "--body-timeout", "5m", "--idle-timeout", "5m"});
    constexpr std::array<std::string_view, 5> kBeginnings = {
        "G", "GET /wait HTTP/1.1\r\nHo",
        "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 9\r\n\r\n{",
        "POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{\"i", "\r\n\r"};
    expect_prompt_answers(server.port(), "nobody");
    std::vector<Connection> crowd;
    for (std::size_t n = 0; n < kHalfSent; ++n) {
        crowd.emplace_back(server.port()).send(kBeginnings[n % kBeginnings.size()]);
    }
    expect_prompt_answers(server.port(), "half-sent requests");
    const std::size_t all = kHalfSent + idle_connections();
    while (crowd.size() < all) {
        crowd.emplace_back(server.port());
    }
    expect_prompt_answers(server.port(), "idle connections, too");
    // All of them are still there: nobody was thrown out to make room.
    for (Connection& each : crowd) {
        ASSERT_TRUE(each.is_silent_for(0ms));
    }
    EXPECT_LT(cpu_time_during(server.process().pid(), 1s), 500ms) << "it spins";
    crowd.clear();
    expect_prompt_answers(server.port(), "nobody any more");
}

TEST(Crowd, ThatNeverReadsHoldsNobodyUp) {
    Server server(shared_stub(), {"--write-timeout", "1s"});
    const pid_t pid = server.process().pid();
    EXPECT_EQ(get(server.port(), "/health").status, 200);
    const std::size_t before = open_descriptors(pid);
    std::vector<Connection> crowd;
    std::string requests;
    for (int n = 0; n < (kSanitized ? 40 : 400); ++n) {
        requests += get_request("/metrics");
    }
    for (int n = 0; n < 8; ++n) {
        crowd.emplace_back(server.port()).send_what_fits(requests);
    }
    expect_prompt_answers(server.port(), "readers that do not read");
    // What the kernel's buffers do not take ends by the write deadline; the rest has been answered.
    crowd.clear();
    EXPECT_TRUE(becomes_true([&] { return open_descriptors(pid) <= before + kKept; }));
}
