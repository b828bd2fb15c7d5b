#pragma once

#include <atomic>
#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <string>

#include "common/http/context.hpp"
#include "common/net/socket.hpp"
#include "common/rare_warning.hpp"

namespace common::net {

/// A model's connections, as the control thread sees them. All calls come from the control thread.
class FrontEnd {
  public:
    virtual ~FrontEnd() = default;
    /// Takes over an accepted socket (non-blocking, TCP_NODELAY set), round-robin over its loops.
    virtual void adopt(Accepted connection) = 0;
    /// `Context::draining` has just been set: wake idle connections for their last read.
    virtual void drain() = 0;
    /// The drain is over: answer 503 to what still waits, where that can be done.
    virtual void abandon() = 0;
};

/// Why a connection is refused that the kernel will not watch (memory, or max_user_watches).
inline constexpr const char* kNotWatched = "the server cannot watch another connection";

/// Answers 503 to a connection that cannot be served, logs that at most once a second, and closes
/// it. Does not wait. Any thread.
void refuse(Descriptor connection, http::Context& context, const char* why);

struct ControlOptions {
    std::string program;  ///< for the line on standard output
    boost::asio::ip::tcp::endpoint endpoint;
    std::size_t max_connections = 0;
    std::chrono::milliseconds drain_timeout{};
};

/// The control thread's work: one acceptor, the signals, draining, and calibrating /cpu.
class Control {
  public:
    /// Blocks SIGTERM and SIGINT (so it must exist before the first thread), listens. Throws
    /// `std::system_error` when the address cannot be had.
    Control(ControlOptions options, http::Context& context);

    /// Prints the line that says where it listens, then accepts until a signal comes, then drains.
    /// Returns the exit status 0 once every connection has ended. When the drain runs out, or at a
    /// second signal, the process ends here with status 1: threads may be blocked for good.
    int run(FrontEnd& front_end);

  private:
    void accept_waiting(FrontEnd& front_end);
    bool accept_one(FrontEnd& front_end);
    int drain(FrontEnd& front_end);
    bool wait_until_closed(std::chrono::steady_clock::time_point end);
    [[noreturn]] void leave(const char* why);
    void take_signal();
    void calibrate_if_asked();

    ControlOptions options_;
    http::Context& context_;
    Descriptor listener_;
    Descriptor signals_;
    Descriptor wake_;
    std::atomic<std::size_t> open_connections_ = 0;
    RareWarning exhausted_;
    bool signalled_ = false;
    bool out_of_descriptors_ = false;
};

}  // namespace common::net
