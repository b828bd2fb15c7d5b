#include "bench/ceiling/raw_epoll.hpp"

using namespace bench::ceiling;

/// Passes a client's request to the client's own kept downstream connection and the answer back:
/// two receives and two sends a request, and nothing is parsed.
namespace {

struct Pair;
struct End {
    int descriptor;
    Pair* pair;
};
struct Pair {
    End client;
    End downstream;
};

sockaddr_in downstream_address;

int connect_downstream() {
    const int descriptor = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(descriptor, reinterpret_cast<sockaddr*>(&downstream_address),
                sizeof downstream_address) != 0) {
        close(descriptor);
        return -1;
    }
    return descriptor;
}

/// Returns false when either side has ended.
bool relay(int epoll, End& from) {
    Pair& pair = *from.pair;
    if (pair.downstream.descriptor < 0) {  // The client's first request.
        pair.downstream.descriptor = connect_downstream();
        if (pair.downstream.descriptor < 0) {
            return false;
        }
        watch(epoll, pair.downstream.descriptor, &pair.downstream);
    }
    const End& to = &from == &pair.client ? pair.downstream : pair.client;
    std::array<char, kMessageBytes> buffer;
    const ssize_t got = recv(from.descriptor, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got <= 0) {
        return got < 0 && errno == EAGAIN;
    }
    return send(to.descriptor, buffer.data(), got, MSG_NOSIGNAL | MSG_DONTWAIT) == got;
}

void end(Pair& pair, std::vector<Pair*>& ended) {
    close(pair.client.descriptor);
    if (pair.downstream.descriptor >= 0) {
        close(pair.downstream.descriptor);
    }
    pair.client.descriptor = -1;
    ended.push_back(&pair);  // The other end's event may stand in the same batch.
}

void loop(int listener, const std::vector<int>& epolls, std::size_t index) {
    std::array<epoll_event, kEventsPerWait> events;
    std::vector<Pair*> ended;
    while (true) {
        const int count = epoll_wait(epolls[index], events.data(), kEventsPerWait, -1);
        for (int i = 0; i < count; ++i) {
            auto* from = static_cast<End*>(events[i].data.ptr);
            if (from == nullptr) {
                accept_all(listener, epolls, [](int accepted) {
                    auto* pair = new Pair{{accepted, nullptr}, {-1, nullptr}};
                    pair->client.pair = pair->downstream.pair = pair;
                    return &pair->client;
                });
            } else if (from->pair->client.descriptor >= 0 && !relay(epolls[index], *from)) {
                end(*from->pair, ended);
            }
        }
        for (Pair* pair : ended) {
            delete pair;
        }
        ended.clear();
    }
}

}  // namespace

int main(int argc, char** argv) {
    const Flags flags = parse_flags(
        argc, argv, "The ceiling of GET /wait: relays one message at a time, raw epoll", true);
    const std::size_t colon = flags.downstream.rfind(':');
    downstream_address.sin_family = AF_INET;
    if (colon == std::string::npos || inet_pton(AF_INET, flags.downstream.substr(0, colon).c_str(),
                                                &downstream_address.sin_addr) != 1) {
        std::fprintf(stderr, "--downstream: %s is not ADDRESS:PORT\n", flags.downstream.c_str());
        return 2;
    }
    downstream_address.sin_port = htons(std::atoi(flags.downstream.c_str() + colon + 1));
    run("raw_epoll_relay", flags, loop);
}
