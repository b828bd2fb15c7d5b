#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace client {

/// One response as it stood on the wire.
struct Response {
    int status = 0;
    std::string version;
    std::vector<std::pair<std::string, std::string>> fields;
    std::string body;

    /// The value of the one field of this name (compared without case); nothing if there is none.
    /// Throws std::runtime_error if there are several.
    std::optional<std::string> field(std::string_view name) const;
    bool says_close() const { return field("Connection") == "close"; }
};

/// Whether a response has a body at all.
enum class Body { expected, none };

/// Takes one whole response from the front of `bytes`; nothing if more bytes are needed. Strict: it
/// throws std::runtime_error on anything that is not to the letter of RFC 9112, or on a response
/// whose length is not given by exactly one Content-Length (the servers never send chunks).
std::optional<Response> take_response(std::string& bytes, Body body);

}  // namespace client
