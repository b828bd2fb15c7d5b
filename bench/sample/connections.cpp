#include "bench/sample/connections.hpp"

#include <arpa/inet.h>
#include <linux/inet_diag.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sock_diag.h>
#include <linux/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <vector>

namespace bench::sample {
namespace {

using Received = std::map<std::uint16_t, std::uint64_t>;

constexpr std::size_t kDumpBytes = 256 * 1024;
constexpr timeval kTimeout{1, 0};
constexpr std::uint32_t kEstablished = 1;  // TCP_ESTABLISHED of the kernel's tcp_states.h.

bool ask(int socket) {
    struct {
        nlmsghdr header;
        inet_diag_req_v2 request;
    } message{};
    message.header.nlmsg_len = sizeof message;
    message.header.nlmsg_type = SOCK_DIAG_BY_FAMILY;
    message.header.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
    message.request.sdiag_family = AF_INET;
    message.request.sdiag_protocol = IPPROTO_TCP;
    message.request.idiag_ext = 1 << (INET_DIAG_INFO - 1);
    message.request.idiag_states = 1 << kEstablished;
    return send(socket, &message, sizeof message, 0) == sizeof message;
}

void add(const nlmsghdr* header, int server_port, Received& received) {
    const auto* socket = static_cast<const inet_diag_msg*>(NLMSG_DATA(header));
    if (ntohs(socket->id.idiag_dport) != server_port) {
        return;
    }
    int left = static_cast<int>(header->nlmsg_len - NLMSG_LENGTH(sizeof *socket));
    auto* attribute = reinterpret_cast<const rtattr*>(socket + 1);
    for (; RTA_OK(attribute, left); attribute = RTA_NEXT(attribute, left)) {
        if (attribute->rta_type == INET_DIAG_INFO) {
            tcp_info info{};
            std::memcpy(&info, RTA_DATA(attribute),
                        std::min<std::size_t>(sizeof info, RTA_PAYLOAD(attribute)));
            received[ntohs(socket->id.idiag_sport)] = info.tcpi_bytes_received;
        }
    }
}

}  // namespace

std::optional<Received> received_bytes(int server_port) {
    const int socket = ::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_SOCK_DIAG);
    if (socket < 0) {
        return std::nullopt;
    }
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &kTimeout, sizeof kTimeout);
    std::optional<Received> result;
    Received received;
    std::vector<char> buffer(kDumpBytes);
    bool more = ask(socket);
    while (more) {
        auto left = static_cast<int>(recv(socket, buffer.data(), buffer.size(), 0));
        more = left > 0;
        for (auto* header = reinterpret_cast<const nlmsghdr*>(buffer.data());
             more && NLMSG_OK(header, static_cast<unsigned>(left));
             header = NLMSG_NEXT(header, left)) {
            if (header->nlmsg_type == NLMSG_DONE) {
                result = std::move(received);
            }
            more = header->nlmsg_type == SOCK_DIAG_BY_FAMILY;
            if (more) {
                add(header, server_port, received);
            }
        }
    }
    close(socket);
    return result;
}

}  // namespace bench::sample
