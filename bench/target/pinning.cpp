#include "bench/target/pinning.hpp"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <sstream>

namespace bench::target {
namespace {

std::optional<int> parse_cpu(const std::string& text) {
    int cpu = 0;
    const char* const end = text.data() + text.size();
    const auto [after, error] = std::from_chars(text.data(), end, cpu);
    const bool valid = error == std::errc{} && after == end && cpu >= 0 && cpu < CPU_SETSIZE;
    return valid ? std::optional(cpu) : std::nullopt;
}

/// A CPU or a range of them; empty for anything else.
Cpus parse_cpus(const std::string& text) {
    const std::size_t dash = text.find('-');
    const auto first = parse_cpu(text.substr(0, dash));
    const auto last = dash == std::string::npos ? first : parse_cpu(text.substr(dash + 1));
    Cpus cpus;
    for (int cpu = first.value_or(0); first && last && cpu <= *last; ++cpu) {
        cpus.push_back(cpu);
    }
    return cpus;
}

bool share(const Cpus& one, const Cpus& other) {
    return other.empty() || std::ranges::find_first_of(one, other) != one.end();
}

}  // namespace

bool Pinning::server_is_alone() const {
    return !server.empty() && !share(server, stub) && !share(server, load);
}

Result<Pinning> parse_pinning(const std::string& text) {
    Pinning pinning;
    pinning.text = text;
    cpu_set_t allowed;
    sched_getaffinity(0, sizeof allowed, &allowed);
    std::istringstream parts(text);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        Cpus* const cpus = name == "server" ? &pinning.server
                           : name == "stub" ? &pinning.stub
                           : name == "load" ? &pinning.load
                                            : nullptr;
        const Cpus named =
            equals == std::string::npos ? Cpus{} : parse_cpus(part.substr(equals + 1));
        if (cpus == nullptr || !cpus->empty() || named.empty()) {
            return Result<Pinning>::failed("--pin " + text +
                                           " is not like server=0-3,stub=4,load=5-7: " + part);
        }
        for (const int cpu : named) {
            if (!CPU_ISSET(cpu, &allowed)) {
                return Result<Pinning>::failed("--pin " + text + ": waitbench may not use CPU " +
                                               std::to_string(cpu));
            }
        }
        *cpus = named;
    }
    return pinning;
}

}  // namespace bench::target
