#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/limits.hpp"
#include "bench/result.hpp"

namespace bench::target {

/// Of a server, IPv4.
struct Address {
    std::string host = "127.0.0.1";
    int port = 0;

    std::string text() const { return host + ":" + std::to_string(port); }
};

/// What stands between http:// and the path; none when there is no such address.
std::optional<Address> parse_url(const std::string& url);

struct Answer {
    unsigned status = 0;
    std::string body;
    std::uint64_t bytes = 0;  ///< Head and body, as they came.
};

/// One request on a connection of its own.
Result<Answer> ask(const Address& address, const Request& request,
                   std::chrono::milliseconds patience = limits::kRequest);

/// Seconds that each of `count` GETs took, one after the other on one connection.
Result<std::vector<double>> time_gets(const Address& address, const std::string& path, int count);

/// A port on which nobody listens just now; 0 when there is none.
int unused_port();

}  // namespace bench::target
