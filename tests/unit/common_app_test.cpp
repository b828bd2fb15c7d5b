#include <gtest/gtest.h>

#include "common/app/cpu_work.hpp"
#include "common/app/echo_json.hpp"
#include "common/app/routing.hpp"
#include "common/limits.hpp"

using namespace common::app;
using namespace std::chrono_literals;

namespace {

Route get(std::string_view target) {
    return route({"GET", target, ""});
}

template <class Type>
Type call(const Route& route) {
    return std::get<Type>(std::get<Call>(route));
}

void expect_answer(const Route& route, int status, std::string_view mention) {
    const auto* answer = std::get_if<Answer>(&route);
    ASSERT_TRUE(answer);
    EXPECT_EQ(answer->status, status);
    EXPECT_NE(answer->body.find(mention), std::string::npos) << answer->body;
}

}  // namespace

TEST(Routing, FindsEachEndpoint) {
    EXPECT_EQ(call<Wait>(get("/wait")).lock, Lock::none);
    EXPECT_EQ(call<Wait>(get("/wait?lock=monitor")).lock, Lock::monitor);
    EXPECT_EQ(call<Wait>(get("/wait?lock=cooperative")).lock, Lock::cooperative);
    EXPECT_EQ(call<Sleep>(get("/sleep?ms=60000")).duration, 60'000ms);
    EXPECT_EQ(call<Block>(get("/block?ms=0")).duration, 0ms);
    EXPECT_FALSE(call<Cpu>(get("/cpu")).iterations);
    EXPECT_EQ(call<Cpu>(get("/cpu?iterations=10000000")).iterations, 10'000'000u);
    EXPECT_EQ(call<Tasks>(get("/tasks?count=1000000&sleep_ms=50")).count, 1'000'000u);
    EXPECT_EQ(call<Tasks>(get("/tasks?sleep_ms=50&count=0")).sleep, 50ms);
    EXPECT_TRUE(std::holds_alternative<Health>(get("/health")));
    EXPECT_TRUE(std::holds_alternative<Metrics>(get("/metrics?x")));
    EXPECT_TRUE(std::holds_alternative<Index>(get("/")));
    const auto echo =
        call<Echo>(route({"POST", "/echo?sleep_ms=5&block_ms=6", R"({"id":7,"name":"n"})"}));
    EXPECT_EQ(echo.id, 7);
    EXPECT_EQ(echo.name, "n");
    EXPECT_EQ(echo.sleep, 5ms);
    EXPECT_EQ(echo.block, 6ms);
}

TEST(Routing, HeadIsAnsweredLikeGet) {
    EXPECT_EQ(call<Sleep>(route({"HEAD", "/sleep?ms=1", ""})).duration, 1ms);
    EXPECT_TRUE(std::holds_alternative<Health>(route({"HEAD", "/health", ""})));
}

TEST(Routing, RefusesWithAReason) {
    expect_answer(get("/nowhere"), 404, "path");
    expect_answer(get("/wait?lock=x"), 400, "lock");
    expect_answer(get("/sleep"), 400, "ms is missing");
    expect_answer(get("/sleep?ms=1&ms=1"), 400, "ms is repeated");
    expect_answer(get("/sleep?ms="), 400, "ms is empty");
    expect_answer(get("/sleep?ms=1s"), 400, "ms must be plain decimal digits");
    expect_answer(get("/sleep?ms=60001"), 400, "ms must be from 0 to 60000");
    expect_answer(get("/cpu?iterations=0"), 400, "iterations must be from 1 to 10000000");
    expect_answer(get("/sleep?ms=%"), 400, "target");
    expect_answer(route({"POST", "/echo?sleep_ms=x", R"({"id":7,"name":"n"})"}), 400, "sleep_ms");
}

TEST(Routing, TargetsAreAPathOrAWholeAddress) {
    for (const char* target : {"http://a/health", "HTTP://a:80/health", "/health?x"}) {
        EXPECT_TRUE(std::holds_alternative<Health>(get(target))) << target;
    }
    EXPECT_TRUE(std::holds_alternative<Index>(get("http://a")));
    for (const char* target : {"//a/health", "///health", "/health/"}) {
        expect_answer(get(target), 404, "path");
    }
    for (const char* target : {"/health#f", "ftp://a/health", "a:/health", "http:///health",
                               "health", "?ms=1", "*", "a:80", "http:\x87", "http:", ""}) {
        expect_answer(get(target), 400, "target");
    }
}

TEST(Routing, WrongMethodsSayWhichAreRight) {
    const auto on_get = std::get<Answer>(route({"POST", "/wait", ""}));
    EXPECT_EQ(on_get.status, 405);
    EXPECT_EQ(on_get.allow, "GET, HEAD");
    const auto on_post = std::get<Answer>(route({"GET", "/echo", ""}));
    EXPECT_EQ(on_post.status, 405);
    EXPECT_EQ(on_post.allow, "POST");
}

TEST(EchoJson, KeepsTheLastOfRepeatedMembers) {
    const auto echo = std::get<Echo>(parse_echo(R"({"id":1,"id":2,"name":"a","name":"b"})"));
    EXPECT_EQ(echo.id, 2);
    EXPECT_EQ(echo.name, "b");
}

TEST(EchoJson, TakesTheWholeRangeOf64Bits) {
    EXPECT_EQ(std::get<Echo>(parse_echo(R"({"id":-9223372036854775808,"name":""})")).id,
              std::numeric_limits<std::int64_t>::min());
    EXPECT_EQ(std::get<Echo>(parse_echo(R"({"id":9223372036854775807,"name":""})")).id,
              std::numeric_limits<std::int64_t>::max());
}

TEST(EchoJson, SaysWhatIsWrong) {
    const auto wrong = [](std::string_view json) {
        return std::get<std::string>(parse_echo(json));
    };
    EXPECT_NE(wrong("{").find("JSON"), std::string::npos);
    EXPECT_NE(wrong("{\"name\":\"\xff\"}").find("UTF-8"), std::string::npos);
    EXPECT_NE(wrong("[]").find("object"), std::string::npos);
    EXPECT_EQ(wrong(R"({"name":"a"})"), "member id is missing");
    EXPECT_EQ(wrong(R"({"id":1})"), "member name is missing");
    EXPECT_EQ(wrong(R"({"id":1.5,"name":"a"})"), "member id must be an integer");
    EXPECT_EQ(wrong(R"({"id":1,"name":2})"), "member name must be a string");
    EXPECT_EQ(wrong(R"({"id":9223372036854775808,"name":"a"})"),
              "member id must fit a signed 64-bit integer");
}

TEST(CpuWork, DigestsAreTheKnownOnes) {
    // printf waitbench | sha256sum; and the same of its 32 raw bytes.
    EXPECT_EQ(digest_chain(1), "0ef854c0ae5f4f8c23c4cf2cfae09dc206629846b917210b565b60283840fff2");
    EXPECT_EQ(digest_chain(2), "d997191b385816bc9b2fcaa2103168d584ff4e014e620a31a37073ae0e08df60");
    EXPECT_EQ(digest_chain(1000),
              "65007f9ce5172c95df378c5fa6d30630f2cf7a4079b9784d1416095198c65eb9");
}

TEST(CpuWork, IsCalibratedOnceByWhoeverAsksFirst) {
    CpuWorkSize size(0);
    int started = 0;
    size.on_first_use([&] { ++started; });
    EXPECT_EQ(size.iterations(), 0u);
    EXPECT_EQ(size.iterations(), 0u);
    EXPECT_EQ(started, 1);
    size.calibrate();
    EXPECT_GT(size.iterations(), 0u);
    EXPECT_EQ(size.iterations(), size.iterations());
    EXPECT_EQ(started, 1);
}

TEST(CpuWork, AGivenSizeNeedsNoCalibration) {
    CpuWorkSize size(5);
    size.on_first_use([] { FAIL(); });
    EXPECT_EQ(size.iterations(), 5u);
}
