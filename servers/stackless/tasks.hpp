#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "stackless/loop.hpp"

namespace stackless {

class TaskRunner;

/// Starts tasks as coroutines, dealt over all loops. At most `limits::kTasksInFlight` run at once;
/// the rest start as others end.
class Tasks {
  public:
    using Task = std::function<Awaitable<>(Loop&)>;

    explicit Tasks(const std::vector<std::unique_ptr<Loop>>& loops);
    ~Tasks();

    /// Runs `task` `count` times and returns when all have ended. `home` is the caller's loop.
    Awaitable<> run_all(Loop& home, std::size_t count, Task task);

  private:
    std::vector<std::unique_ptr<TaskRunner>> runners_;
};

}  // namespace stackless
