#include "client/response.hpp"

#include <gtest/gtest.h>

#include <stdexcept>

using client::Body;
using client::take_response;

TEST(TakeResponse, TakesOneAndLeavesTheRest) {
    std::string bytes =
        "HTTP/1.1 200 OK\r\nA: 1\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 404 Not Found\r\n";
    const auto response = take_response(bytes, Body::expected);
    ASSERT_TRUE(response);
    EXPECT_EQ(response->status, 200);
    EXPECT_EQ(response->field("a"), "1");
    EXPECT_EQ(response->body, "ok");
    EXPECT_EQ(bytes, "HTTP/1.1 404 Not Found\r\n");
}

TEST(TakeResponse, WaitsForTheRest) {
    const std::string whole = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";
    for (std::size_t bytes = 0; bytes < whole.size(); ++bytes) {
        std::string part = whole.substr(0, bytes);
        EXPECT_FALSE(take_response(part, Body::expected)) << part;
    }
}

TEST(TakeResponse, KnowsResponsesWithoutABody) {
    std::string bytes = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n";
    EXPECT_EQ(take_response(bytes, Body::expected)->status, 100);
    EXPECT_EQ(take_response(bytes, Body::none)->status, 200);
    EXPECT_TRUE(bytes.empty());
}

TEST(TakeResponse, RejectsWhatIsNotToTheLetter) {
    for (std::string bytes :
         {"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n", "HTTP/2 200 OK\r\nContent-Length: 0\r\n\r\n",
          "http/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 200 OK\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nContent-Length: 0\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA : b\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nA:b\r\n\r\n",
          "HTTP/1.1 200 OK\r\nContent-Length: 0\nA: b\r\n\r\n",
          "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"}) {
        SCOPED_TRACE(bytes);
        EXPECT_THROW(take_response(bytes, Body::expected), std::runtime_error);
    }
}
