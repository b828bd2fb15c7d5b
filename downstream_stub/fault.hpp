#pragma once

#include <optional>
#include <string_view>
#include <vector>

namespace downstream_stub {

/// What can go wrong with an answer.
enum class Fault {
    none,
    reset,      ///< the connection is reset in place of an answer
    stall,      ///< no answer comes; the connection stays open
    truncate,   ///< half of the body, then the connection is closed
    garbage,    ///< bytes that are no HTTP, then the connection is closed
    error_500,  ///< an answer with status 500
    close,      ///< the connection is closed in place of an answer
};

/// `reset`, `stall`, `truncate`, `garbage`, `500`, `close`.
std::optional<Fault> parse_fault(std::string_view name);

/// A fault and the share of requests that suffer it.
struct FaultRate {
    Fault fault = Fault::none;
    double rate = 0;
};
/// `reset:0.01`, or several with commas between; each rate, and their sum, lies from 0 to 1.
std::optional<std::vector<FaultRate>> parse_fault_rates(std::string_view text);

}  // namespace downstream_stub
