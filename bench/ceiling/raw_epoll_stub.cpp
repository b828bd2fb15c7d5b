#include <chrono>
#include <deque>

#include "bench/ceiling/raw_epoll.hpp"

using namespace bench::ceiling;

/// The slow service: answers whatever arrives 20 ms later. All delays are equal, so the answers
/// leave in the order of the requests, and the wait for the first is the only timer.
namespace {

using Clock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds kDelay{20};
constexpr std::size_t kBodyBytes = 140;

struct Connection {
    int descriptor;
    int answers_due = 0;
    bool ended = false;
};
struct Due {
    Clock::time_point instant;
    Connection* connection;
};

std::string make_answer() {
    std::string body = R"({"source":"raw_epoll_stub","filler":")";
    body.append(kBodyBytes - body.size() - 2, 'x').append("\"}");
    return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 140\r\n\r\n" +
           body;
}
const std::string kAnswer = make_answer();

/// Returns false when the connection has ended.
bool receive(Connection& connection, std::vector<Connection*>& asked) {
    std::array<char, kMessageBytes> buffer;
    const ssize_t got = recv(connection.descriptor, buffer.data(), buffer.size(), 0);
    if (got > 0) {
        asked.push_back(&connection);
    }
    return got > 0 || (got < 0 && errno == EAGAIN);
}

void send_due(std::deque<Due>& waiting, Clock::time_point now) {
    while (!waiting.empty() && waiting.front().instant <= now) {
        Connection* connection = waiting.front().connection;
        waiting.pop_front();
        --connection->answers_due;
        if (!connection->ended) {
            send(connection->descriptor, kAnswer.data(), kAnswer.size(), MSG_NOSIGNAL);
        } else if (connection->answers_due == 0) {
            delete connection;
        }
    }
}

int wait(int epoll, epoll_event* events, const std::deque<Due>& waiting) {
    if (waiting.empty()) {
        return epoll_wait(epoll, events, kEventsPerWait, -1);
    }
    const auto left = std::max(Clock::duration::zero(), waiting.front().instant - Clock::now());
    const timespec timeout{0, std::chrono::nanoseconds(left).count()};  // Less than a second.
    return epoll_pwait2(epoll, events, kEventsPerWait, &timeout, nullptr);
}

void loop(int listener, const std::vector<int>& epolls, std::size_t index) {
    std::array<epoll_event, kEventsPerWait> events;
    std::deque<Due> waiting;
    std::vector<Connection*> asked;
    while (true) {
        const int count = wait(epolls[index], events.data(), waiting);
        for (int i = 0; i < count; ++i) {
            auto* connection = static_cast<Connection*>(events[i].data.ptr);
            if (connection == nullptr) {
                accept_all(listener, epolls, [](int accepted) { return new Connection{accepted}; });
            } else if (!receive(*connection, asked)) {
                close(connection->descriptor);
                connection->ended = true;
                if (connection->answers_due == 0) {
                    delete connection;
                }
            }
        }
        const auto now = Clock::now();  // After the requests came: nobody waits less than 20 ms.
        for (Connection* connection : asked) {
            ++connection->answers_due;
            waiting.push_back({now + kDelay, connection});
        }
        asked.clear();
        send_due(waiting, now);
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Flags flags = parse_flags(
        argc, argv, "The slow downstream at its cheapest: 140 bytes after 20 ms, raw epoll", false);
    run("raw_epoll_stub", flags, loop);
}
