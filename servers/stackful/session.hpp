#pragma once

#include "common/http/server_connection.hpp"
#include "common/net/socket.hpp"
#include "stackful/runtime/stream.hpp"
#include "stackful/service.hpp"

namespace stackful {

/// One connection and its fiber: reads a request, runs its handler, writes the answer, line by
/// line, as a thread per connection would.
class Session {
  public:
    /// Made and run on its fiber.
    Session(Service& service, common::net::Accepted accepted);

    /// Returns when the connection has ended.
    void run();

    /// Any thread, while the session lives: lets an idle connection look once more and then close.
    void interrupt() { stream_.interrupt(); }

  private:
    // False: the connection is lost.
    bool receive();
    bool send();
    void handle();

    Service& service_;
    common::net::Accepted place_;
    runtime::Stream stream_;
    common::http::ServerConnection connection_;
};

}  // namespace stackful
