#pragma once

#include <memory>
#include <vector>

#include "common/net/control.hpp"
#include "stackless/handlers.hpp"

namespace stackless {

/// The loops and the connections dealt round-robin over them. A connection, its downstream calls
/// and its sleeps stay on one loop; only tasks are dealt over all of them.
class Server final : public common::net::FrontEnd {
  public:
    /// Starts `threads` loops. `context` must outlive the server.
    Server(unsigned threads, asio::ip::tcp::endpoint downstream, common::http::Context& context);
    /// Stops and joins the loops; connections still open are cut off.
    ~Server() override;

    void adopt(common::net::Accepted connection) override;
    void drain() override;
    void abandon() override;

  private:
    std::vector<std::unique_ptr<Loop>> loops_;
    Tasks tasks_;
    std::vector<std::unique_ptr<Downstream>> downstreams_;
    std::vector<Place> places_;
    std::size_t next_place_ = 0;
};

}  // namespace stackless
