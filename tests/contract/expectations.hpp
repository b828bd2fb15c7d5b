#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "client/connection.hpp"
#include "client/programs.hpp"

/// An error answer: its status, and `{"error": "…"}` that mentions what is wrong.
inline void expect_error(const client::Response& response, int status,
                         std::string_view mention = {}) {
    EXPECT_EQ(response.status, status) << response.body;
    EXPECT_EQ(response.field("Content-Type"), "application/json");
    const auto json = nlohmann::json::parse(response.body, nullptr, false);
    ASSERT_TRUE(json.is_object() && json.size() == 1 && json.contains("error") &&
                json["error"].is_string())
        << response.body;
    const auto text = json["error"].get<std::string>();
    EXPECT_FALSE(text.empty());
    EXPECT_NE(text.find(mention), std::string::npos) << text << " does not mention " << mention;
}

inline void expect_json(const client::Response& response, std::string_view body) {
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Type"), "application/json");
    EXPECT_EQ(response.body, body);
}

inline void expect_ok(const client::Response& response) {
    EXPECT_EQ(response.status, 200);
    EXPECT_EQ(response.field("Content-Type"), "text/plain");
    EXPECT_EQ(response.body, "ok");
}

/// Neither the response nor the server has ended the connection: it serves another request.
inline void expect_kept(client::Connection& connection, const client::Response& response) {
    EXPECT_FALSE(response.says_close());
    EXPECT_EQ(connection.exchange(client::get_request("/health")).status, 200);
}

/// The response announces the end of the connection, and the end comes, not a reset.
inline void expect_closed(client::Connection& connection, const client::Response& response) {
    EXPECT_TRUE(response.says_close());
    EXPECT_TRUE(connection.ends());
}
