#pragma once

#include <string>

#include "common/app/call.hpp"

namespace common::http {

/// How an answer leaves: whether the connection goes on, and for which kind of request.
struct Framing {
    bool keep_alive = true;
    bool http_1_0 = false;  ///< An HTTP/1.0 client must be told that the connection is kept.
    bool head_only = false;
};

/// Appends the whole response, head and body in one piece so that one send takes it. The field
/// values are ours, so none needs checking. Thread-safe.
void append_response(std::string& out, const app::Answer& answer, const Framing& framing);

}  // namespace common::http
