#include <map>
#include <regex>
#include <sstream>
#include <thread>

#include "expectations.hpp"

using namespace client;
using namespace std::chrono_literals;

namespace {

/// Every sample of a Prometheus text by its name with labels. Fails the test on a line that is
/// none, and on a sample whose family was not declared.
std::map<std::string, double> samples_of(const std::string& text) {
    static const std::regex kSample(
        R"(([a-z_]+)(\{[a-z]+="[^"\\]*"(?:,[a-z]+="[^"\\]*")*\})? (\S+))");
    static const std::regex kType(R"(# TYPE ([a-z_]+) (counter|gauge|histogram))");
    std::map<std::string, std::string> types;
    std::map<std::string, double> samples;
    EXPECT_TRUE(text.ends_with('\n'));
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        std::smatch match;
        if (std::regex_match(line, match, kType)) {
            EXPECT_TRUE(types.emplace(match[1], match[2]).second) << "declared twice: " << line;
        } else if (std::regex_match(line, match, kSample)) {
            const std::string name = match[1];
            const std::string family =
                std::regex_replace(name, std::regex("_(bucket|sum|count)$"), "");
            EXPECT_TRUE(types.contains(name) ||
                        (types.contains(family) && types[family] == "histogram"))
                << "not declared: " << line;
            EXPECT_TRUE(name.starts_with("waitbench_")) << line;
            EXPECT_TRUE(samples.emplace(name + match[2].str(), std::stod(match[3])).second) << line;
        } else {
            EXPECT_TRUE(line.starts_with("# HELP ")) << line;
        }
    }
    return samples;
}

std::map<std::string, double> metrics_of(Port port) {
    const auto response = get(port, "/metrics");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Type"), "text/plain; version=0.0.4");
    return samples_of(response.body);
}

std::string requests(const std::string& endpoint, int status) {
    return "waitbench_requests_total{endpoint=\"" + endpoint + "\",status=\"" +
           std::to_string(status) + "\"}";
}

std::string in_flight(const std::string& phase) {
    return "waitbench_in_flight{phase=\"" + phase + "\"}";
}

constexpr const char* kGetTargets[] = {"/wait",
                                       "/cpu?iterations=5",
                                       "/sleep?ms=1",
                                       "/block?ms=1",
                                       "/tasks?count=3&sleep_ms=1",
                                       "/health",
                                       "/metrics",
                                       "/"};

}  // namespace

TEST(Health, NamesTheModel) {
    expect_json(get(shared_server(), "/health"),
                R"({"status":"ok","model":")" + programs().model() + "\"}");
}

TEST(Index, ListsTheEndpoints) {
    const auto response = get(shared_server(), "/");
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Type"), "text/plain");
    for (const char* path :
         {"/wait", "/echo", "/cpu", "/sleep", "/block", "/tasks", "/health", "/metrics"}) {
        EXPECT_NE(response.body.find(path), std::string::npos) << path;
    }
}

TEST(Metrics, CountsRequestsByEndpointAndStatus) {
    Server server(shared_stub());
    Connection connection(server.port());
    for (int i = 0; i < 3; ++i) {
        EXPECT_EQ(connection.exchange(get_request("/sleep?ms=1")).status, 200);
    }
    EXPECT_EQ(connection.exchange(get_request("/wait")).status, 200);
    EXPECT_EQ(connection.exchange(post_request("/echo", R"({"id":1,"name":"a"})")).status, 200);
    EXPECT_EQ(connection.exchange(get_request("/nowhere")).status, 404);
    EXPECT_EQ(connection.exchange(get_request("/health")).status, 200);
    auto samples = metrics_of(server.port());
    EXPECT_EQ(samples[requests("sleep", 200)], 3);
    EXPECT_EQ(samples[requests("wait", 200)], 1);
    EXPECT_EQ(samples[requests("echo", 200)], 1);
    EXPECT_EQ(samples[requests("other", 404)], 1);
    EXPECT_EQ(samples[requests("health", 200)], 1);
    const std::string histogram = "waitbench_request_duration_seconds";
    EXPECT_EQ(samples[histogram + "_count{endpoint=\"sleep\"}"], 3);
    EXPECT_EQ(samples[histogram + "_bucket{endpoint=\"sleep\",le=\"+Inf\"}"], 3);
    EXPECT_EQ(samples[histogram + "_bucket{endpoint=\"wait\",le=\"0.01\"}"], 0);
    EXPECT_GE(samples[histogram + "_sum{endpoint=\"wait\"}"], 0.020);
}

TEST(Metrics, ShowsThreadsAndRequestsInFlight) {
    Server server(shared_stub());
    Connection connection(server.port());
    connection.send(get_request("/sleep?ms=1500"));
    std::this_thread::sleep_for(300ms);
    auto during = metrics_of(server.port());
    EXPECT_GE(during["waitbench_threads"], 2);
    EXPECT_EQ(during[in_flight("queued")], 0);
    EXPECT_EQ(during[in_flight("running")], 0);
    EXPECT_EQ(during[in_flight("waiting")], 1);
    expect_ok(connection.receive());
    EXPECT_EQ(metrics_of(server.port())[in_flight("waiting")], 0);
}

TEST(Pages, AreAnsweredWhileThePoolIsStarved) {
    const std::string model = programs().model();
    if (model != "thread_pool" && model != "sync_over_async") {
        GTEST_SKIP() << "no pool behind a connector";
    }
    const bool fixed = model == "thread_pool";
    Server server(shared_stub(), fixed ? Flags{"--threads", "1"}
                                       : Flags{"--min-threads", "1", "--injection", "none"});
    Connection running(server.port());
    Connection queued(server.port());
    running.send(get_request("/block?ms=3000"));
    std::this_thread::sleep_for(300ms);
    queued.send(get_request("/block?ms=10"));
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(get(server.port(), "/health").status, 200);
    EXPECT_EQ(get(server.port(), "/").status, 200);
    auto samples = metrics_of(server.port());
    EXPECT_TRUE(running.is_silent_for(0ms) && queued.is_silent_for(0ms));
    EXPECT_EQ(samples[in_flight("queued")], 1);
    EXPECT_EQ(samples[in_flight("waiting")], 1);
    expect_ok(running.receive());
    expect_ok(queued.receive());
}

TEST(Head, AnswersEveryGetWithoutItsBody) {
    Connection connection(shared_server());
    for (const char* target : kGetTargets) {
        SCOPED_TRACE(target);
        const auto full = connection.exchange(get_request(target));
        const auto head = connection.exchange(head_request(target), Body::none);
        EXPECT_EQ(head.status, 200);
        EXPECT_EQ(head.field("Content-Type"), full.field("Content-Type"));
        EXPECT_TRUE(head.body.empty());
        const std::string_view path = target;
        if (path != "/metrics" && !path.starts_with("/tasks")) {  // their lengths vary
            EXPECT_EQ(head.field("Content-Length"), full.field("Content-Length"));
        }
        expect_kept(connection, head);
    }
}

TEST(Head, GetsErrorsWithoutTheirBodies) {
    Connection connection(shared_server());
    EXPECT_EQ(connection.exchange(head_request("/nowhere"), Body::none).status, 404);
    EXPECT_EQ(connection.exchange(head_request("/sleep"), Body::none).status, 400);
    const auto response = connection.exchange(head_request("/echo"), Body::none);
    EXPECT_EQ(response.status, 405);
    EXPECT_EQ(response.field("Allow"), "POST");
    expect_kept(connection, response);
}

TEST(Path, UnknownOnesAre404) {
    Connection connection(shared_server());
    for (const char* path : {"/nowhere", "/wait/", "//wait", "/Wait", "/waits", "/wait/x", "/.."}) {
        SCOPED_TRACE(path);
        const auto response = connection.exchange(get_request(path));
        expect_error(response, 404);
        expect_kept(connection, response);
    }
    const auto response = connection.exchange(post_request("/nowhere", "some body"));
    expect_error(response, 404);
    expect_kept(connection, response);
}

TEST(Method, WrongOnesAre405WithAllow) {
    Connection connection(shared_server());
    for (const std::string target : kGetTargets) {
        for (const std::string method : {"POST", "PUT", "DELETE", "OPTIONS", "PATCH", "BREW"}) {
            SCOPED_TRACE(method + " " + target);
            const auto response = connection.exchange(
                method + " " + target + " HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nhi");
            expect_error(response, 405);
            EXPECT_EQ(response.field("Allow"), "GET, HEAD");
            expect_kept(connection, response);
        }
    }
    for (const std::string method : {"GET", "PUT", "DELETE"}) {
        const auto response = connection.exchange(method + " /echo HTTP/1.1\r\nHost: t\r\n\r\n");
        expect_error(response, 405);
        EXPECT_EQ(response.field("Allow"), "POST");
        expect_kept(connection, response);
    }
}
