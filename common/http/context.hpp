#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <string>

#include "common/app/cpu_work.hpp"
#include "common/limits.hpp"
#include "common/metrics/metrics.hpp"

namespace common::http {

/// How long each phase of a connection, and of a downstream call, may last.
struct Deadlines {
    std::chrono::milliseconds header = limits::kHeaderTimeout;
    std::chrono::milliseconds body = limits::kBodyTimeout;
    std::chrono::milliseconds idle = limits::kIdleTimeout;
    std::chrono::milliseconds write = limits::kWriteTimeout;
    /// A whole downstream call, connect and retry included.
    std::chrono::milliseconds downstream = limits::kDownstreamTimeout;

    /// How often the deadlines of a loop are looked at.
    std::chrono::milliseconds sweep_interval() const;
};

/// What all connections of one process share. Made before the first thread starts, outlives the
/// last; its members may be used from any thread.
struct Context {
    std::string model;
    Deadlines deadlines = {};
    app::CpuWorkSize cpu_work_size{0};
    /// The model's own lines of /metrics; may be called from any thread.
    std::function<void(std::string& text)> append_model_metrics = [](std::string&) {};
    metrics::Metrics metrics = {};
    /// Set when the server drains: answers end their connections, idle connections close.
    std::atomic<bool> draining = false;
    /// Set when the drain is over: whatever still waits is answered 503 or closed.
    std::atomic<bool> abandoned = false;
    /// Connections whose last answer has left, and which only wait for their client to close.
    std::atomic<std::size_t> lingering = 0;
};

}  // namespace common::http
