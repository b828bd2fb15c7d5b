#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <thread>

#include "client/connection.hpp"

/// A downstream that does to each request what its script says, also what no HTTP server would do.
/// One thread serves it; it ends with the object.
class ScriptedDownstream {
  public:
    enum class Then { keep, close, reset };
    struct Reply {
        std::string bytes;
        Then then = Then::keep;
    };
    /// Called with the number of the connection and of the request on it, both from 0.
    using Script = std::function<Reply(int connection, int request)>;

    explicit ScriptedDownstream(Script script);
    ScriptedDownstream(const ScriptedDownstream&) = delete;
    ScriptedDownstream& operator=(const ScriptedDownstream&) = delete;
    ~ScriptedDownstream();

    client::Port port() const { return port_; }
    /// How many connections were made to it so far.
    int connections() const { return connections_; }

  private:
    struct Peer;
    void serve();
    /// False when the connection is over.
    bool answer(Peer& peer);

    Script script_;
    int listener_ = -1;
    client::Port port_ = 0;
    std::atomic<int> connections_ = 0;
    std::atomic<bool> stopping_ = false;
    std::thread thread_;
};
