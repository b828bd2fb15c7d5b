#pragma once

#include <cstdint>
#include <map>
#include <optional>

namespace bench::sample {

/// Bytes that each established client connection to 127.0.0.1:PORT has received, by the client's
/// own port. Asked of the kernel (sock_diag, as ss does), because no load generator says which of
/// its connections were never answered. None where the kernel does not answer.
std::optional<std::map<std::uint16_t, std::uint64_t>> received_bytes(int server_port);

}  // namespace bench::sample
