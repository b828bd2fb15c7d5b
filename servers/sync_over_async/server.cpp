#include "sync_over_async/server.hpp"

namespace sync_over_async {

using namespace common;

Server::Server(const ServerOptions& options, http::Context& context)
    : pool_(options.injection),
      completions_(pool_, options.completions, context.deadlines.sweep_interval()),
      client_(completions_, options.downstream, context.deadlines.downstream),
      tasks_(pool_),
      place_{pool_, completions_, client_, tasks_, context},
      connector_(std::make_unique<http::Connector>(context, *this, options.connector_threads)) {}

/// Whoever hands work on stops before those who take it.
Server::~Server() {
    connector_.reset();
    completions_.abandon();
    completions_.stop();
    pool_.stop();
}

void Server::execute(http::Exchange exchange) {
    // A job must be copyable, and an exchange is not.
    pool_.push([this, exchange = std::make_shared<http::Exchange>(std::move(exchange))] {
        exchange->begin();
        exchange->respond(handle(exchange->call(), place_));
    });
}

void Server::adopt(net::Accepted connection) {
    connector_->adopt(std::move(connection));
}

void Server::drain() {
    connector_->drain();
}

void Server::abandon() {
    connector_->abandon();
    completions_.abandon();
}

void Server::append_metrics(std::string& text) const {
    const GrowingPool::Numbers numbers = pool_.numbers();
    metrics::append(text, "waitbench_pool_threads", "gauge", "Threads of the pool.",
                    numbers.threads);
    metrics::append(text, "waitbench_pool_threads_goal", "gauge",
                    "How many of them may hold a job at once.", numbers.goal);
    metrics::append(text, "waitbench_pool_blocked", "gauge", "Threads that block on a future.",
                    numbers.blocked);
    metrics::append(text, "waitbench_pool_injected_total", "counter",
                    "Threads started beyond the minimum.", static_cast<double>(numbers.injected));
    metrics::append(text, "waitbench_pool_completed_total", "counter", "Jobs completed.",
                    static_cast<double>(numbers.completed));
    metrics::append(text, "waitbench_pool_queue_length", "gauge",
                    "Jobs that no worker has taken yet.",
                    static_cast<double>(numbers.ordinary_length));
    metrics::append(text, "waitbench_pool_priority_queue_length", "gauge",
                    "Completion items ahead of them (--completions priority).",
                    static_cast<double>(numbers.priority_length));
}

}  // namespace sync_over_async
