#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/result.hpp"
#include "bench/target/child.hpp"
#include "bench/target/client.hpp"
#include "bench/target/pinning.hpp"

namespace bench::target {

/// Where programs and files are.
struct Places {
    std::filesystem::path programs;  ///< The servers, beside waitbench.
    std::filesystem::path wrk, wrk_script, h2load;
    std::filesystem::path raw;  ///< Output of every process that runs.
    Pinning pinning{};
    int cpus = 1;  ///< Of the server.
};

/// A stub or server that runs: one of ours, any other program, or one that ran before (then it has
/// no child, and nothing but its answers is known).
struct Server {
    std::optional<Child> child;
    Address address;
    bool is_ours = false;

    pid_t pid() const { return child ? child->pid() : 0; }
};

/// Whether a program of this name lies beside waitbench.
bool is_ours(const Places& places, const std::vector<std::string>& command);

/// Starts a program of ours, which prints where it listens. `more` are further flags; its output
/// goes to FILE.out and FILE.err below places.raw.
Result<Server> start_ours(const Places& places, const std::vector<std::string>& command,
                          const std::vector<std::string>& more, const std::string& file,
                          const Cpus& cpus);
/// The stub of an experiment.
Result<Server> start_stub(const Places& places, const Experiment& experiment,
                          const std::string& file);

/// Starts what a row names. `downstream`: where the stub listens, port 0 without one. `more` are
/// flags for servers of ours. A foreign program need not answer yet.
Result<Server> start_row(const Places& places, const Row& row, const Address& downstream,
                         const std::vector<std::string>& more, const std::string& file);

/// The same on a port that is chosen here, without waiting for anything.
Result<Server> start_at_once(const Places& places, const Row& row, const std::string& file);

/// Requests that the server has counted for this path, from its /metrics; none when it has none.
std::optional<std::uint64_t> counted_requests(const Address& address, const std::string& endpoint);
/// One value of a text in Prometheus format, the sum of all lines of this name and these labels.
std::optional<double> metric(const std::string& text, const std::string& name,
                             const std::string& labels);

}  // namespace bench::target
