#pragma once

#include "common/app/call.hpp"
#include "stackless/downstream.hpp"
#include "stackless/loop.hpp"
#include "stackless/tasks.hpp"

namespace stackless {

/// What a handler may wait for, on the loop that runs it.
struct Place {
    Loop& loop;
    Downstream& downstream;
    Tasks& tasks;
};

/// Runs one call to its end on the loop's thread, which serves others while this one waits.
/// `place` must outlive the call.
Awaitable<common::app::Answer> handle(common::app::Call call, Place& place);

}  // namespace stackless
