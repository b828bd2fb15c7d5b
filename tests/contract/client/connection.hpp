#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <string_view>

#include "client/process.hpp"
#include "client/response.hpp"

namespace client {

using Port = std::uint16_t;

/// One TCP connection to 127.0.0.1, raw bytes out, strictly parsed responses in. Blocking, bounded
/// by kPatience. Everything that should not happen throws std::runtime_error, which fails a test.
class Connection {
  public:
    explicit Connection(Port port);
    Connection(Connection&& other) noexcept;
    Connection& operator=(Connection&&) = delete;
    ~Connection();

    void send(std::string_view bytes);
    /// Sends as much as fits without waiting; says how much that was, 0 also on an error.
    std::size_t send_what_fits(std::string_view bytes);
    /// The next response.
    Response receive(Body body = Body::expected);
    /// The next response that is not 100 Continue.
    Response receive_final();
    Response exchange(std::string_view request, Body body = Body::expected);
    /// Whether the server ends the stream properly, with no byte before the end.
    bool ends(std::chrono::milliseconds patience = kPatience);
    /// Whether the server ends the connection in any way; bytes before that are dropped.
    bool is_gone(std::chrono::milliseconds patience = kPatience);
    /// The same without reading: whether the server resets the connection, or both sides closed it.
    bool is_cut_off(std::chrono::milliseconds patience);
    /// Whether nothing comes for that long.
    bool is_silent_for(std::chrono::milliseconds duration);
    /// Ends the sending side; the receiving side stays open.
    void finish_sending();
    /// Closes so that the server sees a reset.
    void reset();

  private:
    enum class Got { bytes, end, error, nothing };
    Got receive_some(std::chrono::milliseconds patience);

    int socket_ = -1;
    std::string received_;
};

/// Whether somebody listens there.
bool is_listening(Port port);
/// A port on which nobody listens just now.
Port unused_port();

/// One request on a connection of its own, which is then closed.
Response ask(Port port, std::string_view request, Body body = Body::expected);
/// `GET target` on a connection of its own.
Response get(Port port, std::string_view target);

/// The bytes of ordinary requests. `fields` are whole lines with their ends.
std::string get_request(std::string_view target, std::string_view fields = {});
std::string head_request(std::string_view target);
std::string post_request(std::string_view target, std::string_view body,
                         std::string_view fields = {});

}  // namespace client
