#include "scripted_downstream.hpp"

#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>
#include <vector>

namespace {

constexpr int kPollTimeoutMs = 10;  // also how late the end is noticed
constexpr timeval kSendTimeout{10, 0};

}  // namespace

struct ScriptedDownstream::Peer {
    int socket;
    int number;
    int requests = 0;
    std::string received = {};
};

ScriptedDownstream::ScriptedDownstream(Script script)
    : script_(std::move(script)), listener_(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t bytes = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), bytes) != 0 ||
        listen(listener_, 128) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
        close(listener_);
        throw std::runtime_error("the scripted downstream cannot listen");
    }
    port_ = ntohs(address.sin_port);
    thread_ = std::thread([this] { serve(); });
}

ScriptedDownstream::~ScriptedDownstream() {
    stopping_ = true;
    thread_.join();
    close(listener_);
}

void ScriptedDownstream::serve() {
    std::vector<Peer> peers;
    while (!stopping_) {
        std::vector<pollfd> polled{{listener_, POLLIN, 0}};
        for (const Peer& peer : peers) {
            polled.push_back({peer.socket, POLLIN, 0});
        }
        if (poll(polled.data(), polled.size(), kPollTimeoutMs) <= 0) {
            continue;
        }
        for (std::size_t n = polled.size() - 1; n > 0; --n) {
            if (polled[n].revents != 0 && !answer(peers[n - 1])) {
                close(peers[n - 1].socket);
                peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(n) - 1);
            }
        }
        if (polled[0].revents != 0) {
            const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
            setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &kSendTimeout, sizeof kSendTimeout);
            peers.push_back({socket, connections_++});
        }
    }
    for (const Peer& peer : peers) {
        close(peer.socket);
    }
}

bool ScriptedDownstream::answer(Peer& peer) {
    char piece[4096];
    const auto bytes = recv(peer.socket, piece, sizeof piece, 0);
    if (bytes <= 0) {
        return false;
    }
    peer.received.append(piece, static_cast<std::size_t>(bytes));
    for (auto end = peer.received.find("\r\n\r\n"); end != std::string::npos;
         end = peer.received.find("\r\n\r\n")) {
        peer.received.erase(0, end + 4);
        const Reply reply = script_(peer.number, peer.requests++);
        // All but what a server that has had enough would not take any more.
        (void)!send(peer.socket, reply.bytes.data(), reply.bytes.size(), MSG_NOSIGNAL);
        if (reply.then == Then::reset) {
            const linger at_once{1, 0};
            setsockopt(peer.socket, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
        }
        if (reply.then != Then::keep) {
            return false;
        }
    }
    return true;
}
