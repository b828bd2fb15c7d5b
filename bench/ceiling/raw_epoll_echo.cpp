#include <string_view>

#include "bench/ceiling/raw_epoll.hpp"

using namespace bench::ceiling;

/// Answers whatever arrives with a constant: one receive and one send a request.
namespace {

constexpr std::string_view kAnswer =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 27\r\n\r\n"
    "{\"id\":42,\"name\":\"meridian\"}";

struct Connection {
    int descriptor;
};

/// Returns false when the connection has ended.
bool answer(Connection& connection) {
    std::array<char, kMessageBytes> buffer;
    const ssize_t got = recv(connection.descriptor, buffer.data(), buffer.size(), 0);
    if (got <= 0) {
        return got < 0 && errno == EAGAIN;
    }
    return send(connection.descriptor, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL) > 0;
}

void loop(int listener, const std::vector<int>& epolls, std::size_t index) {
    std::array<epoll_event, kEventsPerWait> events;
    while (true) {
        const int count = epoll_wait(epolls[index], events.data(), kEventsPerWait, -1);
        for (int i = 0; i < count; ++i) {
            auto* connection = static_cast<Connection*>(events[i].data.ptr);
            if (connection == nullptr) {
                accept_all(listener, epolls, [](int accepted) { return new Connection{accepted}; });
            } else if (!answer(*connection)) {
                close(connection->descriptor);
                delete connection;
            }
        }
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Flags flags =
        parse_flags(argc, argv, "The ceiling of POST /echo: a constant answer, raw epoll", false);
    run("raw_epoll_echo", flags, loop);
}
