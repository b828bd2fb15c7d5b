#include "expectations.hpp"

using namespace client;

namespace {

/// One number that an endpoint takes: a target up to its value, its name, its first value too high.
struct Number {
    const char* method;
    const char* start;
    const char* name;
    const char* too_high;
};

constexpr Number kNumbers[] = {
    {"GET", "/sleep?ms=", "ms", "60001"},
    {"GET", "/block?ms=", "ms", "60001"},
    {"GET", "/tasks?sleep_ms=1&count=", "count", "1000001"},
    {"GET", "/tasks?count=1&sleep_ms=", "sleep_ms", "60001"},
    {"GET", "/cpu?iterations=", "iterations", "10000001"},
    {"POST", "/echo?sleep_ms=", "sleep_ms", "60001"},
    {"POST", "/echo?block_ms=", "block_ms", "60001"},
};

std::string request(const std::string& method, const std::string& target) {
    return method == "GET" ? get_request(target) : post_request(target, R"({"id":1,"name":"a"})");
}

void expect_refused(Connection& connection, const Number& number, const std::string& target) {
    SCOPED_TRACE(target);
    const auto response = connection.exchange(request(number.method, target));
    expect_error(response, 400, number.name);
    expect_kept(connection, response);
}

}  // namespace

TEST(Parameters, MustBePlainDecimalDigitsInRange) {
    constexpr const char* kWrong[] = {"",
                                      "-1",
                                      "%2B1",
                                      "+1",
                                      "1.5",
                                      "1e3",
                                      "0x10",
                                      "1ms",
                                      "a",
                                      "%201",
                                      "1%20",
                                      "1,0",
                                      "%00",
                                      "1%00",
                                      "%D9%A3",
                                      "18446744073709551616",
                                      "18446744073709551617",
                                      "99999999999999999999999999999999999999"};
    Connection connection(shared_server());
    for (const Number& number : kNumbers) {
        for (const char* value : kWrong) {
            expect_refused(connection, number, std::string(number.start) + value);
        }
        expect_refused(connection, number, std::string(number.start) + number.too_high);
    }
    expect_refused(connection, kNumbers[4], "/cpu?iterations=0");
}

TEST(Parameters, MustNotBeRepeated) {
    Connection connection(shared_server());
    for (const Number& number : kNumbers) {
        const std::string once = std::string(number.start) + "1";
        expect_refused(connection, number, once + "&" + number.name + "=1");
        expect_refused(connection, number, once + "&x=2&" + number.name + "=");
        expect_refused(connection, number, once + "&" + number.name);
    }
}

TEST(Parameters, RequiredOnesMustBeThere) {
    Connection connection(shared_server());
    expect_refused(connection, kNumbers[0], "/sleep");
    expect_refused(connection, kNumbers[0], "/sleep?");
    expect_refused(connection, kNumbers[0], "/sleep?MS=1");
    expect_refused(connection, kNumbers[1], "/block");
    expect_refused(connection, kNumbers[2], "/tasks?sleep_ms=1");
    expect_refused(connection, kNumbers[3], "/tasks?count=1");
}

TEST(Parameters, UnknownOnesAreIgnored) {
    Connection connection(shared_server());
    for (const char* target : {"/sleep?ms=1&x=1&x=2", "/sleep?x&ms=1", "/sleep?&&ms=1",
                               "/sleep?ms=1&y=", "/sleep?=&ms=1", "/block?lock=what&ms=1"}) {
        SCOPED_TRACE(target);
        expect_ok(connection.exchange(get_request(target)));
    }
    for (const char* target : {"/wait?ms=x", "/health?x=1", "/metrics?x", "/?x=%41"}) {
        SCOPED_TRACE(target);
        EXPECT_EQ(connection.exchange(get_request(target)).status, 200);
    }
}

TEST(Parameters, LeadingZerosAndPercentEncodingAreDecimalDigitsToo) {
    Connection connection(shared_server());
    expect_ok(connection.exchange(get_request("/sleep?ms=0001")));
    expect_ok(connection.exchange(get_request("/sleep?ms=%31")));
    expect_ok(connection.exchange(get_request("/sleep?m%73=1")));
}

TEST(Parameters, MalformedTargetsAre400) {
    Connection connection(shared_server());
    for (const char* target : {"/sleep?ms=%", "/sleep?ms=%zz", "/%", "/sleep?ms=1%4", "\xff"}) {
        SCOPED_TRACE(target);
        const auto response = connection.exchange(get_request(target));
        expect_error(response, 400);
        expect_kept(connection, response);
    }
}
