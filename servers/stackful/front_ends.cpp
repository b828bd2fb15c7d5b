#include "stackful/front_ends.hpp"

namespace stackful {

using namespace common;

namespace {

constexpr const char* kNoStack = "there is no stack for another fiber";

}  // namespace

void FiberPerConnection::adopt(net::Accepted connection) {
    // Held by pointer, since a fiber's body must be copyable.
    const auto accepted = std::make_shared<net::Accepted>(std::move(connection));
    const std::size_t scheduler = next_scheduler_++ % service_.runtime().schedulers();
    const bool spawned =
        service_.runtime().spawn_on(scheduler, [this, accepted] { serve(std::move(*accepted)); });
    if (!spawned) {
        net::refuse(net::Descriptor(accepted->release()), service_.context(), kNoStack);
    }
}

void FiberPerConnection::serve(net::Accepted connection) {
    Session session(service_, std::move(connection));
    {
        const std::lock_guard lock(mutex_);
        sessions_.insert(&session);
    }
    session.run();
    const std::lock_guard lock(mutex_);
    sessions_.erase(&session);
}

void FiberPerConnection::drain() {
    const std::lock_guard lock(mutex_);
    for (Session* session : sessions_) {
        session->interrupt();
    }
}

void FiberPerConnection::abandon() {
    service_.runtime().abandon();
}

void FiberPerRequest::execute(http::Exchange exchange) {
    const auto out = std::make_shared<http::Exchange>(std::move(exchange));
    const std::size_t scheduler = next_scheduler_++ % service_.runtime().schedulers();
    const bool spawned = service_.runtime().spawn_on(scheduler, [this, out] {
        out->begin();
        out->respond(service_.answer(out->call()));
    });
    if (!spawned) {
        out->begin();
        out->respond(app::error(503, kNoStack));
    }
}

}  // namespace stackful
