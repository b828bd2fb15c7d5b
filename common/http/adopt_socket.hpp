#pragma once

#include <boost/asio/ip/tcp.hpp>

#include "common/http/context.hpp"
#include "common/net/control.hpp"
#include "common/net/socket.hpp"

namespace common::http {

/// Makes `socket`, one of Asio's that is not open yet, that of the connection, which keeps its
/// place in the count. Where the kernel takes no more sockets into epoll the client is told so, and
/// `socket` stays closed, so that its first use fails.
template <class Socket>
void adopt_socket(Socket& socket, net::Accepted& accepted, Context& context) {
    const auto protocol =
        net::is_ipv6(accepted.get()) ? boost::asio::ip::tcp::v6() : boost::asio::ip::tcp::v4();
    boost::system::error_code error;
    socket.assign(protocol, accepted.get(), error);
    if (error) {
        net::refuse(net::Descriptor(accepted.release()), context, net::kNotWatched);
        return;
    }
    accepted.release();
    socket.non_blocking(true, error);
}

}  // namespace common::http
