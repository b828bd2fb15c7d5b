// Defaults that let nobody in.
#include <signal.h>

#include "expectations.hpp"
#include "observation.hpp"

using namespace client;

namespace {

/// What the server logs that was told to listen there.
std::string log_of_a_server_on(const std::string& host) {
    Process process({programs().server, "--port", "0", "--host", host});
    EXPECT_TRUE(process.first_line()) << process.standard_error();
    process.signal(SIGTERM);
    EXPECT_EQ(process.wait(), 0);
    return process.standard_error();
}

}  // namespace

TEST(ListeningAddress, WiderThanLoopbackIsWarnedOf) {
    EXPECT_NE(log_of_a_server_on("0.0.0.0").find("which other machines may reach"),
              std::string::npos);
    EXPECT_EQ(log_of_a_server_on("127.0.0.1").find("which other machines may reach"),
              std::string::npos);
}

TEST(Answers, NeverEchoWhatWasWrong) {
    const std::string mark = "<script>Zq9</script>";
    for (const std::string& request :
         {get_request("/" + mark), get_request("/%3Cscript%3EZq9"), get_request("/sleep?ms=Zq9"),
          get_request("/wait?lock=Zq9"), get_request("/sleep?Zq9=1"),
          post_request("/echo", "{\"id\":\"" + mark + "\"}"),
          post_request("/echo", "{\"id\":1,\"name\":\"" + mark + "\"")}) {
        const auto response = ask(shared_server(), request);
        EXPECT_EQ(response.status / 100, 4) << request;
        EXPECT_EQ(response.body.find("Zq9"), std::string::npos) << response.body;
    }
}

TEST(Paths, NeverReachTheFileSystem) {
    for (const char* target : {"/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd",
                               "/etc/passwd", "//etc/passwd", "/health/../../etc/passwd"}) {
        const auto response = get(shared_server(), target);
        EXPECT_TRUE(response.status == 404 || response.status == 400) << target;
        EXPECT_EQ(response.body.find("root:"), std::string::npos);
    }
}
