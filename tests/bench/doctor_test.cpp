#include "bench/validity/doctor.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <set>
#include <sstream>

namespace bench::validity {
namespace {

constexpr std::uint64_t kGibibyte = 1024 * 1024 * 1024;

/// Eight quiet CPUs with everything installed.
MachineFacts fit_machine() {
    MachineFacts facts;
    facts.descriptors_soft = 1024;
    facts.descriptors_hard = 1'048'576;
    facts.wrk_version = "debian/4.1.0-3+b2";
    facts.h2load_version = "nghttp2/1.52.0";
    facts.gnuplot_version = "5.4";
    facts.chart_library = true;
    facts.cpus = {8, std::nullopt};
    facts.other_cpus = 0.1;
    facts.steal_share = 0;
    facts.canaries_s = {0.0200, 0.0201, 0.0202};
    facts.governor = "performance";
    facts.listen_backlog = 4096;
    facts.ports = sample::EphemeralPorts{32'768, 60'999, 12, 10};
    facts.kernel = "6.1.0-18-amd64";
    facts.most_mappings = 262'144;
    facts.automatic_task_groups = true;
    facts.free_memory_bytes = 16 * kGibibyte;
    facts.free_threads = 30'000;
    facts.clock_source = "tsc";
    return facts;
}

using MachineChange = std::function<void(MachineFacts&)>;

struct Ailment {
    std::string check;
    Fitness fitness;
    std::string value;  ///< What is shown of it, at the beginning.
    MachineChange change;
};

void PrintTo(const Ailment& one, std::ostream* stream) {
    *stream << one.check << ", " << one.value;
}

class Doctor : public testing::TestWithParam<Ailment> {};

TEST(DoctorOf, AFitMachine) {
    const auto findings = examine(fit_machine());
    std::set<std::string> checks;
    for (const Finding& one : findings) {
        EXPECT_EQ(one.fitness, Fitness::fit) << one.check << ": " << one.value;
        EXPECT_EQ(one.advice, "") << one.check;
        EXPECT_TRUE(checks.insert(one.check).second) << one.check << " is there twice";
    }
    EXPECT_EQ(exit_status(findings), 0);
}

/// One ailment is one finding, with advice that fits a terminal.
TEST_P(Doctor, FindsIt) {
    MachineFacts facts = fit_machine();
    GetParam().change(facts);
    const auto findings = examine(facts);
    for (const Finding& one : findings) {
        const bool is_it = one.check == GetParam().check;
        EXPECT_EQ(one.fitness, is_it ? GetParam().fitness : Fitness::fit)
            << one.check << ": " << one.value;
        if (is_it) {
            EXPECT_TRUE(one.value.starts_with(GetParam().value)) << one.value;
            EXPECT_TRUE(one.advice.ends_with('.')) << one.advice;
        }
    }
    EXPECT_EQ(exit_status(findings), GetParam().fitness == Fitness::unfit ? 1 : 0);
    std::istringstream lines(to_text(findings));
    for (std::string line; std::getline(lines, line);) {
        EXPECT_LE(line.size(), 120u) << line;
    }
}

constexpr auto kLimited = Fitness::limited;
constexpr auto kUnfit = Fitness::unfit;

const Ailment kAilments[] = {
    {"wrk", kUnfit, "not installed", [](MachineFacts& f) { f.wrk_version = ""; }},
    {"wrk", kUnfit, "4.0.2", [](MachineFacts& f) { f.wrk_version = "4.0.2"; }},
    {"wrk", kLimited, "a211dd5", [](MachineFacts& f) { f.wrk_version = "a211dd5"; }},
    {"h2load", kLimited, "not installed", [](MachineFacts& f) { f.h2load_version = ""; }},
    {"gnuplot", kLimited, "not installed", [](MachineFacts& f) { f.gnuplot_version = ""; }},
    {"Chart.js", kLimited, "not installed", [](MachineFacts& f) { f.chart_library = false; }},
    {"descriptors", kLimited, "soft 1024, hard 16099: up to 7999 connections",
     [](MachineFacts& f) { f.descriptors_hard = 16'099; }},
    {"descriptors", kUnfit, "soft 1024, hard 2099: up to 999 connections",
     [](MachineFacts& f) { f.descriptors_hard = 2099; }},
    {"descriptors", kUnfit, "soft 1024, hard 64: up to 0 connections",
     [](MachineFacts& f) { f.descriptors_hard = 64; }},
    {"threads", kLimited, "room for 1299", [](MachineFacts& f) { f.free_threads = 1299; }},
    {"threads", kUnfit, "room for 299", [](MachineFacts& f) { f.free_threads = 299; }},
    {"free memory", kLimited, "1.0 GiB", [](MachineFacts& f) { f.free_memory_bytes = kGibibyte; }},
    {"free memory", kUnfit, "0.4 GiB",
     [](MachineFacts& f) { f.free_memory_bytes = 400 * 1024 * 1024; }},
    {"CPUs", kLimited, "2",
     [](MachineFacts& f) {
         f.cpus.affinity = 2;
         f.other_cpus = 0;
     }},
    {"CPUs", kLimited, "1",
     [](MachineFacts& f) {
         f.cpus.affinity = 1;
         f.other_cpus = 0;
     }},
    {"CPU quota", kLimited, "4.50 of 8", [](MachineFacts& f) { f.cpus.quota = 4.5; }},
    {"other load", kLimited, "1.00 CPUs", [](MachineFacts& f) { f.other_cpus = 1; }},
    {"other load", kUnfit, "5.00 CPUs", [](MachineFacts& f) { f.other_cpus = 5; }},
    {"steal", kLimited, "2.0 %", [](MachineFacts& f) { f.steal_share = 0.02; }},
    {"steal", kUnfit, "11.0 %", [](MachineFacts& f) { f.steal_share = 0.11; }},
    {"canary jitter", kLimited, "15.0 % of 20.0 ms",
     [](MachineFacts& f) {
         f.canaries_s = {0.020, 0.023, 0.020};
     }},
    {"canary jitter", kUnfit, "100.0 % of 20.0 ms",
     [](MachineFacts& f) {
         f.canaries_s = {0.020, 0.040, 0.020};
     }},
    {"governor", kLimited, "powersave", [](MachineFacts& f) { f.governor = "powersave"; }},
    {"governor", kLimited, "unknown", [](MachineFacts& f) { f.governor = "unknown"; }},
    {"clock source", kLimited, "hpet", [](MachineFacts& f) { f.clock_source = "hpet"; }},
    {"somaxconn", kLimited, "128", [](MachineFacts& f) { f.listen_backlog = 128; }},
    {"ephemeral ports", kLimited, "12232 free, 16000 in TIME_WAIT",
     [](MachineFacts& f) { f.ports->used = f.ports->time_wait = 16'000; }},
    {"ephemeral ports", kUnfit, "0 free",
     [](MachineFacts& f) { f.ports->used = f.ports->time_wait = 28'232; }},
    {"automatic task groups", kLimited, "off",
     [](MachineFacts& f) { f.automatic_task_groups = false; }},
    {"stack guards", kLimited, "by mappings, of which 65530",
     [](MachineFacts& f) { f.most_mappings = 65'530; }},

    {"descriptors", kLimited, "unknown", [](MachineFacts& f) { f.descriptors_hard.reset(); }},
    {"threads", kLimited, "unknown", [](MachineFacts& f) { f.free_threads.reset(); }},
    {"free memory", kLimited, "unknown", [](MachineFacts& f) { f.free_memory_bytes.reset(); }},
    {"other load", kLimited, "unknown", [](MachineFacts& f) { f.other_cpus.reset(); }},
    {"steal", kLimited, "unknown", [](MachineFacts& f) { f.steal_share.reset(); }},
    {"canary jitter", kLimited, "unknown", [](MachineFacts& f) { f.canaries_s.clear(); }},
    {"clock source", kLimited, "unknown", [](MachineFacts& f) { f.clock_source = ""; }},
    {"somaxconn", kLimited, "unknown", [](MachineFacts& f) { f.listen_backlog.reset(); }},
    {"ephemeral ports", kLimited, "unknown", [](MachineFacts& f) { f.ports.reset(); }},
    {"automatic task groups", kLimited, "unknown",
     [](MachineFacts& f) { f.automatic_task_groups.reset(); }},
    {"stack guards", kLimited, "unknown", [](MachineFacts& f) { f.most_mappings.reset(); }},
};

INSTANTIATE_TEST_SUITE_P(Of, Doctor, testing::ValuesIn(kAilments));

TEST(DoctorOf, ANewKernelNeedsFewMappings) {
    MachineFacts facts = fit_machine();
    facts.most_mappings = 65'530;
    for (const auto& [kernel, fitness] : {std::pair{"6.13.0", Fitness::fit},
                                          {"7.0.1", Fitness::fit},
                                          {"6.12.9-amd64", kLimited},
                                          {"5.19.0", kLimited}}) {
        facts.kernel = kernel;
        const auto findings = examine(facts);
        EXPECT_EQ(std::ranges::find(findings, "stack guards", &Finding::check)->fitness, fitness)
            << kernel;
    }
}

TEST(DoctorOf, NoDescriptorLimit) {
    MachineFacts facts = fit_machine();
    facts.descriptors_hard = UINT64_MAX;
    const auto findings = examine(facts);
    EXPECT_EQ(std::ranges::find(findings, "descriptors", &Finding::check)->value, "no limit");
    EXPECT_EQ(exit_status(findings), 0);
}

TEST(DoctorOf, NothingKnownIsNeverFit) {
    for (const Finding& one : examine({})) {
        const bool is_known = one.check == "CPU quota" || one.check == "CPUs";
        EXPECT_TRUE(is_known || one.fitness != Fitness::fit) << one.check;
    }
}

TEST(DoctorOf, TextIsAligned) {
    EXPECT_EQ(to_text({{"wrk", "4.1", Fitness::fit, ""},
                       {"somaxconn", "128", Fitness::limited, "Raise it."},
                       {"steal", "20 %", Fitness::unfit, "Move."}}),
              "fit      wrk        4.1\n"
              "limited  somaxconn  128\n"
              "         Raise it.\n"
              "unfit    steal      20 %\n"
              "         Move.\n");
}

TEST(DoctorOf, ThisMachine) {
    const MachineFacts facts = look_at_machine();
    EXPECT_TRUE(facts.descriptors_hard);
    EXPECT_FALSE(facts.kernel.empty());
    EXPECT_FALSE(facts.canaries_s.empty());
    EXPECT_GE(facts.cpus.usable(), 0.01);
    EXPECT_EQ(facts.wrk_version.find('\n'), std::string::npos);
    EXPECT_FALSE(to_text(examine(facts)).empty());
}

}  // namespace
}  // namespace bench::validity
