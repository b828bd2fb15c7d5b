#pragma once

#include <mutex>
#include <unordered_set>

#include "common/http/connector.hpp"
#include "common/net/control.hpp"
#include "stackful/service.hpp"
#include "stackful/session.hpp"

namespace stackful {

/// One fiber per connection, as Helidon and Go have it.
class FiberPerConnection final : public common::net::FrontEnd {
  public:
    explicit FiberPerConnection(Service& service) : service_(service) {}

    void adopt(common::net::Accepted connection) override;
    void drain() override;
    void abandon() override;

  private:
    void serve(common::net::Accepted connection);

    Service& service_;
    std::size_t next_scheduler_ = 0;
    std::mutex mutex_;
    std::unordered_set<Session*> sessions_;
};

/// One fiber per request, behind the connector, as Tomcat on virtual threads has it.
class FiberPerRequest final : public common::http::Executor {
  public:
    explicit FiberPerRequest(Service& service) : service_(service) {}

    void execute(common::http::Exchange exchange) override;

  private:
    Service& service_;
    std::atomic<std::size_t> next_scheduler_ = 0;
};

}  // namespace stackful
