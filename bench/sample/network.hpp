#pragma once

#include <cstdint>
#include <optional>
#include <string>

/// What the kernel counts and allows for TCP, in this network namespace.
namespace bench::sample {

/// Counters since the namespace was made; a run is the difference of two readings. They count all
/// processes, so a quiet machine is part of the method.
struct TcpCounters {
    std::uint64_t listen_overflows = 0;       ///< A finished handshake found its accept queue full.
    std::uint64_t listen_drops = 0;           ///< Handshakes dropped for that or any other reason.
    std::uint64_t request_queue_drops = 0;    ///< TCPReqQFullDrop: too many half-open handshakes.
    std::uint64_t request_queue_cookies = 0;  ///< TCPReqQFullDoCookies: answered by SYN cookies.
    std::uint64_t delayed_acks = 0;
    std::uint64_t active_opens = 0;  ///< Connections that were begun from this side.

    /// Handshakes that did not come through at once: what makes a client wait for a second.
    std::uint64_t refused() const { return listen_drops + request_queue_drops; }
    friend TcpCounters operator-(const TcpCounters& later, const TcpCounters& earlier);
};

/// From the texts of /proc/net/netstat and /proc/net/snmp; none when a counter is missing there.
std::optional<TcpCounters> parse_tcp_counters(const std::string& netstat, const std::string& snmp);
std::optional<TcpCounters> tcp_counters();

/// The local ports that a client may be given. A port may serve two destinations at once, so what
/// is counted here as used is the worst case: one destination for all.
struct EphemeralPorts {
    int low = 0, high = 0;  ///< Both belong to the range.
    int used = 0;           ///< Of the range, TIME_WAIT included.
    int time_wait = 0;

    int available() const { return high - low + 1 - used; }
};

/// From the texts of ip_local_port_range and of /proc/net/tcp.
std::optional<EphemeralPorts> parse_ephemeral_ports(const std::string& range,
                                                    const std::string& proc_net_tcp);
std::optional<EphemeralPorts> ephemeral_ports();

/// net.core.somaxconn: the longest accept queue that a program may have.
std::optional<int> listen_backlog_limit();

}  // namespace bench::sample
