#pragma once

#include "blocking/downstream.hpp"
#include "common/app/call.hpp"
#include "common/http/context.hpp"

namespace blocking {

/// Runs one call to its end on the calling thread or fiber, and waits however that waits.
common::app::Answer handle(const common::app::Call& call, Downstream& downstream,
                           common::http::Context& context);

}  // namespace blocking
