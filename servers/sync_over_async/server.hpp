#pragma once

#include "common/http/connector.hpp"
#include "common/net/control.hpp"
#include "sync_over_async/handlers.hpp"

namespace sync_over_async {

struct ServerOptions {
    InjectionSettings injection;
    GrowingPool::Lane completions = GrowingPool::Lane::ordinary;
    unsigned connector_threads = 1;
    asio::ip::tcp::endpoint downstream;
};

/// The connector in front, the pool behind it, and the asynchronous client whose completions run on
/// that pool.
class Server final : public common::net::FrontEnd, public common::http::Executor {
  public:
    /// Starts all threads. `context` must outlive the server.
    Server(const ServerOptions& options, common::http::Context& context);
    /// Stops and joins them; connections still open are cut off.
    ~Server() override;

    void execute(common::http::Exchange exchange) override;
    void adopt(common::net::Accepted connection) override;
    void drain() override;
    /// Ends every blocked wait too.
    void abandon() override;

    /// The model's own lines of /metrics.
    void append_metrics(std::string& text) const;

  private:
    GrowingPool pool_;
    Completions completions_;
    AsyncClient client_;
    Tasks tasks_;
    Place place_;
    std::unique_ptr<common::http::Connector> connector_;
};

}  // namespace sync_over_async
