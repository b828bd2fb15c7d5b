#pragma once

#include "common/net/socket.hpp"
#include "stackless/handlers.hpp"

namespace stackless {

/// Serves one connection from its first byte to its last, as a coroutine on the place's loop.
/// `place` must outlive it.
Awaitable<> serve(common::net::Accepted accepted, Place& place);

}  // namespace stackless
