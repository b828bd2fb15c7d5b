#pragma once

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

/// What the raw epoll programs share: flags, a listening socket, one epoll instance per thread.
/// They parse nothing and bound nothing, because they are the machine's ceiling and not servers:
/// one receive is taken for one whole message, which holds for wrk and for the runner's client.
namespace bench::ceiling {

inline constexpr std::size_t kMessageBytes = 4096;
inline constexpr int kEventsPerWait = 512;

struct Flags {
    std::uint16_t port = 0;
    int threads = 1;
    std::string downstream;
};

/// Ends the process with status 2 when a flag is wrong. Only the relay has a downstream.
inline Flags parse_flags(int argc, char** argv, const char* about, bool has_downstream) {
    Flags flags;
    CLI::App app{about};
    app.add_option("--port", flags.port, "Port on 127.0.0.1; 0 picks one")->capture_default_str();
    app.add_option("--threads", flags.threads, "Threads, each with its own epoll instance")
        ->check(CLI::Range(1, 256))
        ->capture_default_str();
    if (has_downstream) {
        app.add_option("--downstream", flags.downstream, "HOST:PORT, an IPv4 address")->required();
    }
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        std::exit(app.exit(error) == 0 ? 0 : 2);
    }
    return flags;
}

[[noreturn]] inline void fail(const char* what) {
    std::perror(what);
    std::exit(1);
}

/// Listens on 127.0.0.1, with SIGTERM and SIGINT ending the process with status 0.
inline int listen_on(std::uint16_t port) {
    const auto leave = [](int) { _exit(0); };
    std::signal(SIGTERM, leave);
    std::signal(SIGINT, leave);
    const int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(port);
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address) != 0) {
        fail("bind");
    }
    if (listen(listener, 1 << 16) != 0) {  // The kernel lowers it to its own limit.
        fail("listen");
    }
    return listener;
}

inline void announce(const char* name, int listener) {
    sockaddr_in address{};
    socklen_t size = sizeof address;
    getsockname(listener, reinterpret_cast<sockaddr*>(&address), &size);
    std::printf("%s listening on 127.0.0.1:%d\n", name, ntohs(address.sin_port));
    std::fflush(stdout);
}

/// Registers a socket once and edge-triggered, so that a request costs no epoll_ctl.
inline void watch(int epoll, int descriptor, void* data) {
    epoll_event event{EPOLLIN | EPOLLET, {.ptr = data}};
    epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event);
}

/// Accepts all that wait and deals them round-robin; `adopt(descriptor)` makes what is watched.
/// Registering is the acceptor's last touch: from then on the connection is its loop's own.
template <class Adopt>
void accept_all(int listener, const std::vector<int>& epolls, Adopt adopt) {
    static std::size_t next = 0;
    int descriptor;
    while ((descriptor = accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        const int on = 1;
        setsockopt(descriptor, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        watch(epolls[next++ % epolls.size()], descriptor, adopt(descriptor));
    }
}

/// Runs `loop(epolls, index)` on every thread; the listener belongs to the first, with data null.
template <class Loop>
void run(const char* name, const Flags& flags, Loop loop) {
    const int listener = listen_on(flags.port);
    std::vector<int> epolls;
    for (int i = 0; i < flags.threads; ++i) {
        epolls.push_back(epoll_create1(EPOLL_CLOEXEC));
    }
    watch(epolls[0], listener, nullptr);
    std::vector<std::jthread> threads;
    for (std::size_t i = 1; i < epolls.size(); ++i) {
        threads.emplace_back([&, i] { loop(listener, epolls, i); });
    }
    announce(name, listener);
    loop(listener, epolls, std::size_t{0});
}

}  // namespace bench::ceiling
