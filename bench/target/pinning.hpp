#pragma once

#include <string>
#include <vector>

#include "bench/result.hpp"

namespace bench::target {

/// CPUs by number. Empty: all that the runner itself may use.
using Cpus = std::vector<int>;

/// Which CPUs the programs of a run are kept on. What is not named is not pinned.
struct Pinning {
    Cpus server, stub, load;
    std::string text;  ///< As it was asked for; empty without any.

    /// The server shares its CPUs neither with the stub nor with the load generator.
    bool server_is_alone() const;
};

/// From "server=0-3,stub=4,load=5-7": each of the three at most once, and one CPU or a range. Fails
/// with a sentence, also for a CPU that this process may not use.
Result<Pinning> parse_pinning(const std::string& text);

}  // namespace bench::target
