#include "client/connection.hpp"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <stdexcept>
#include <utility>

namespace client {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

[[noreturn]] void fail(const std::string& what) {
    throw std::runtime_error(what + ": " + std::strerror(errno));
}

sockaddr_in loopback(Port port) {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

int open_socket() {
    const int socket = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket < 0) {
        fail("socket");
    }
    return socket;
}

bool connects(int socket, Port port) {
    const auto address = loopback(port);
    return connect(socket, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

bool is_ready(int socket, short events, milliseconds patience) {
    pollfd ready{socket, events, 0};
    return poll(&ready, 1, static_cast<int>(patience.count())) > 0;
}

milliseconds left_until(Clock::time_point deadline) {
    const auto left = std::chrono::ceil<milliseconds>(deadline - Clock::now());
    return std::max(left, milliseconds(0));
}

/// For a message: the start of what was received.
std::string excerpt(const std::string& bytes) {
    return bytes.empty() ? "nothing" : "\"" + bytes.substr(0, 300) + "\"";
}

}  // namespace

Connection::Connection(Port port) : socket_(open_socket()) {
    if (!connects(socket_, port)) {
        const int error = errno;
        close(socket_);
        errno = error;
        fail("connect");
    }
    const int on = 1;
    setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

Connection::Connection(Connection&& other) noexcept
    : socket_(std::exchange(other.socket_, -1)), received_(std::move(other.received_)) {}

Connection::~Connection() {
    if (socket_ >= 0) {
        close(socket_);
    }
}

void Connection::send(std::string_view bytes) {
    const auto deadline = Clock::now() + kPatience;
    while (!bytes.empty()) {
        const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
        if (sent >= 0) {
            bytes.remove_prefix(static_cast<std::size_t>(sent));
        } else if (errno != EAGAIN) {
            fail("send");
        } else if (!is_ready(socket_, POLLOUT, left_until(deadline))) {
            throw std::runtime_error("the server does not read");
        }
    }
}

std::size_t Connection::send_what_fits(std::string_view bytes) {
    const auto sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    return sent > 0 ? static_cast<std::size_t>(sent) : 0;
}

Connection::Got Connection::receive_some(milliseconds patience) {
    if (!is_ready(socket_, POLLIN, patience)) {
        return Got::nothing;
    }
    char piece[16 * 1024];
    const auto bytes = recv(socket_, piece, sizeof piece, 0);
    if (bytes > 0) {
        received_.append(piece, static_cast<std::size_t>(bytes));
    }
    return bytes > 0 ? Got::bytes : bytes == 0 ? Got::end : Got::error;
}

Response Connection::receive(Body body) {
    const auto deadline = Clock::now() + kPatience;
    while (true) {
        if (auto response = take_response(received_, body)) {
            return std::move(*response);
        }
        switch (receive_some(left_until(deadline))) {
            case Got::bytes:
                break;
            case Got::end:
                throw std::runtime_error("end of stream after " + excerpt(received_));
            case Got::error:
                fail("connection lost after " + excerpt(received_));
            case Got::nothing:
                throw std::runtime_error("no answer, only " + excerpt(received_));
        }
    }
}

Response Connection::receive_final() {
    Response response = receive();
    while (response.status == 100) {
        response = receive();
    }
    return response;
}

Response Connection::exchange(std::string_view request, Body body) {
    send(request);
    return receive(body);
}

bool Connection::ends(milliseconds patience) {
    return received_.empty() && receive_some(patience) == Got::end;
}

bool Connection::is_gone(milliseconds patience) {
    const auto deadline = Clock::now() + patience;
    while (true) {
        const Got got = receive_some(left_until(deadline));
        if (got != Got::bytes) {
            return got != Got::nothing;
        }
    }
}

bool Connection::is_cut_off(milliseconds patience) {
    pollfd polled{socket_, 0, 0};  // errors and the hang-up are reported without being asked for
    return ::poll(&polled, 1, static_cast<int>(patience.count())) > 0;
}

bool Connection::is_silent_for(milliseconds duration) {
    return received_.empty() && !is_ready(socket_, POLLIN, duration);
}

void Connection::finish_sending() {
    shutdown(socket_, SHUT_WR);
}

void Connection::reset() {
    const linger at_once{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
    close(std::exchange(socket_, -1));
}

bool is_listening(Port port) {
    const int socket = open_socket();
    const bool connected = connects(socket, port);
    close(socket);
    return connected;
}

Port unused_port() {
    const int socket = open_socket();
    auto address = loopback(0);
    socklen_t bytes = sizeof address;
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), bytes) != 0 ||
        getsockname(socket, reinterpret_cast<sockaddr*>(&address), &bytes) != 0) {
        fail("bind");
    }
    close(socket);
    return ntohs(address.sin_port);
}

Response ask(Port port, std::string_view request, Body body) {
    return Connection(port).exchange(request, body);
}

Response get(Port port, std::string_view target) {
    return ask(port, get_request(target));
}

std::string get_request(std::string_view target, std::string_view fields) {
    return "GET " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n" + std::string(fields) +
           "\r\n";
}

std::string head_request(std::string_view target) {
    return "HEAD " + std::string(target) + " HTTP/1.1\r\nHost: test\r\n\r\n";
}

std::string post_request(std::string_view target, std::string_view body, std::string_view fields) {
    return "POST " + std::string(target) +
           " HTTP/1.1\r\nHost: test\r\nContent-Length: " + std::to_string(body.size()) + "\r\n" +
           std::string(fields) + "\r\n" + std::string(body);
}

}  // namespace client
