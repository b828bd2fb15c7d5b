#pragma once

#include <string>
#include <string_view>
#include <variant>

#include "common/app/call.hpp"

namespace common::app {

/// Reads `{"id": integer, "name": string}` (other members are ignored, of a repeated member the
/// last counts), or says in one sentence what is wrong: the JSON itself, or which member. The two
/// members that come with the path (`sleep`, `block`) are left empty.
std::variant<Echo, std::string> parse_echo(std::string_view json);

}  // namespace common::app
