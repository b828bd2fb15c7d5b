#pragma once

#include "common/app/call.hpp"
#include "common/http/context.hpp"
#include "sync_over_async/async_client.hpp"
#include "sync_over_async/growing_pool.hpp"
#include "sync_over_async/tasks.hpp"

namespace sync_over_async {

/// What a handler may wait for.
struct Place {
    GrowingPool& pool;
    Completions& completions;
    AsyncClient& client;
    Tasks& tasks;
    common::http::Context& context;
};

/// Runs one call to its end on the calling thread of the pool, which blocks whenever it waits.
common::app::Answer handle(const common::app::Call& call, Place& place);

}  // namespace sync_over_async
