#include "common/net/control.hpp"

#include <netinet/tcp.h>
#include <poll.h>
#include <spdlog/spdlog.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <system_error>

#include "common/app/call.hpp"
#include "common/http/response_head.hpp"

namespace common::net {
namespace {

using namespace std::chrono_literals;
using Clock = std::chrono::steady_clock;

constexpr int kBacklog = 65'535;  // the kernel lowers it to net.core.somaxconn
constexpr int kAcceptsPerTurn = 64;
constexpr auto kDrainPoll = 10ms;
/// How long accepting rests when descriptors have run out: long enough not to spin.
constexpr auto kExhaustedPause = 100ms;
/// What an abandoned request's 503 has to leave the process.
constexpr auto kAbandonGrace = 1s;

[[noreturn]] void fail(const std::string& what) {
    throw std::system_error(errno, std::generic_category(), what);
}

Descriptor listen_on(const boost::asio::ip::tcp::endpoint& endpoint) {
    Descriptor listener(
        ::socket(endpoint.protocol().family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
    const int on = 1;
    if (listener.get() < 0 ||
        ::setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        ::bind(listener.get(), endpoint.data(), static_cast<socklen_t>(endpoint.size())) != 0 ||
        ::listen(listener.get(), kBacklog) != 0) {
        fail("cannot listen on port " + std::to_string(endpoint.port()));
    }
    return listener;
}

Descriptor block_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    ::pthread_sigmask(SIG_BLOCK, &set, nullptr);
    std::signal(SIGPIPE, SIG_IGN);
    return Descriptor(::signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK));
}

boost::asio::ip::tcp::endpoint bound_endpoint(int listener) {
    boost::asio::ip::tcp::endpoint endpoint;
    socklen_t bytes = static_cast<socklen_t>(endpoint.capacity());
    ::getsockname(listener, endpoint.data(), &bytes);
    endpoint.resize(bytes);
    return endpoint;
}

}  // namespace

/// One answer into the empty send buffer; of what the client has sent, what is there is discarded.
/// It does not linger: the answer may be lost if the client goes on sending, but this is the thread
/// that accepts, and a refusal must cost it nothing.
void refuse(Descriptor connection, http::Context& context, const char* why) {
    static RareWarning warning;
    warning(std::string("refusing connections: ") + why);
    const app::Answer answer = app::error(503, why);
    context.metrics.count(app::Endpoint::other, answer.status, {});
    std::string text;
    http::append_response(text, answer, {.keep_alive = false});
    (void)!::send(connection.get(), text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    ::shutdown(connection.get(), SHUT_WR);
    std::array<char, limits::kReceiveBytes> discarded;
    constexpr std::size_t kReads = limits::kLingerBytes / limits::kReceiveBytes;
    for (std::size_t n = 0; n < kReads; ++n) {
        if (::recv(connection.get(), discarded.data(), discarded.size(), MSG_DONTWAIT) <= 0) {
            break;
        }
    }
}

Control::Control(ControlOptions options, http::Context& context)
    : options_(std::move(options)),
      context_(context),
      listener_(listen_on(options_.endpoint)),
      signals_(block_signals()),
      wake_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (signals_.get() < 0 || wake_.get() < 0) {
        fail("cannot make the control thread's descriptors");
    }
    context_.cpu_work_size.on_first_use([wake = wake_.get()] { ::eventfd_write(wake, 1); });
}

int Control::run(FrontEnd& front_end) {
    const auto endpoint = bound_endpoint(listener_.get());
    if (!endpoint.address().is_loopback()) {
        spdlog::warn("listening on {}, which other machines may reach",
                     endpoint.address().to_string());
    }
    const bool v6 = endpoint.address().is_v6();
    std::printf("%s listening on %s%s%s:%u\n", options_.program.c_str(), v6 ? "[" : "",
                endpoint.address().to_string().c_str(), v6 ? "]" : "", endpoint.port());
    std::fflush(stdout);
    while (!signalled_) {
        // While descriptors are short the listener stays readable; looking away keeps us from
        // spinning.
        std::array<pollfd, 3> polled = {pollfd{signals_.get(), POLLIN, 0},
                                        pollfd{wake_.get(), POLLIN, 0},
                                        pollfd{listener_.get(), POLLIN, 0}};
        const bool resting = out_of_descriptors_;
        ::poll(polled.data(), resting ? 2 : 3,
               resting ? static_cast<int>(kExhaustedPause / 1ms) : -1);
        out_of_descriptors_ = false;
        take_signal();
        calibrate_if_asked();
        accept_waiting(front_end);
    }
    return drain(front_end);
}

void Control::take_signal() {
    signalfd_siginfo info;
    if (::read(signals_.get(), &info, sizeof(info)) == sizeof(info)) {
        if (signalled_) {
            leave("a second signal");
        }
        signalled_ = true;
        spdlog::info("{}: draining", info.ssi_signo == SIGINT ? "SIGINT" : "SIGTERM");
    }
}

void Control::accept_waiting(FrontEnd& front_end) {
    for (int n = 0; n < kAcceptsPerTurn && accept_one(front_end); ++n) {
    }
}

bool Control::accept_one(FrontEnd& front_end) {
    Descriptor connection(
        ::accept4(listener_.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
    if (connection.get() < 0) {
        if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
            exhausted_("cannot accept a connection: " + std::generic_category().message(errno));
            out_of_descriptors_ = true;
            return false;
        }
        // Any other error belongs to the connection that came and went.
        return errno != EAGAIN && errno != EWOULDBLOCK && errno != EBADF;
    }
    if (open_connections_ >= options_.max_connections) {
        refuse(std::move(connection), context_, "the server has as many connections as it takes");
        return true;
    }
    const int on = 1;
    ::setsockopt(connection.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    front_end.adopt(Accepted(std::move(connection), open_connections_));
    return true;
}

int Control::drain(FrontEnd& front_end) {
    const auto end = Clock::now() + options_.drain_timeout;
    // What the accept queue holds at this moment, and no more than it can hold.
    for (int n = 0; n < kBacklog && accept_one(front_end); ++n) {
    }
    listener_.reset(-1);
    context_.draining = true;
    front_end.drain();
    if (wait_until_closed(end)) {
        return 0;
    }
    const std::size_t open = open_connections_;
    const std::size_t unanswered = open - std::min(open, context_.lingering.load());
    if (unanswered > 0) {
        spdlog::warn("the drain timeout has passed with {} connections open", unanswered);
    }
    context_.abandoned = true;
    front_end.abandon();
    const bool closed = wait_until_closed(Clock::now() + kAbandonGrace);
    if (unanswered > 0 || !closed) {
        leave("requests were left");
    }
    return 0;
}

void Control::calibrate_if_asked() {
    eventfd_t ignored;
    if (::eventfd_read(wake_.get(), &ignored) == 0) {
        context_.cpu_work_size.calibrate();
    }
}

bool Control::wait_until_closed(Clock::time_point end) {
    while (open_connections_ > 0) {
        if (Clock::now() >= end) {
            return false;
        }
        std::array<pollfd, 2> polled = {pollfd{signals_.get(), POLLIN, 0},
                                        pollfd{wake_.get(), POLLIN, 0}};
        ::poll(polled.data(), polled.size(), static_cast<int>(kDrainPoll / 1ms));
        take_signal();
        calibrate_if_asked();
    }
    return true;
}

void Control::leave(const char* why) {
    spdlog::warn("leaving at once: {}; {} connections cut off", why, open_connections_.load());
    spdlog::default_logger()->flush();
    std::_Exit(1);
}

}  // namespace common::net
