#pragma once

#include <functional>
#include <future>
#include <stdexcept>
#include <thread>

#include "stackful/runtime/runtime.hpp"

namespace stackful_test {

/// A started runtime for one test.
class Running {
  public:
    explicit Running(const stackful::runtime::Options& options) : runtime_(options) {
        runtime_.start();
    }
    explicit Running(std::size_t carriers)
        : Running(stackful::runtime::Options{.carriers = carriers}) {}
    ~Running() { runtime_.stop(); }

    stackful::runtime::Runtime& operator*() { return runtime_; }
    stackful::runtime::Runtime* operator->() { return &runtime_; }

    /// Starts a fiber whose end the future tells.
    std::future<void> spawn(std::size_t scheduler, std::function<void()> body) {
        auto done = std::make_shared<std::promise<void>>();
        auto future = done->get_future();
        if (!runtime_.spawn_on(scheduler, [done, body = std::move(body)] {
                body();
                done->set_value();
            })) {
            throw std::runtime_error("no stack");
        }
        return future;
    }
    /// Runs one fiber to its end.
    void run(std::function<void()> body) { spawn(0, std::move(body)).get(); }

  private:
    stackful::runtime::Runtime runtime_;
};

}  // namespace stackful_test
