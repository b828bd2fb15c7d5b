#include "bench/sample/network.hpp"

#include <sstream>
#include <vector>

#include "bench/sample/text.hpp"

namespace bench::sample {
namespace {

constexpr int kLargestPort = 65'535;
constexpr int kTimeWait = 6;  // TCP_TIME_WAIT of the kernel's tcp_states.h.

/// Both files hold pairs of lines: "Protocol: names", then "Protocol: values" in the same order.
std::optional<std::uint64_t> counter(const std::string& text, const std::string& protocol,
                                     const std::string& name) {
    std::istringstream lines(text);
    std::string name_line, value_line;
    while (std::getline(lines, name_line) && std::getline(lines, value_line)) {
        std::istringstream names(name_line), values(value_line);
        std::string one_name, one_value;
        names >> one_name;
        values >> one_value;
        if (one_name != protocol || one_value != protocol) {
            continue;
        }
        while (names >> one_name && values >> one_value) {
            if (one_name == name) {
                return number(one_value);
            }
        }
    }
    return std::nullopt;
}

}  // namespace

TcpCounters operator-(const TcpCounters& later, const TcpCounters& earlier) {
    return {later.listen_overflows - earlier.listen_overflows,
            later.listen_drops - earlier.listen_drops,
            later.request_queue_drops - earlier.request_queue_drops,
            later.request_queue_cookies - earlier.request_queue_cookies,
            later.delayed_acks - earlier.delayed_acks,
            later.active_opens - earlier.active_opens};
}

std::optional<TcpCounters> parse_tcp_counters(const std::string& netstat, const std::string& snmp) {
    const auto listen_overflows = counter(netstat, "TcpExt:", "ListenOverflows");
    const auto listen_drops = counter(netstat, "TcpExt:", "ListenDrops");
    const auto drops = counter(netstat, "TcpExt:", "TCPReqQFullDrop");
    const auto cookies = counter(netstat, "TcpExt:", "TCPReqQFullDoCookies");
    const auto delayed_acks = counter(netstat, "TcpExt:", "DelayedACKs");
    const auto active_opens = counter(snmp, "Tcp:", "ActiveOpens");
    if (!listen_overflows || !listen_drops || !drops || !cookies || !delayed_acks ||
        !active_opens) {
        return std::nullopt;
    }
    return TcpCounters{*listen_overflows, *listen_drops, *drops,
                       *cookies,          *delayed_acks, *active_opens};
}

std::optional<TcpCounters> tcp_counters() {
    return parse_tcp_counters(contents("/proc/net/netstat"), contents("/proc/net/snmp"));
}

std::optional<EphemeralPorts> parse_ephemeral_ports(const std::string& range,
                                                    const std::string& proc_net_tcp) {
    EphemeralPorts ports;
    if (!(std::istringstream(range) >> ports.low >> ports.high)) {
        return std::nullopt;
    }
    std::vector<bool> is_used(kLargestPort + 1);
    std::istringstream lines(proc_net_tcp);
    std::string line, slot, local, remote, state;
    std::getline(lines, line);  // The column heads.
    while (std::getline(lines, line)) {
        std::istringstream(line) >> slot >> local >> remote >> state;
        const std::size_t colon = local.find(':');
        const auto port =
            colon == std::string::npos ? 0 : std::strtol(local.c_str() + colon + 1, nullptr, 16);
        if (port < ports.low || port > ports.high || port > kLargestPort) {
            continue;
        }
        ports.time_wait += std::strtol(state.c_str(), nullptr, 16) == kTimeWait;
        ports.used += !is_used[static_cast<std::size_t>(port)];
        is_used[static_cast<std::size_t>(port)] = true;
    }
    return ports;
}

std::optional<EphemeralPorts> ephemeral_ports() {
    return parse_ephemeral_ports(contents("/proc/sys/net/ipv4/ip_local_port_range"),
                                 contents("/proc/net/tcp"));
}

std::optional<int> listen_backlog_limit() {
    const auto limit = number(contents("/proc/sys/net/core/somaxconn"));
    return limit ? std::optional(static_cast<int>(*limit)) : std::nullopt;
}

}  // namespace bench::sample
