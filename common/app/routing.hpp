#pragma once

#include <variant>

#include "common/app/call.hpp"

namespace common::app {

/// Where a request leads: to a call that a model runs, to an endpoint that is answered at once, or
/// to an error answer that says what is wrong with the request.
using Route = std::variant<Call, Health, Metrics, Index, Answer>;

/// Decides from method, target and body alone (design section 5). Thread-safe; never waits.
Route route(const Request& request);

}  // namespace common::app
