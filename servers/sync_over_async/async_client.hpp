#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/app/call.hpp"
#include "sync_over_async/completions.hpp"

namespace sync_over_async {

using Socket = asio::basic_stream_socket<asio::ip::tcp, asio::io_context::executor_type>;

/// The downstream client as an asynchronous library offers it. There is nothing wrong with it.
/// Thread-safe; the mutex guards the idle connections and is never held across a wait.
class AsyncClient {
  public:
    AsyncClient(Completions& completions, asio::ip::tcp::endpoint endpoint,
                std::chrono::milliseconds timeout);
    ~AsyncClient();

    /// Starts one GET on the calling thread, as far as it goes without waiting. The result comes
    /// within the timeout, connect and the one retry included, plus what the pool needs to get to
    /// it.
    std::future<common::app::DownstreamResult> get();

  private:
    class Call;
    std::unique_ptr<Socket> take_idle();
    void keep(std::unique_ptr<Socket> socket);

    Completions& completions_;
    const asio::ip::tcp::endpoint endpoint_;
    const std::chrono::milliseconds timeout_;
    const std::string request_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Socket>> idle_;
};

}  // namespace sync_over_async
