#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "bench/experiment.hpp"
#include "bench/load/h2load.hpp"
#include "bench/run.hpp"
#include "bench/target/server.hpp"

namespace bench {

/// One load, whatever produces it: wrk, h2load, or one request by the runner's own client.
class Generator {
  public:
    virtual ~Generator() = default;
    virtual bool has_ended() const = 0;
    /// CPU seconds of the generator so far; none when it is not a process of its own.
    virtual std::optional<double> cpu_s() const = 0;
    /// Stops what still runs, and fills in the run what came out; its problems, if nothing did.
    virtual void report(Run& run) = 0;
    /// The time after which it is stopped.
    std::chrono::milliseconds patience{0};
};

/// What is asked of which server, and where the raw output goes.
struct Aim {
    const target::Places& places;
    target::Address address;
    Request request;  ///< Without placeholders.
    std::string file;
};

/// Null, with the sentence in `problem`, when the program cannot be started.
std::unique_ptr<Generator> start_wrk(const Aim& aim, const Load& load,
                                     std::chrono::milliseconds duration, std::string& problem);
std::unique_ptr<Generator> start_burst(const Aim& aim, int requests, int connections,
                                       std::string& problem);
std::unique_ptr<Generator> start_open(const Aim& aim, const load::OpenLoop& loop,
                                      std::string& problem);
std::unique_ptr<Generator> start_single(const Aim& aim, std::chrono::milliseconds patience);

}  // namespace bench
