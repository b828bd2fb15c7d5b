#pragma once

#include <exception>
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

/// The answer to a call whose handler threw, which it does for no expected failure: 503 when memory
/// has run out, else 500, for it can only be a bug. Logs the exception.
app::Answer answer_to_failure(const std::exception& error);

/// The phase that a call which has reached its handler counts under.
metrics::Phase phase_of(const app::Call& call);

}  // namespace common::http
