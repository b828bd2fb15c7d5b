#pragma once

#include <memory>
#include <vector>

#include "blocking/downstream.hpp"
#include "common/app/call.hpp"
#include "common/http/context.hpp"
#include "stackful/runtime/runtime.hpp"

namespace stackful {

/// The blocking handlers on fibers. Each scheduler has its own pool of downstream connections, so
/// that a request stays at home.
class Service {
  public:
    Service(runtime::Runtime& runtime, boost::asio::ip::tcp::endpoint downstream,
            std::chrono::milliseconds downstream_timeout, common::http::Context& context);

    /// Runs one call to its end on the calling fiber.
    common::app::Answer answer(const common::app::Call& call);

    runtime::Runtime& runtime() { return runtime_; }
    common::http::Context& context() { return context_; }

  private:
    runtime::Runtime& runtime_;
    common::http::Context& context_;
    std::vector<std::unique_ptr<blocking::Downstream>> downstreams_;
};

}  // namespace stackful
