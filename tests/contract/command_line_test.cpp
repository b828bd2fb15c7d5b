#include <signal.h>

#include <algorithm>

#include "expectations.hpp"

using namespace client;

namespace {

/// What a program wrote and how it ended.
struct Outcome {
    int status;
    std::string output;
    std::string error;
};

Outcome run(const std::string& path, Flags flags) {
    flags.insert(flags.begin(), path);
    Process process(flags);
    const auto status = process.wait();
    if (!status) {
        throw std::runtime_error("it does not end: " + process.standard_error());
    }
    return {*status, process.standard_output(), process.standard_error()};
}

bool is_one_line(const std::string& text) {
    return text.size() > 1 && text.find('\n') == text.size() - 1;
}

/// One of the model's own flags.
std::string own_flag() {
    const std::string model = programs().model();
    return model == "stackful"          ? "--carriers"
           : model == "sync_over_async" ? "--injection"
                                        : "--threads";
}

void expect_wrong(const std::string& path, const Flags& flags) {
    const auto outcome = run(path, flags);
    SCOPED_TRACE(testing::PrintToString(flags));
    EXPECT_EQ(outcome.status, 2);
    EXPECT_TRUE(outcome.output.empty()) << outcome.output;
    EXPECT_TRUE(is_one_line(outcome.error)) << outcome.error;
}

const std::string& server() {
    return programs().server;
}
const std::string& stub() {
    return programs().stub;
}

}  // namespace

TEST(WrongFlag, GetsOneSentenceAndStatus2) {
    expect_wrong(server(), {"--nonsense"});
    expect_wrong(server(), {"nonsense"});
    expect_wrong(server(), {"--port", "0", "extra"});
    expect_wrong(server(), {"--port"});
    expect_wrong(server(), {"--port", "65536"});
    expect_wrong(server(), {"--port", "-1"});
    expect_wrong(server(), {"--port", "http"});
    expect_wrong(server(), {"--host", "nowhere"});
    expect_wrong(server(), {"--downstream", "9000"});
    expect_wrong(server(), {"--downstream", "127.0.0.1"});
    expect_wrong(server(), {"--downstream", "127.0.0.1:99999"});
    expect_wrong(server(), {"--log-level", "loud"});
    expect_wrong(server(), {"--max-connections", "0"});
    expect_wrong(server(), {"--cpu-iterations", "-1"});
    expect_wrong(server(), {own_flag(), "x"});
}

TEST(WrongFlag, DurationsNeedAUnit) {
    for (const char* flag : {"--downstream-timeout", "--header-timeout", "--body-timeout",
                             "--idle-timeout", "--write-timeout", "--drain-timeout"}) {
        for (const char* value :
             {"30", "", "s", "-1s", "1.5s", "30 s", "30parsecs", "1s1", "99999999999999999999s"}) {
            expect_wrong(server(), {flag, value});
        }
    }
}

TEST(WrongFlag, OfTheModelsOwn) {
    const std::string model = programs().model();
    if (model == "stackful") {
        expect_wrong(server(), {"--stack-size", "64"});
        expect_wrong(server(), {"--guard", "none"});
        expect_wrong(server(), {"--front-end", "back"});
        expect_wrong(server(), {"--hand-off", "maybe"});
        expect_wrong(server(), {"--carriers", "0"});
        expect_wrong(server(), {"--max-carriers", "0"});
    } else if (model == "sync_over_async") {
        expect_wrong(server(), {"--injection", "java"});
        expect_wrong(server(), {"--injection", "fixed:10"});
        expect_wrong(server(), {"--completions", "lifo"});
        expect_wrong(server(), {"--min-threads", "0"});
        expect_wrong(server(), {"--max-threads", "0"});
        expect_wrong(server(), {"--assume-cpus", "0"});
        expect_wrong(server(), {"--min-threads", "10", "--max-threads", "5"});
    } else {
        expect_wrong(server(), {"--threads", "0"});
        expect_wrong(server(), {"--threads", "many"});
    }
}

TEST(WrongFlag, OfTheStub) {
    expect_wrong(stub(), {"--nonsense"});
    expect_wrong(stub(), {"--delay", "20"});
    expect_wrong(stub(), {"--jitter", "x"});
    expect_wrong(stub(), {"--fault", "dance:1"});
    expect_wrong(stub(), {"--fault", "reset"});
    expect_wrong(stub(), {"--fault", "reset:2"});
    expect_wrong(stub(), {"--fault", "reset:0.6,500:0.6"});
    expect_wrong(stub(), {"--body-bytes", "x"});
    expect_wrong(stub(), {"--port", "65536"});
}

TEST(Help, GroupsTheModelsOwnFlagsFirstWithDefaults) {
    const auto outcome = run(server(), {"--help"});
    EXPECT_EQ(outcome.status, 0);
    EXPECT_TRUE(outcome.error.empty()) << outcome.error;
    const auto own = outcome.output.find(own_flag());
    ASSERT_NE(own, std::string::npos) << outcome.output;
    for (const char* shared :
         {"--host", "--port", "--downstream", "--downstream-timeout", "--header-timeout",
          "--body-timeout", "--idle-timeout", "--write-timeout", "--drain-timeout",
          "--max-connections", "--cpu-iterations", "--log-level"}) {
        const auto found = outcome.output.find(std::string(shared) + " ");
        EXPECT_NE(found, std::string::npos) << shared;
        EXPECT_GT(found, own) << shared;
    }
    for (const char* value : {"127.0.0.1", "127.0.0.1:9000", "30s", "10s", "60s"}) {
        const std::string spelt = value == std::string("60s") ? "1m" : value;
        EXPECT_TRUE(outcome.output.find(value) != std::string::npos ||
                    outcome.output.find(spelt) != std::string::npos)
            << value;
    }
    const std::string model = programs().model();
    const char* port = model == "thread_pool" ? "8080"
                       : model == "stackful"  ? "8081"
                       : model == "stackless" ? "8082"
                                              : "8083";
    EXPECT_NE(outcome.output.find(port), std::string::npos);
}

TEST(Help, OfTheStubToo) {
    const auto outcome = run(stub(), {"--help"});
    EXPECT_EQ(outcome.status, 0);
    for (const char* shown :
         {"--delay", "20ms", "--body-bytes", "140", "--jitter", "--fault", "9000"}) {
        EXPECT_NE(outcome.output.find(shown), std::string::npos) << shown;
    }
    EXPECT_LT(outcome.output.find("--delay"), outcome.output.find("--port"));
}

TEST(Version, IsOneLineWithTheNameOfTheProgram) {
    for (const std::string& path : {server(), stub()}) {
        const auto outcome = run(path, {"--version"});
        EXPECT_EQ(outcome.status, 0);
        EXPECT_TRUE(outcome.error.empty()) << outcome.error;
        EXPECT_TRUE(is_one_line(outcome.output)) << outcome.output;
        const std::string name = path.substr(path.rfind('/') + 1);
        EXPECT_TRUE(outcome.output.starts_with(name + " ")) << outcome.output;
    }
}

TEST(PortInUse, GetsOneSentenceAndStatus1) {
    for (const std::string& path : {server(), stub()}) {
        Listening first(path, {});
        const std::string port = std::to_string(first.port());
        const auto outcome = run(path, {"--port", port});
        EXPECT_EQ(outcome.status, 1);
        EXPECT_TRUE(outcome.output.empty()) << outcome.output;
        EXPECT_TRUE(is_one_line(outcome.error)) << outcome.error;
        EXPECT_NE(outcome.error.find(port), std::string::npos) << outcome.error;
    }
}

TEST(PortInUse, AfterAStopThePortIsFreeAtOnce) {
    Flags same_port;
    {
        Listening first(server(), {});
        same_port = {"--port", std::to_string(first.port())};
        // The server closes first, which leaves the connection in TIME_WAIT on its side.
        EXPECT_TRUE(get(first.port(), "/health").status == 200);
        Connection connection(first.port());
        EXPECT_EQ(connection.exchange(get_request("/health", "Connection: close\r\n")).status, 200);
        EXPECT_TRUE(connection.ends());
    }
    Listening second(server(), same_port);
    EXPECT_EQ(get(second.port(), "/health").status, 200);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
// With a stack that no address space has room for no thread can be made.
TEST(Threads, ThatCannotBeMadeGetOneSentenceAndStatus1) {
    const auto outcome = run(
        "/bin/sh", {"-c", R"(ulimit -s 1000000000000 && exec "$0" "$@")", server(), "--port", "0"});
    if (outcome.error.find("ulimit") != std::string::npos) {
        GTEST_SKIP() << "this system does not let a process ask for more stack";
    }
    EXPECT_EQ(outcome.status, 1);
    EXPECT_TRUE(is_one_line(outcome.error)) << outcome.error;
    EXPECT_NE(outcome.error.find("threads"), std::string::npos) << outcome.error;
}
#endif

TEST(StandardOutput, HoldsTheOneLineOnly) {
    for (const std::string& path : {server(), stub()}) {
        Listening program(path, {"--log-level", "debug"});
        EXPECT_EQ(get(program.port(), "/health").status, 200);
        program.stop();
        EXPECT_TRUE(is_one_line(program.process().standard_output()))
            << program.process().standard_output();
    }
}

TEST(MaxConnections, FurtherOnesGet503AndPlaceIsGivenBack) {
    Server limited(shared_stub(), {"--max-connections", "2"});
    {
        Connection first(limited.port());
        Connection second(limited.port());
        EXPECT_EQ(first.exchange(get_request("/health")).status, 200);
        EXPECT_EQ(second.exchange(get_request("/health")).status, 200);
        Connection third(limited.port());
        expect_error(third.receive(), 503);
        EXPECT_TRUE(third.is_gone());
        EXPECT_EQ(second.exchange(get_request("/health")).status, 200);
    }
    // The server needs a moment to see that the two have gone.
    int status = 503;
    const auto deadline = std::chrono::steady_clock::now() + kPatience;
    while (status == 503 && std::chrono::steady_clock::now() < deadline) {
        Connection again(limited.port());
        again.send_what_fits(get_request("/health"));
        status = again.receive().status;
    }
    EXPECT_EQ(status, 200);
}
