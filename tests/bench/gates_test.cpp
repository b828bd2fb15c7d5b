#include "bench/validity/gates.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <functional>
#include <sstream>

namespace bench::validity {
namespace {

/// A run of which every gate holds: 200 threads, 1,000 connections, 20 ms, six seconds.
Facts valid() {
    Facts facts;
    facts.connections = 1000;
    facts.wait_s = 0.020;
    facts.calls_stub = true;
    facts.stub_delay_s = 0.020;
    facts.wrk_timeout_s = 11;
    facts.duration_s = 6;
    facts.requests = 60'000;
    facts.bytes = 60'000 * 240;
    facts.mean_latency_s = 0.1;
    facts.min_latency_s = 0.0201;
    facts.raw_samples = 60'000;
    facts.generator_cpu_s = 1;
    facts.wrong_answer = "";
    facts.bytes_per_answer = 240;
    facts.stub_median_s = 0.0203;
    facts.stub_requests = 75'002;
    facts.server_requests = 75'002;
    facts.exit_status = 0;
    facts.build_type = "Release";
    facts.sanitizer = "";
    facts.in_flight_at_end = 1000;
    facts.counted_connections = 1000;
    facts.starved_connections = 0;
    facts.descriptor_limit = 20'000;
    facts.descriptors_needed = 2100;
    facts.ports_available = 28'000;
    facts.listen_backlog = 4096;
    facts.tcp = sample::TcpCounters{.delayed_acks = 7, .active_opens = 3000};
    facts.steal_s = 0.1;
    facts.other_cpus = 0.1;
    facts.canary_slowdown = 1.02;
    facts.throttled_periods = 0;
    facts.cpus = sample::CpuAllowance{2, std::nullopt};
    return facts;
}

using Change = std::function<void(Facts&)>;

GateResult result_of(const std::string& id, const Change& change) {
    Facts facts = valid();
    change(facts);
    const auto results = judge(facts);
    const auto found = std::ranges::find(results, id, &GateResult::id);
    return found == results.end() ? GateResult{"no gate", Verdict::invalid, id} : *found;
}

Verdict verdict_of(const std::string& id, const Change& change) {
    return result_of(id, change).verdict;
}

TEST(Gates, EveryGateHoldsOfTheValidRun) {
    for (const GateResult& result : judge(valid())) {
        EXPECT_EQ(result.verdict, Verdict::holds) << result.id << ": " << result.reason;
        EXPECT_TRUE(result.reason.ends_with('.')) << result.id << ": " << result.reason;
    }
}

struct Case {
    std::string gate;
    Verdict verdict;
    std::string why;
    Change change;
};

void PrintTo(const Case& one, std::ostream* stream) {
    *stream << one.gate << ", " << one.why;
}

class Fires : public testing::TestWithParam<Case> {};

/// Nothing but the one gate must speak.
TEST_P(Fires, AndNoOther) {
    const Case& one = GetParam();
    Facts facts = valid();
    one.change(facts);
    for (const GateResult& result : judge(facts)) {
        const bool is_it = result.id == one.gate;
        EXPECT_EQ(result.verdict, is_it ? one.verdict : Verdict::holds)
            << one.why << ": " << result.id << ": " << result.reason;
    }
    EXPECT_EQ(worst(judge(facts)), one.verdict);
}

constexpr auto kSuspect = Verdict::suspect;
constexpr auto kInvalid = Verdict::invalid;
constexpr auto kExempt = Verdict::exempt;

const Case kCases[] = {
    {"answers", kInvalid, "a wrong body",
     [](Facts& f) { f.wrong_answer = "GET /wait: an unexpected body"; }},
    {"socket_errors", kSuspect, "one connection dropped", [](Facts& f) { f.socket_errors = 1; }},
    {"socket_errors", kInvalid, "more than one in a thousand",
     [](Facts& f) { f.socket_errors = 61; }},
    {"status_errors", kSuspect, "one 500", [](Facts& f) { f.status_errors = 1; }},
    {"status_errors", kInvalid, "many 500", [](Facts& f) { f.status_errors = 61; }},
    {"bytes_per_request", kInvalid, "a byte is missing in one answer",
     [](Facts& f) { f.bytes = 60'000 * 240 - 1; }},
    {"bytes_per_request", kInvalid, "more than what the end cut off",
     [](Facts& f) { f.bytes = 61'000 * 240 + 1; }},
    {"stub_count", kInvalid, "an answer without a call",
     [](Facts& f) { f.stub_requests = 75'001; }},
    {"exit_status", kSuspect, "the drain was too long", [](Facts& f) { f.exit_status = 1; }},
    {"exit_status", kInvalid, "a crash", [](Facts& f) { f.exit_status = 139; }},
    {"littles_law", kSuspect, "connections that are never answered",
     [](Facts& f) { f.mean_latency_s = 0.089; }},
    {"littles_law", kSuspect, "latencies that cannot be",
     [](Facts& f) { f.mean_latency_s = 0.102; }},
    {"stub_median", kInvalid, "a stub that is too fast",
     [](Facts& f) { f.stub_median_s = 0.01999; }},
    {"stub_median", kSuspect, "a stub that is too slow",
     [](Facts& f) { f.stub_median_s = 0.02051; }},
    {"shortest_latency", kInvalid, "an answer before the wait was over",
     [](Facts& f) { f.min_latency_s = 0.0199; }},
    {"starved_connections", kSuspect, "one is starved",
     [](Facts& f) { f.starved_connections = 1; }},
    {"live_connections", kSuspect, "one is gone", [](Facts& f) { f.counted_connections = 999; }},
    {"raw_latencies", kSuspect, "a sample too many", [](Facts& f) { f.raw_samples = 60'001; }},
    {"wrk_timeout", kInvalid, "wrk's default", [](Facts& f) { f.wrk_timeout_s = 2; }},
    {"even_threads", kInvalid, "one is left out", [](Facts& f) { f.generator_threads = 3; }},
    {"generator_load", kSuspect, "a saturated generator",
     [](Facts& f) { f.generator_cpu_s = 5.4; }},
    {"descriptors", kInvalid, "a limit that is too low",
     [](Facts& f) { f.descriptor_limit = 2099; }},
    {"ephemeral_ports", kSuspect, "fewer ports than connections",
     [](Facts& f) { f.ports_available = 2999; }},
    {"listen_backlog", kSuspect, "the old default", [](Facts& f) { f.listen_backlog = 128; }},
    {"accept_queue_overflows", kSuspect, "an overflow",
     [](Facts& f) { f.tcp->listen_overflows = 1; }},
    {"accept_queue_overflows", kSuspect, "a drop", [](Facts& f) { f.tcp->listen_drops = 1; }},
    {"accept_queue_overflows", kSuspect, "a dropped request",
     [](Facts& f) { f.tcp->request_queue_drops = 1; }},
    {"accept_queue_overflows", kSuspect, "a cookie",
     [](Facts& f) { f.tcp->request_queue_cookies = 1; }},
    {"steal", kSuspect, "more than a hundredth of 12 s", [](Facts& f) { f.steal_s = 0.13; }},
    {"other_load", kSuspect, "more than a tenth of 2 CPUs", [](Facts& f) { f.other_cpus = 0.21; }},
    {"canary", kSuspect, "a slower CPU", [](Facts& f) { f.canary_slowdown = 1.21; }},
    {"throttling", kSuspect, "one period", [](Facts& f) { f.throttled_periods = 1; }},
    {"usable_cpus", kSuspect, "a quota below the affinity", [](Facts& f) { f.cpus->quota = 1.5; }},
    {"build_type", kInvalid, "a debug build", [](Facts& f) { f.build_type = "Debug"; }},
    {"build_type", kInvalid, "a debug build with a sanitizer",
     [](Facts& f) { f.build_type = "Debug, thread sanitizer"; }},
    {"build_type", kInvalid, "no optimisation asked for", [](Facts& f) { f.build_type = ""; }},
    {"sanitizer", kInvalid, "a sanitizer build", [](Facts& f) { f.sanitizer = "tsan"; }},

    {"exit_status", kExempt, "unknown", [](Facts& f) { f.exit_status.reset(); }},
    {"answers", kExempt, "unknown", [](Facts& f) { f.wrong_answer.reset(); }},
    {"bytes_per_request", kExempt, "unknown", [](Facts& f) { f.bytes_per_answer.reset(); }},
    {"stub_count", kExempt, "unknown", [](Facts& f) { f.server_requests.reset(); }},
    {"littles_law", kExempt, "unknown", [](Facts& f) { f.in_flight_at_end.reset(); }},
    {"littles_law", kExempt, "microseconds", [](Facts& f) { f.microsecond_scale = true; }},
    {"littles_law", kExempt, "more than a twentieth of the run",
     [](Facts& f) { f.mean_latency_s = 0.301; }},
    {"stub_median", kExempt, "unknown", [](Facts& f) { f.stub_median_s.reset(); }},
    {"shortest_latency", kExempt, "unknown", [](Facts& f) { f.min_latency_s.reset(); }},
    {"starved_connections", kExempt, "unknown", [](Facts& f) { f.starved_connections.reset(); }},
    {"raw_latencies", kExempt, "unknown", [](Facts& f) { f.raw_samples.reset(); }},
    {"wrk_timeout", kExempt, "unknown", [](Facts& f) { f.wrk_timeout_s.reset(); }},
    {"generator_load", kExempt, "unknown", [](Facts& f) { f.generator_cpu_s.reset(); }},
    {"descriptors", kExempt, "unknown", [](Facts& f) { f.descriptor_limit.reset(); }},
    {"ephemeral_ports", kExempt, "unknown", [](Facts& f) { f.ports_available.reset(); }},
    {"listen_backlog", kExempt, "unknown", [](Facts& f) { f.listen_backlog.reset(); }},
    {"steal", kExempt, "unknown", [](Facts& f) { f.steal_s.reset(); }},
    {"other_load", kExempt, "unknown", [](Facts& f) { f.other_cpus.reset(); }},
    {"canary", kExempt, "unknown", [](Facts& f) { f.canary_slowdown.reset(); }},
    {"throttling", kExempt, "unknown", [](Facts& f) { f.throttled_periods.reset(); }},
    {"build_type", kExempt, "unknown", [](Facts& f) { f.build_type.reset(); }},
    {"sanitizer", kExempt, "unknown", [](Facts& f) { f.sanitizer.reset(); }},
};

INSTANTIATE_TEST_SUITE_P(Gates, Fires, testing::ValuesIn(kCases), [](const auto& one) {
    return one.param.gate + "_" + std::to_string(one.index);
});

TEST(Gates, TheBoundsThemselvesStillHold) {
    const auto holds = [](const std::string& id, const Change& change) {
        const GateResult result = result_of(id, change);
        EXPECT_EQ(result.verdict, Verdict::holds) << result.id << ": " << result.reason;
    };
    holds("littles_law", [](Facts& f) { f.mean_latency_s = 0.0893; });
    holds("littles_law", [](Facts& f) { f.mean_latency_s = 0.1011; });
    holds("stub_median", [](Facts& f) { f.stub_median_s = 0.020; });
    holds("stub_median", [](Facts& f) { f.stub_median_s = 0.0205; });
    holds("bytes_per_request", [](Facts& f) { f.bytes = 61'000 * 240; });
    holds("shortest_latency", [](Facts& f) { f.min_latency_s = 0.020; });
    holds("starved_connections", [](Facts& f) { f.requests = 20'000; });
    holds("descriptors", [](Facts& f) { f.descriptors_needed = 20'000; });
    holds("listen_backlog", [](Facts& f) { f.listen_backlog = 1000; });
    holds("steal", [](Facts& f) { f.steal_s = 0.12; });
    holds("usable_cpus", [](Facts& f) { f.cpus->quota = 2; });
    holds("arithmetic_ceiling", [](Facts& f) { f.requests = 300'000; });
    holds("build_type", [](Facts& f) { f.build_type = "RelWithDebInfo"; });
}

// Half of what the end cut off counts: 60,000 requests and 500 more, 0.1 s each, are 1.0083 of
// 1,000 connections for 6 s.
TEST(Gates, LittlesLawToTheLastDigit) {
    EXPECT_NE(result_of("littles_law", [](Facts&) {}).reason.find("is 1.008 of"),
              std::string::npos);
}

// More answers than waits fit into the run: Little's law and the counts speak, too, so it is not
// among the cases above. Answers with an error are no reason to doubt.
TEST(Gates, NoRateAboveTheArithmeticCeiling) {
    EXPECT_EQ(verdict_of("arithmetic_ceiling", [](Facts& f) { f.requests = 300'400; }), kInvalid);
    EXPECT_EQ(verdict_of("arithmetic_ceiling",
                         [](Facts& f) {
                             f.requests = 300'400;
                             f.status_errors = 400;
                         }),
              Verdict::holds);
}

TEST(Gates, AServerThatAnswersNothingIsAResult) {
    Facts facts = valid();
    facts.cold = true;
    facts.requests = 0;
    facts.bytes = 0;
    facts.raw_samples = 0;
    facts.mean_latency_s.reset();
    facts.min_latency_s.reset();
    facts.stub_requests = 56;
    facts.server_requests = 0;
    facts.exit_status = 1;
    facts.starved_connections = 1000;
    const auto results = judge(facts);
    EXPECT_EQ(worst(results), kExempt);
    for (const GateResult& result : results) {
        EXPECT_EQ(result.reason.find("nan"), std::string::npos) << result.reason;
        EXPECT_EQ(result.reason.find("not known"), std::string::npos) << result.reason;
    }
    EXPECT_STREQ(row_verdict(worst(results)), "valid");
}

TEST(Gates, AColdServerMayNotCrash) {
    EXPECT_EQ(verdict_of("exit_status",
                         [](Facts& f) {
                             f.cold = true;
                             f.exit_status = 134;
                         }),
              kInvalid);
}

TEST(Gates, ARowThatDoesNotCallTheStub) {
    const Change echo = [](Facts& f) {
        f.calls_stub = false;
        f.wait_s = 0;
        f.stub_requests = 0;
    };
    for (const char* id : {"stub_count", "stub_median", "shortest_latency", "arithmetic_ceiling"}) {
        EXPECT_EQ(verdict_of(id, echo), kExempt) << id;
    }
}

TEST(Gates, BurstsAndOpenLoops) {
    const Change open = [](Facts& f) {
        f.loop = Loop::open;
        f.generator_threads = 3;
        f.requests = 600;
        f.wrk_timeout_s.reset();
    };
    for (const char* id :
         {"littles_law", "starved_connections", "raw_latencies", "wrk_timeout", "even_threads"}) {
        EXPECT_EQ(verdict_of(id, open), kExempt) << id;
    }
}

TEST(Gates, FewAnswersDoNotTellStarvationFromBadLuck) {
    EXPECT_EQ(verdict_of("starved_connections",
                         [](Facts& f) {
                             f.requests = 19'999;
                             f.starved_connections = 100;
                         }),
              kExempt);
}

TEST(Gates, WithoutTheKernelsCounters) {
    const Change change = [](Facts& f) { f.tcp.reset(); };
    EXPECT_EQ(verdict_of("ephemeral_ports", change), kExempt);
    EXPECT_EQ(verdict_of("accept_queue_overflows", change), kExempt);
}

TEST(Gates, NothingKnownIsNeverAPass) {
    Facts facts;
    facts.connections = 1;
    facts.duration_s = 1;
    facts.wait_s = 0.020;
    facts.calls_stub = true;
    facts.requests = 40;
    for (const GateResult& result : judge(facts)) {
        // These need nothing beyond what every run has.
        const bool is_known = result.id == "socket_errors" || result.id == "status_errors" ||
                              result.id == "arithmetic_ceiling" || result.id == "even_threads";
        EXPECT_EQ(result.verdict, is_known ? Verdict::holds : Verdict::exempt) << result.id;
        const bool says_so = result.reason.find("not known here") != std::string::npos;
        EXPECT_EQ(says_so, !is_known && result.id != "percentiles") << result.reason;
    }
}

TEST(Gates, APercentileNeedsTenSamplesBeyondIt) {
    const GateResult result = result_of("percentiles", [](Facts& f) { f.requests = 999; });
    EXPECT_EQ(result.verdict, kExempt);
    EXPECT_TRUE(result.reason.ends_with(": p99, p99.9.")) << result.reason;
}

TEST(Gates, TheWorstOfAllRuns) {
    const std::vector<std::vector<GateResult>> runs = {
        {{"a", Verdict::holds, "1"}, {"b", Verdict::suspect, "1"}, {"c", Verdict::holds, "1"}},
        {{"a", Verdict::exempt, "2"}, {"b", Verdict::suspect, "2"}, {"c", Verdict::invalid, "2"}},
        {{"a", Verdict::holds, "3"}, {"b", Verdict::holds, "3"}, {"c", Verdict::suspect, "3"}}};
    const auto row = worst_of_runs(runs);
    ASSERT_EQ(row.size(), 3u);
    EXPECT_EQ(row[0].reason, "2");
    EXPECT_EQ(row[1].reason, "1") << "the earliest of equals";
    EXPECT_EQ(row[2].reason, "2");
    EXPECT_EQ(worst(row), Verdict::invalid);
    EXPECT_EQ(worst({}), Verdict::holds);
    EXPECT_STREQ(row_verdict(Verdict::suspect), "suspect");
    EXPECT_STREQ(to_string(Verdict::exempt), "exempt");
}

TEST(Gates, ARowAboveTheMachinesCeilingMarksTheCeiling) {
    EXPECT_EQ(judge_machine_ceiling(30'000, 31'000, 0.05).verdict, Verdict::holds);
    EXPECT_EQ(judge_machine_ceiling(30'000, 31'501, 0.05).verdict, Verdict::suspect);
}

TEST(Gates, ThePageNamesEveryGate) {
    std::ostringstream page;
    page << std::ifstream(BENCH_FOLDER "/../docs/gates.md").rdbuf();
    for (const GateResult& result : judge(valid())) {
        EXPECT_NE(page.str().find("| `" + result.id + "` |"), std::string::npos) << result.id;
    }
    EXPECT_NE(page.str().find("`machine_ceiling`"), std::string::npos);
}

}  // namespace
}  // namespace bench::validity
