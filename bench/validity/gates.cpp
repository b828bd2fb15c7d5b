#include "bench/validity/gates.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "bench/predict/predict.hpp"
#include "bench/statistics/statistics.hpp"
#include "bench/validity/figures.hpp"

namespace bench::validity {
namespace {

// Why each bound is what it is stands in docs/gates.md.
constexpr double kLeastLittle = 0.9, kMostLittle = 1.02;
constexpr double kMostLatencyShare = 1.0 / 20;
constexpr double kStubLateness_s = 0.0005;
constexpr double kClockTolerance = 0.001;
constexpr double kErrorsAllowed = 0.001;
constexpr double kGeneratorSaturation = 0.9;
constexpr double kStealAllowed = 0.01;
constexpr double kOthersAllowed = 0.1;
constexpr double kCanaryAllowed = 1.2;
constexpr double kAnswersToNotice = 10;
constexpr int kStarvedStatus = 1;
constexpr int kSignalStatus = 128;

struct Outcome {
    Verdict verdict;
    std::string reason;
};

Outcome holds(std::string reason) {
    return {Verdict::holds, std::move(reason)};
}
Outcome exempt(std::string reason) {
    return {Verdict::exempt, std::move(reason)};
}
Outcome suspect(std::string reason) {
    return {Verdict::suspect, std::move(reason)};
}
Outcome invalid(std::string reason) {
    return {Verdict::invalid, std::move(reason)};
}
Outcome unknown(const std::string& what) {
    return exempt(what + ": not known here.");
}

std::string text(std::uint64_t value) {
    return std::to_string(value);
}
std::string text(int value) {
    return std::to_string(value);
}
std::string ms(double seconds) {
    return figure(seconds * 1000, 2) + " ms";
}

// The answers.

Outcome answers(const Facts& facts) {
    if (!facts.wrong_answer) {
        return unknown("What the server answers to the runner's own client");
    }
    return facts.wrong_answer->empty()
               ? holds("Status and body were right before and after the load.")
               : invalid("The runner's own client got a wrong answer: " + *facts.wrong_answer +
                         ".");
}

/// One bound for both kinds of errors: a few in a thousand are a blemish, more another experiment.
Outcome errors(const Facts& facts, std::uint64_t count, const std::string& what) {
    const std::string reason =
        what + ": " + text(count) + " beside " + text(facts.requests) + " answered requests.";
    if (count == 0) {
        return holds(reason);
    }
    const double allowed = kErrorsAllowed * static_cast<double>(facts.requests);
    return static_cast<double>(count) > allowed ? invalid(reason) : suspect(reason);
}

Outcome socket_errors(const Facts& facts) {
    return errors(facts, facts.socket_errors, "Socket errors");
}

Outcome status_errors(const Facts& facts) {
    return errors(facts, facts.status_errors, "Answers other than 2xx");
}

Outcome bytes_per_request(const Facts& facts) {
    if (!facts.bytes || !facts.bytes_per_answer) {
        return unknown("The bytes of all answers, or of one");
    }
    if (facts.requests == 0) {
        return exempt("Nothing was answered.");
    }
    // Each connection may have received a part of an answer that the end of the run cut off.
    const auto requests = static_cast<double>(facts.requests);
    const auto bytes = static_cast<double>(*facts.bytes);
    const double least = requests * *facts.bytes_per_answer;
    const double most = least + facts.connections * *facts.bytes_per_answer;
    const std::string reason = figure(bytes / requests, 2) +
                               " bytes a request, where one answer has " +
                               figure(*facts.bytes_per_answer, 2) + ".";
    return bytes < least || bytes > most ? invalid(reason) : holds(reason);
}

Outcome stub_count(const Facts& facts) {
    if (!facts.calls_stub) {
        return exempt("The row does not call the stub.");
    }
    if (facts.cold) {
        return exempt("A cold row ends with calls that nobody waits for any more.");
    }
    if (!facts.stub_requests || !facts.server_requests) {
        return unknown("The requests that the stub or the server counted");
    }
    const std::string reason = "The stub counted " + text(*facts.stub_requests) +
                               " requests, the server " + text(*facts.server_requests) + ".";
    return *facts.stub_requests == *facts.server_requests ? holds(reason) : invalid(reason);
}

Outcome exit_status(const Facts& facts) {
    if (!facts.exit_status) {
        return unknown("The server's exit status");
    }
    const std::string reason = "The server's exit status was " + text(*facts.exit_status) + ".";
    if (*facts.exit_status >= kSignalStatus) {
        return invalid(reason);
    }
    if (*facts.exit_status == kStarvedStatus && facts.cold) {
        return exempt("A starved server cannot drain, so its exit status 1 is accepted.");
    }
    return *facts.exit_status == 0 ? holds(reason) : suspect(reason);
}

// The arithmetic.

Outcome littles_law(const Facts& facts) {
    if (facts.loop != Loop::closed) {
        return exempt("Only a closed loop keeps all its connections busy.");
    }
    if (facts.microsecond_scale) {
        return exempt("At microseconds a request the load generator's own time counts, too.");
    }
    if (facts.requests == 0) {
        return exempt("Nothing was answered.");
    }
    if (!facts.mean_latency_s || !facts.in_flight_at_end) {
        return unknown("The mean latency, or what was in flight at the end");
    }
    if (*facts.mean_latency_s > facts.duration_s * kMostLatencyShare) {
        return exempt("The mean latency of " + ms(*facts.mean_latency_s) +
                      " is more than a twentieth of the run, so that its ends weigh too much.");
    }
    // What the end cut off had been under way for half a latency in the mean.
    const double answered = static_cast<double>(facts.requests) + *facts.in_flight_at_end / 2;
    const double busy = answered * *facts.mean_latency_s / facts.duration_s / facts.connections;
    const std::string reason = "Rate times mean latency is " + figure(busy, 3) +
                               " of the connections; " + figure(kLeastLittle, 2) + " to " +
                               figure(kMostLittle, 2) + " is right.";
    return busy < kLeastLittle || busy > kMostLittle ? suspect(reason) : holds(reason);
}

Outcome stub_median(const Facts& facts) {
    if (!facts.calls_stub) {
        return exempt("The row does not call the stub.");
    }
    if (!facts.stub_median_s) {
        return unknown("The stub's median at one connection");
    }
    const std::string reason = "The stub's median at one connection is " +
                               ms(*facts.stub_median_s) + "; " + ms(facts.stub_delay_s) + " to " +
                               ms(facts.stub_delay_s + kStubLateness_s) + " is right.";
    if (*facts.stub_median_s < facts.stub_delay_s) {
        return invalid(reason);
    }
    return *facts.stub_median_s > facts.stub_delay_s + kStubLateness_s ? suspect(reason)
                                                                       : holds(reason);
}

Outcome shortest_latency(const Facts& facts) {
    if (facts.wait_s == 0) {
        return exempt("The row waits for nothing.");
    }
    if (facts.requests == 0) {
        return exempt("Nothing was answered.");
    }
    if (!facts.min_latency_s) {
        return unknown("The shortest latency");
    }
    const std::string reason = "The shortest latency is " + ms(*facts.min_latency_s) +
                               ", the wait " + ms(facts.wait_s) + ".";
    return *facts.min_latency_s < facts.wait_s * (1 - kClockTolerance) ? invalid(reason)
                                                                       : holds(reason);
}

Outcome arithmetic_ceiling(const Facts& facts) {
    if (facts.wait_s == 0) {
        return exempt("The row waits for nothing.");
    }
    const double ceiling = predict::arithmetic_ceiling(facts.connections, facts.wait_s);
    const std::string reason = figure(facts.rate(), 0) + " requests a second, where " +
                               text(facts.connections) + " connections and a wait of " +
                               ms(facts.wait_s) + " allow " + figure(ceiling, 0) + ".";
    return facts.rate() > ceiling * (1 + kClockTolerance) ? invalid(reason) : holds(reason);
}

Outcome starved_connections(const Facts& facts) {
    if (facts.cold) {
        return exempt("A cold row is there to show starvation.");
    }
    if (facts.loop != Loop::closed) {
        return exempt("Only in a closed loop is every connection owed answers.");
    }
    if (!facts.counted_connections || !facts.starved_connections) {
        return unknown("What each connection got");
    }
    const double owed = static_cast<double>(facts.requests) / 2 / facts.connections;
    if (owed < kAnswersToNotice) {
        return exempt("Half a run has " + figure(owed, 1) + " answers for a connection, and " +
                      figure(kAnswersToNotice, 0) +
                      " are needed to tell bad luck from starvation.");
    }
    const std::string reason = "Connections without an answer in the second half of the run: " +
                               text(*facts.starved_connections) + " of " + text(facts.connections) +
                               ".";
    return *facts.starved_connections > 0 ? suspect(reason) : holds(reason);
}

Outcome live_connections(const Facts& facts) {
    if (!facts.counted_connections) {
        return unknown("How many connections the kernel shows");
    }
    const std::string reason = "Just before the end the kernel showed " +
                               text(*facts.counted_connections) + " of " + text(facts.connections) +
                               " connections.";
    return *facts.counted_connections < facts.connections ? suspect(reason) : holds(reason);
}

// The load generator.

Outcome raw_latencies(const Facts& facts) {
    if (facts.loop != Loop::closed) {
        return exempt("h2load logs each request, so nothing has to be recovered.");
    }
    if (!facts.raw_samples) {
        return unknown("The samples of the recovered histogram");
    }
    const std::string reason = "The recovered histogram has " + text(*facts.raw_samples) +
                               " samples of " + text(facts.requests) + " requests.";
    return *facts.raw_samples == facts.requests ? holds(reason) : suspect(reason);
}

Outcome wrk_timeout(const Facts& facts) {
    if (facts.loop != Loop::closed) {
        return exempt("wrk was not the load generator.");
    }
    if (!facts.wrk_timeout_s) {
        return unknown("wrk's timeout");
    }
    const std::string reason = "wrk's timeout is " + figure(*facts.wrk_timeout_s, 1) +
                               " s, the run took " + figure(facts.duration_s, 1) + " s.";
    return *facts.wrk_timeout_s <= facts.duration_s ? invalid(reason) : holds(reason);
}

Outcome even_threads(const Facts& facts) {
    if (facts.loop != Loop::closed) {
        return exempt("wrk was not the load generator.");
    }
    const int dropped = facts.connections % facts.generator_threads;
    const std::string reason = text(facts.connections) + " connections over " +
                               text(facts.generator_threads) + " threads of wrk leave out " +
                               text(dropped) + ".";
    return dropped > 0 ? invalid(reason) : holds(reason);
}

Outcome generator_load(const Facts& facts) {
    if (!facts.generator_cpu_s) {
        return unknown("The load generator's CPU time");
    }
    const double share = *facts.generator_cpu_s / facts.duration_s / facts.generator_threads;
    const std::string reason = "The load generator used " + percent(share) + " of a CPU for each " +
                               "of its threads; from " + percent(kGeneratorSaturation) +
                               " on it is what was measured.";
    return share >= kGeneratorSaturation ? suspect(reason) : holds(reason);
}

Outcome percentiles(const Facts& facts) {
    std::string blank;
    for (const double one : {50.0, 75.0, 90.0, 99.0, 99.9}) {
        if (!statistics::may_show(one, facts.requests)) {
            blank += (blank.empty() ? "p" : ", p") + figure(one, one > 99 ? 1 : 0);
        }
    }
    const std::string reason =
        text(statistics::kSamplesBeyond) + " samples beyond it (of " + text(facts.requests) + ")";
    return blank.empty() ? holds("Every percentile has at least " + reason + ".")
                         : exempt("Fewer than " + reason + " leave blank: " + blank + ".");
}

// The machine.

Outcome descriptors(const Facts& facts) {
    if (!facts.descriptor_limit || !facts.descriptors_needed) {
        return unknown("The descriptor limit, or the need");
    }
    const std::string reason = "The run needs " + text(*facts.descriptors_needed) +
                               " descriptors, and the limit is " + text(*facts.descriptor_limit) +
                               ".";
    return *facts.descriptors_needed > *facts.descriptor_limit ? invalid(reason) : holds(reason);
}

Outcome ephemeral_ports(const Facts& facts) {
    if (!facts.ports_available || !facts.tcp) {
        return unknown("The free ports, or the connections that were made");
    }
    const std::uint64_t made = facts.tcp->active_opens;
    const std::string reason = text(made) + " connections were made, and " +
                               text(*facts.ports_available) + " ephemeral ports were free.";
    const bool enough = static_cast<double>(made) <= *facts.ports_available;
    return enough ? holds(reason) : suspect(reason);
}

Outcome listen_backlog(const Facts& facts) {
    if (!facts.listen_backlog) {
        return unknown("The length of the accept queue");
    }
    const std::string reason = "The accept queue holds " + text(*facts.listen_backlog) + ", and " +
                               text(facts.connections) + " connections come at once.";
    return *facts.listen_backlog < facts.connections ? suspect(reason) : holds(reason);
}

Outcome accept_queue_overflows(const Facts& facts) {
    if (!facts.tcp) {
        return unknown("The kernel's counters of the accept queue");
    }
    const std::string reason = "ListenOverflows grew by " + text(facts.tcp->listen_overflows) +
                               ", ListenDrops by " + text(facts.tcp->listen_drops) +
                               ", TCPReqQFullDrop by " + text(facts.tcp->request_queue_drops) +
                               ", TCPReqQFullDoCookies by " +
                               text(facts.tcp->request_queue_cookies) + ".";
    const bool overflowed = facts.tcp->refused() > 0 || facts.tcp->listen_overflows > 0 ||
                            facts.tcp->request_queue_cookies > 0;
    return overflowed ? suspect(reason) : holds(reason);
}

Outcome steal(const Facts& facts) {
    if (!facts.steal_s || !facts.cpus) {
        return unknown("The stolen CPU time");
    }
    const double share = *facts.steal_s / (facts.duration_s * facts.cpus->affinity);
    const std::string reason = "The hypervisor gave " + percent(share) +
                               " of the CPUs to others; " + percent(kStealAllowed) +
                               " is tolerable.";
    return share > kStealAllowed ? suspect(reason) : holds(reason);
}

Outcome other_load(const Facts& facts) {
    if (!facts.other_cpus || !facts.cpus) {
        return unknown("What other processes used");
    }
    const double share = *facts.other_cpus / facts.cpus->affinity;
    const std::string reason = "Other processes used " + percent(share) + " of the CPUs; " +
                               percent(kOthersAllowed) + " is tolerable.";
    return share > kOthersAllowed ? suspect(reason) : holds(reason);
}

Outcome canary(const Facts& facts) {
    if (!facts.canary_slowdown) {
        return unknown("The canary's time");
    }
    const std::string reason =
        "A fixed computation around the run took " + figure(*facts.canary_slowdown, 2) +
        " times its fastest of the session; " + figure(kCanaryAllowed, 2) + " is tolerable.";
    return *facts.canary_slowdown > kCanaryAllowed ? suspect(reason) : holds(reason);
}

Outcome throttling(const Facts& facts) {
    if (!facts.throttled_periods) {
        return unknown("The cgroup's throttled periods");
    }
    const std::string reason = "Periods in which the cgroup's quota stopped its processes: " +
                               text(*facts.throttled_periods) + ".";
    return *facts.throttled_periods > 0 ? suspect(reason) : holds(reason);
}

Outcome usable_cpus(const Facts& facts) {
    if (!facts.cpus) {
        return unknown("The usable CPUs");
    }
    const auto& [affinity, quota] = *facts.cpus;
    const std::string reason = "Affinity allows " + text(affinity) + " CPUs, the cgroup's quota " +
                               (quota ? figure(*quota, 2) : "as many") + ".";
    return quota && *quota < affinity ? suspect(reason) : holds(reason);
}

// The build.

Outcome build_type(const Facts& facts) {
    if (!facts.build_type) {
        return unknown("How the server was built");
    }
    const std::string type = facts.build_type->substr(0, facts.build_type->find(','));
    const std::string reason =
        "The server's build type is " + (type.empty() ? "empty" : type) + ".";
    const bool optimised = type == "Release" || type == "RelWithDebInfo" || type == "MinSizeRel";
    return optimised ? holds(reason) : invalid(reason);
}

Outcome sanitizer(const Facts& facts) {
    if (!facts.sanitizer) {
        return unknown("Whether the server has a sanitizer in it");
    }
    return facts.sanitizer->empty()
               ? holds("The server has no sanitizer in it.")
               : invalid("The server was built with a sanitizer: " + *facts.sanitizer + ".");
}

struct Gate {
    const char* id;
    Outcome (*judge)(const Facts&);
};

constexpr std::array kGates = {
    Gate{"answers", answers},
    Gate{"socket_errors", socket_errors},
    Gate{"status_errors", status_errors},
    Gate{"bytes_per_request", bytes_per_request},
    Gate{"stub_count", stub_count},
    Gate{"exit_status", exit_status},
    Gate{"littles_law", littles_law},
    Gate{"stub_median", stub_median},
    Gate{"shortest_latency", shortest_latency},
    Gate{"arithmetic_ceiling", arithmetic_ceiling},
    Gate{"starved_connections", starved_connections},
    Gate{"live_connections", live_connections},
    Gate{"raw_latencies", raw_latencies},
    Gate{"wrk_timeout", wrk_timeout},
    Gate{"even_threads", even_threads},
    Gate{"generator_load", generator_load},
    Gate{"percentiles", percentiles},
    Gate{"descriptors", descriptors},
    Gate{"ephemeral_ports", ephemeral_ports},
    Gate{"listen_backlog", listen_backlog},
    Gate{"accept_queue_overflows", accept_queue_overflows},
    Gate{"steal", steal},
    Gate{"other_load", other_load},
    Gate{"canary", canary},
    Gate{"throttling", throttling},
    Gate{"usable_cpus", usable_cpus},
    Gate{"build_type", build_type},
    Gate{"sanitizer", sanitizer},
};

}  // namespace

std::vector<GateResult> judge(const Facts& facts) {
    std::vector<GateResult> results;
    for (const Gate& gate : kGates) {
        Outcome outcome = gate.judge(facts);
        results.push_back({gate.id, outcome.verdict, std::move(outcome.reason)});
    }
    return results;
}

Verdict worst(const std::vector<GateResult>& results) {
    Verdict worst = Verdict::holds;
    for (const GateResult& result : results) {
        worst = std::max(worst, result.verdict);
    }
    return worst;
}

std::vector<GateResult> worst_of_runs(const std::vector<std::vector<GateResult>>& runs) {
    std::vector<GateResult> worst;
    for (const auto& run : runs) {
        for (const GateResult& result : run) {
            const auto known = std::ranges::find(worst, result.id, &GateResult::id);
            if (known == worst.end()) {
                worst.push_back(result);
            } else if (known->verdict < result.verdict) {
                *known = result;
            }
        }
    }
    return worst;
}

GateResult judge_machine_ceiling(double ceiling_rps, double fastest_row_rps, double spread) {
    const bool above = fastest_row_rps > ceiling_rps * (1 + spread);
    return {"machine_ceiling", above ? Verdict::suspect : Verdict::holds,
            "The fastest row reached " + figure(fastest_row_rps, 0) +
                " requests a second, the raw epoll programs " + figure(ceiling_rps, 0) +
                " with a spread of " + percent(spread) + "."};
}

const char* to_string(Verdict verdict) {
    constexpr std::array kWords = {"holds", "exempt", "suspect", "invalid"};
    return kWords[static_cast<std::size_t>(verdict)];
}

const char* row_verdict(Verdict worst) {
    return worst <= Verdict::exempt ? "valid" : to_string(worst);
}

}  // namespace bench::validity
