#pragma once

#include <memory>
#include <string>
#include <vector>

#include "common/app/call.hpp"
#include "stackless/loop.hpp"

namespace stackless {

/// The downstream client of one loop: its kept connections stay on it, so nothing is locked. Used
/// by the loop's thread alone.
class Downstream {
  public:
    Downstream(Loop& loop, asio::ip::tcp::endpoint endpoint, std::chrono::milliseconds timeout);
    ~Downstream();

    /// One GET within the timeout, connect and the one retry included.
    Awaitable<common::app::DownstreamResult> get();

  private:
    struct Exchange {
        error_code error;
        std::size_t received_bytes = 0;
        common::app::DownstreamResult result;
    };
    struct Connection;
    class Call;
    Awaitable<error_code> connect(Call& call);
    Awaitable<error_code> send(Socket& socket);
    /// Sends the request and reads the answer; keeps the connection if it may be used again.
    Awaitable<Exchange> exchange(Call& call);
    std::unique_ptr<Connection> take_idle();
    void keep(std::unique_ptr<Connection> connection);

    Loop& loop_;
    const asio::ip::tcp::endpoint endpoint_;
    const std::chrono::milliseconds timeout_;
    const std::string request_;
    std::vector<std::unique_ptr<Connection>> idle_;
};

}  // namespace stackless
