// A downstream that does what the stub cannot be told to do.
#include <chrono>

#include "expectations.hpp"
#include "observation.hpp"
#include "scripted_downstream.hpp"

using namespace client;
using namespace std::chrono_literals;
using Reply = ScriptedDownstream::Reply;
using Then = ScriptedDownstream::Then;

namespace {

const std::string kBody = R"({"good":true})";

std::string answer(const std::string& body = kBody, std::size_t length = kBody.size()) {
    return "HTTP/1.1 200 OK\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n" + body;
}

/// With one pool of kept connections, so that they can be counted: stackful has one a scheduler.
Server server_calling(const ScriptedDownstream& downstream, Flags flags = {}) {
    if (programs().model() == "stackful") {
        flags.insert(flags.end(), {"--carriers", "1"});
    }
    return Server(downstream.port(), flags);
}

/// Each call of /wait is answered with this error, whose reason mentions that; the server goes on,
/// and no connection to the downstream that has done so is used again.
void expect_failures(const Reply& reply, int status, std::string_view mention,
                     const Flags& flags = {}) {
    ScriptedDownstream downstream([&](int, int) { return reply; });
    Server server = server_calling(downstream, flags);
    Connection connection(server.port());
    for (int n = 1; n <= 3; ++n) {
        const auto response = connection.exchange(get_request("/wait"));
        expect_error(response, status, mention);
        expect_kept(connection, response);
        EXPECT_EQ(downstream.connections(), n);
    }
}

}  // namespace

TEST(Downstream, ThatClosesAKeptConnectionIsAskedOnceMore) {
    // The first connection serves one request and is closed in place of the second answer.
    ScriptedDownstream downstream([](int connection, int request) {
        return connection == 0 && request == 1 ? Reply{"", Then::close} : Reply{answer()};
    });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    for (int n = 0; n < 4; ++n) {
        expect_json(connection.exchange(get_request("/wait")), kBody);
    }
    EXPECT_EQ(downstream.connections(), 2);
}

TEST(Downstream, ThatResetsAKeptConnectionIsAskedOnceMore) {
    ScriptedDownstream downstream([](int connection, int request) {
        return connection == 0 && request == 1 ? Reply{"", Then::reset} : Reply{answer()};
    });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    for (int n = 0; n < 4; ++n) {
        expect_json(connection.exchange(get_request("/wait")), kBody);
    }
    EXPECT_EQ(downstream.connections(), 2);
}

TEST(Downstream, IsAskedOnceMoreAndNotTwice) {
    ScriptedDownstream downstream([](int connection, int request) {
        return connection == 0 && request == 0 ? Reply{answer()} : Reply{"", Then::close};
    });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    expect_json(connection.exchange(get_request("/wait")), kBody);
    expect_error(connection.exchange(get_request("/wait")), 502, "downstream");
    EXPECT_EQ(downstream.connections(), 2);
}

TEST(Downstream, ThatClosesBetweenTheAnswersIsNotNoticed) {
    ScriptedDownstream downstream([](int, int) { return Reply{answer(), Then::close}; });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    for (int n = 0; n < 5; ++n) {
        expect_json(connection.exchange(get_request("/wait")), kBody);
    }
}

TEST(Downstream, ThatSendsMoreThanItsLengthIsNotReused) {
    ScriptedDownstream downstream([](int, int) {
        return Reply{answer() + "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison"};
    });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    for (int n = 1; n <= 3; ++n) {
        expect_json(connection.exchange(get_request("/wait")), kBody);
        EXPECT_EQ(downstream.connections(), n);
    }
}

TEST(Downstream, MayEndItsAnswerByClosing) {
    ScriptedDownstream downstream([](int, int) {
        return Reply{"HTTP/1.1 200 OK\r\n\r\n" + kBody, Then::close};
    });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    for (int n = 1; n <= 3; ++n) {
        expect_json(connection.exchange(get_request("/wait")), kBody);
        EXPECT_EQ(downstream.connections(), n);
    }
}

TEST(Downstream, MayAnswerInChunks) {
    ScriptedDownstream downstream([](int, int) {
        return Reply{"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nd\r\n" + kBody +
                     "\r\n0\r\n\r\n"};
    });
    Server server = server_calling(downstream);
    Connection connection(server.port());
    for (int n = 0; n < 3; ++n) {
        expect_json(connection.exchange(get_request("/wait")), kBody);
    }
    EXPECT_EQ(downstream.connections(), 1);
}

TEST(Downstream, ResetInsideTheAnswerIs502) {
    expect_failures({answer("{", 100), Then::reset}, 502, "closed");
}
TEST(Downstream, ABodyShorterThanItsLengthIs502) {
    expect_failures({answer(kBody, 100), Then::close}, 502, "closed");
}
TEST(Downstream, ABodyThatNeverEndsIs504) {
    expect_failures({answer(kBody, 100)}, 504, "time", {"--downstream-timeout", "300ms"});
}
TEST(Downstream, AnInterimAnswerIs502) {
    expect_failures({"HTTP/1.1 103 Early Hints\r\n\r\n" + answer()}, 502, "malformed");
}
TEST(Downstream, ConflictingLengthsAre502) {
    expect_failures({"HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab"}, 502,
                    "malformed");
}
TEST(Downstream, AnEndlessHeaderIs502) {
    expect_failures({"HTTP/1.1 200 OK\r\nX: " + std::string(40'000, 'x')}, 502, "malformed");
}
TEST(Downstream, ABodyOfMoreThanAMebibyteIs502) {
    expect_failures({answer(std::string(1100 * 1024, 'x'), 1100 * 1024)}, 502, "malformed");
}
