#include "stackless/server.hpp"

#include <spdlog/spdlog.h>

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/post.hpp>

#include "stackless/session.hpp"

namespace stackless {
namespace {

std::vector<std::unique_ptr<Loop>> make_loops(unsigned threads, common::http::Context& context) {
    std::vector<std::unique_ptr<Loop>> loops;
    for (unsigned n = 0; n < threads; ++n) {
        loops.push_back(std::make_unique<Loop>(context));
    }
    return loops;
}

/// Expected failures are values, so this is a bug or exhaustion; it costs the one connection.
void log_exception(const std::exception_ptr& exception) {
    try {
        if (exception) {
            std::rethrow_exception(exception);
        }
    } catch (const std::exception& error) {
        spdlog::error("a connection was cut off: {}", error.what());
    }
}

}  // namespace

Server::Server(unsigned threads, asio::ip::tcp::endpoint downstream, common::http::Context& context)
    : loops_(make_loops(threads, context)), tasks_(loops_) {
    for (const auto& loop : loops_) {
        downstreams_.push_back(
            std::make_unique<Downstream>(*loop, downstream, context.deadlines.downstream));
        places_.push_back({*loop, *downstreams_.back(), tasks_});
    }
    for (const auto& loop : loops_) {
        loop->start();
    }
}

Server::~Server() {
    for (const auto& loop : loops_) {
        loop->stop();
    }
}

void Server::adopt(common::net::Accepted connection) {
    Place& place = places_[next_place_++ % places_.size()];
    asio::co_spawn(place.loop.executor(), serve(std::move(connection), place), log_exception);
}

void Server::drain() {
    for (const auto& loop : loops_) {
        asio::post(loop->executor(), [&loop = *loop] { loop.sweep(); });
    }
}

void Server::abandon() {
    for (const auto& loop : loops_) {
        asio::post(loop->executor(), [&loop = *loop] { loop.abandon(); });
    }
}

}  // namespace stackless
