#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/sample/machine.hpp"
#include "bench/sample/network.hpp"

/// Whether a run may be believed: every gate of docs/gates.md, as functions over plain facts.
namespace bench::validity {

/// What a gate says, the better first. `exempt` means that it could not or need not judge and
/// says why, `suspect` that the figure may be wrong, `invalid` that it is.
enum class Verdict { holds, exempt, suspect, invalid };

/// Who sends when: closed sends on when the answer has come (wrk), burst a fixed number of
/// requests, open at a fixed rate (both h2load).
enum class Loop { closed, burst, open };

/// One measured run of one row. What is optional is judged only when known; an unknown fact gives
/// `exempt` with the reason "not known here". Differences are over the run unless said otherwise.
struct Facts {
    // What was asked for.
    Loop loop = Loop::closed;
    int connections = 0;
    int generator_threads = 1;
    /// That every request waits at least, as configured, not as measured; 0 for no wait.
    double wait_s = 0;
    bool calls_stub = false;
    double stub_delay_s = 0;         ///< As configured.
    bool cold = false;               ///< The start itself is measured.
    bool microsecond_scale = false;  ///< It waits for nothing.
    std::optional<double> wrk_timeout_s;

    // What the load generator counted.
    double duration_s = 0;
    std::uint64_t requests = 0;  ///< Answered ones, whatever their status.
    std::uint64_t status_errors = 0, socket_errors = 0;
    std::optional<std::uint64_t> bytes;
    std::optional<double> mean_latency_s, min_latency_s;  ///< Raw.
    std::optional<std::uint64_t> raw_samples;             ///< In the recovered histogram.
    std::optional<double> generator_cpu_s;

    // Server and stub.
    /// What was wrong with the answers to the runner's own client before and after the load; empty
    /// when nothing was.
    std::optional<std::string> wrong_answer;
    std::optional<double> bytes_per_answer;  ///< Head and body, as that client received them.
    std::optional<double> stub_median_s;     ///< At one connection, without load.
    /// From before the first request of the run, warm-up and verification included, until nothing
    /// is in flight any more.
    std::optional<std::uint64_t> stub_requests, server_requests;
    std::optional<int> exit_status;         ///< 128 and more: ended by a signal.
    std::optional<std::string> build_type;  ///< See sample::parse_build_type.
    std::optional<std::string> sanitizer;   ///< See sample::sanitizer; empty for none.
    /// In flight when the load ended: in a closed loop the connections themselves.
    std::optional<double> in_flight_at_end;
    /// Of `counted_connections`, those that got nothing in the second half of the run.
    std::optional<int> counted_connections, starved_connections;

    // The machine.
    std::optional<std::uint64_t> descriptor_limit, descriptors_needed;
    std::optional<int> ports_available;  ///< Before the run.
    std::optional<int> listen_backlog;   ///< As the kernel grants it.
    std::optional<sample::TcpCounters> tcp;
    std::optional<double> steal_s;     ///< Summed over the CPUs.
    std::optional<double> other_cpus;  ///< CPUs that processes outside of the run kept busy.
    /// The slower of the canaries before and after the run, over the fastest of the session.
    std::optional<double> canary_slowdown;
    std::optional<std::uint64_t> throttled_periods;
    std::optional<sample::CpuAllowance> cpus;  ///< Of the server.

    double rate() const {  ///< Successful requests per second.
        return static_cast<double>(requests - status_errors) / duration_s;
    }
};

struct GateResult {
    std::string id;
    Verdict verdict = Verdict::exempt;
    std::string reason;  ///< One sentence with the figures.
};

/// All gates, always in the same order.
std::vector<GateResult> judge(const Facts& facts);

/// The worst; `holds` of nothing.
Verdict worst(const std::vector<GateResult>& results);

/// A row's gates: of each gate the worst result of all runs, the earliest of equals.
std::vector<GateResult> worst_of_runs(const std::vector<std::vector<GateResult>>& runs);

/// The machine ceiling against the fastest measured row: a row above it by more than the spread
/// (of its runs, a share of the median) marks the ceiling and not the row.
GateResult judge_machine_ceiling(double ceiling_rps, double fastest_row_rps, double spread);

const char* to_string(Verdict verdict);
/// What a row is called whose worst gate this is: "valid" for holds and exempt.
const char* row_verdict(Verdict worst);

}  // namespace bench::validity
