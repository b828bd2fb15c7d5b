#pragma once

#include <variant>

#include "common/app/call.hpp"
#include "common/http/context.hpp"

namespace common::http {

/// An answer that needed no model, and the endpoint to count it under.
struct Immediate {
    app::Answer answer;
    app::Endpoint endpoint;
};

/// Routes a request: to a call that the model runs, or to an answer that is there already
/// (/health, /metrics, / and every refusal). Never waits.
std::variant<app::Call, Immediate> dispatch(const app::Request& request, const Context& context);

/// The phase that a call which has reached its handler counts under.
metrics::Phase phase_of(const app::Call& call);

}  // namespace common::http
