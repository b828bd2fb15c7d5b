#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <chrono>
#include <mutex>
#include <string>
#include <vector>

#include "blocking/waiting.hpp"
#include "common/app/call.hpp"

namespace blocking {

/// The downstream client: plain blocking calls over kept connections. Thread-safe; the mutex guards
/// the idle connections and is never held across a wait.
class Downstream {
  public:
    Downstream(boost::asio::ip::tcp::endpoint endpoint, std::chrono::milliseconds timeout);

    /// One GET within the timeout, connect and the one retry included.
    common::app::DownstreamResult get();

  private:
    struct Exchange {
        boost::system::error_code error;
        std::size_t received_bytes = 0;
        common::app::DownstreamResult result;
    };
    /// Sends the request and reads the answer; keeps the connection if it may be used again.
    Exchange exchange(waiting::TcpStream stream);
    waiting::TcpStream take_idle();
    void keep(waiting::TcpStream stream);

    const boost::asio::ip::tcp::endpoint endpoint_;
    const std::chrono::milliseconds timeout_;
    const std::string request_;
    std::mutex mutex_;
    std::vector<waiting::TcpStream> idle_;
};

}  // namespace blocking
