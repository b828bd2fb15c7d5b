// Ten thousand hostile connections in a row, and what they leave behind.
#include <array>
#include <chrono>
#include <deque>
#include <random>

#include "expectations.hpp"
#include "observation.hpp"

using namespace client;
using namespace std::chrono_literals;

namespace {

constexpr int kWarmUp = kSanitized ? 200 : 1000;
constexpr int kHostile = kSanitized ? 1500 : 10'000;
/// What the allocator may keep beyond what the warm-up has left.
constexpr std::size_t kGrowthKib = 8 * 1024;
/// So many slow ones wait at once before the oldest is dropped.
constexpr std::size_t kSlowOnes = 40;

const std::string kEcho = post_request("/echo", R"({"id":1,"name":"a"})");
const std::string kChunkedHead =
    "POST /echo HTTP/1.1\r\nHost: test\r\nTransfer-Encoding: chunked\r\n\r\n";

class Attackers {
  public:
    explicit Attackers(Port port) : port_(port) {}

    void attack(int number) {
        constexpr std::array kKinds = {&Attackers::bad_request_line,
                                       &Attackers::conflicting_lengths,
                                       &Attackers::reset_in_the_header,
                                       &Attackers::reset_in_the_body,
                                       &Attackers::half_closed,
                                       &Attackers::half_closed_too_early,
                                       &Attackers::oversized_header,
                                       &Attackers::oversized_body,
                                       &Attackers::garbage,
                                       &Attackers::slow,
                                       &Attackers::pipelined_and_gone,
                                       &Attackers::silent,
                                       &Attackers::gone_while_waiting,
                                       &Attackers::malformed_chunk,
                                       &Attackers::talks_tls,
                                       &Attackers::bare_line_feed,
                                       &Attackers::continues_never};
        const auto kind = static_cast<std::size_t>(number) % kKinds.size();
        Connection connection(port_);
        (this->*kKinds[kind])(connection);
    }

  private:
    /// The one answer to what is wrong, then the end.
    void expect_refusal(Connection& connection, std::string_view bytes, int status) {
        connection.send(bytes);
        ASSERT_EQ(connection.receive().status, status) << bytes.substr(0, 100);
        ASSERT_TRUE(connection.is_gone());
    }

    void bad_request_line(Connection& connection) {
        expect_refusal(connection, "GET /a b HTTP/1.1\r\nHost: test\r\n\r\n", 400);
    }
    void conflicting_lengths(Connection& connection) {
        expect_refusal(connection, get_request("/", "Content-Length: 1\r\nContent-Length: 2\r\n"),
                       400);
    }
    void reset_in_the_header(Connection& connection) {
        connection.send("GET /wait HTTP/1.1\r\nHos");
        connection.reset();
    }
    void reset_in_the_body(Connection& connection) {
        connection.send(kEcho.substr(0, kEcho.size() - 3));
        connection.reset();
    }
    void half_closed(Connection& connection) {
        connection.send(kEcho);
        connection.finish_sending();
        ASSERT_EQ(connection.receive().status, 200);
        ASSERT_TRUE(connection.is_gone());
    }
    void half_closed_too_early(Connection& connection) {
        connection.send(kEcho.substr(0, kEcho.size() / 2));
        connection.finish_sending();
        ASSERT_EQ(connection.receive().status, 400);
        ASSERT_TRUE(connection.is_gone());
    }
    void oversized_header(Connection& connection) {
        expect_refusal(connection, get_request("/", "X: " + std::string(17'000, 'x') + "\r\n"),
                       431);
    }
    void oversized_body(Connection& connection) {
        expect_refusal(connection,
                       "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 70000\r\n\r\n" +
                           std::string(30'000, ' '),
                       413);
    }
    void garbage(Connection& connection) {
        std::string bytes(200, '\0');
        for (char& byte : bytes) {
            byte = static_cast<char>(random_());
        }
        connection.send(bytes);
    }
    void slow(Connection& connection) {
        connection.send(kEcho.substr(0, 20));
        slow_ones_.push_back(std::move(connection));
        if (slow_ones_.size() > kSlowOnes) {
            slow_ones_.pop_front();
        }
    }
    void pipelined_and_gone(Connection& connection) {
        std::string requests;
        for (int n = 0; n < 20; ++n) {
            requests += get_request("/sleep?ms=0") + kEcho;
        }
        connection.send(requests);
        ASSERT_EQ(connection.receive().status, 200);
        connection.reset();
    }
    void silent(Connection&) {}
    void gone_while_waiting(Connection& connection) {
        connection.send(get_request("/wait"));
        connection.reset();
    }
    void malformed_chunk(Connection& connection) {
        expect_refusal(connection, kChunkedHead + "5\r\nhello!!\r\n", 400);
    }
    void talks_tls(Connection& connection) {
        connection.send("\x16\x03\x01\x02\x01\x01\xfc\x03\x03 a TLS greeting");
    }
    void bare_line_feed(Connection& connection) {
        expect_refusal(connection, "GET / HTTP/1.1\nHost: test\n\n", 400);
    }
    void continues_never(Connection& connection) {
        connection.send(
            "POST /echo HTTP/1.1\r\nHost: t\r\nExpect: 100-continue\r\nContent-Length: 9\r\n\r\n");
        ASSERT_EQ(connection.receive().status, 100);
    }

    const Port port_;
    std::deque<Connection> slow_ones_;
    std::minstd_rand random_;
};

void attack(Port port, int times) {
    Attackers attackers(port);
    for (int n = 0; n < times && !testing::Test::HasFailure(); ++n) {
        SCOPED_TRACE(n);
        attackers.attack(n);
    }
}

}  // namespace

TEST(Hostile, ThousandsInARowLeaveTheServerAsItWas) {
    // Few downstream connections can be kept, so that they do not count as a leak.
    Stub stub({"--delay", "1ms"});
    Server server(stub.port());
    const pid_t pid = server.process().pid();
    const auto settled = [&](std::size_t descriptors) {
        return becomes_true([&] { return open_descriptors(pid) <= descriptors; });
    };
    EXPECT_EQ(get(server.port(), "/health").status, 200);
    const std::size_t fresh = open_descriptors(pid);
    attack(server.port(), kWarmUp);
    // Those who went away while waiting leave kept connections to the downstream, a few at most.
    constexpr std::size_t kKept = 20;
    EXPECT_TRUE(settled(fresh + kKept)) << open_descriptors(pid) << " after the warm-up";
    const std::size_t memory_kib = process_status(pid, "VmRSS");

    attack(server.port(), kHostile);

    EXPECT_EQ(get(server.port(), "/health").status, 200);
    EXPECT_EQ(get(server.port(), "/wait").status, 200);
    EXPECT_TRUE(settled(fresh + kKept)) << fresh << " descriptors, then " << open_descriptors(pid);
    if (!kSanitized) {  // whose quarantine grows
        EXPECT_LT(process_status(pid, "VmRSS"), memory_kib + kGrowthKib) << "KiB";
    }
    EXPECT_TRUE(becomes_true([&] {
        const std::string metrics = get(server.port(), "/metrics").body;
        return metrics.find("in_flight{phase=\"waiting\"} 0\n") != std::string::npos &&
               metrics.find("in_flight{phase=\"running\"} 0\n") != std::string::npos;
    }));
    EXPECT_LT(cpu_time_during(pid, 1s), 300ms) << "it spins";
}
