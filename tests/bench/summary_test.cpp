#include "bench/report/summary.hpp"

#include <gtest/gtest.h>

#include "bench/report/table.hpp"

using namespace bench;
using namespace bench::report;
using nlohmann::json;

namespace {

Experiment experiment() {
    Experiment result;
    result.id = "wait";
    result.title = "GET /wait";
    result.stub = {"downstream_stub"};
    result.wait_s = 0.020;
    result.published_machine = "an M2";
    result.published_rows = json::parse(
        R"([{"id": "wait-1", "system": "Java, pool of 200", "rps": 9850, "p50_ms": 101.2}])");
    Row pool, cold, raw;
    for (Row* row : {&pool, &cold, &raw}) {
        row->request.path = "/wait";
        row->wait_s = 0.020;
        row->load.connections = 1000;
        row->load.duration = std::chrono::seconds(10);
        row->load.runs = 3;
    }
    pool.id = "pool";
    pool.command = {"server_thread_pool", "--threads", "{threads}"};
    pool.scale["threads"] = 200;
    pool.predict = {.rule = Rule::pool, .servers = "threads"};
    pool.published = {"wait-1"};
    cold.id = "cold";
    cold.command = {"server_sync_over_async"};
    cold.predict = {.rule = Rule::injected};
    cold.cold = true;
    cold.load.runs = 1;
    raw.id = "raw";
    raw.command = {"raw_epoll_relay"};
    raw.ceiling = true;
    result.rows = {pool, cold, raw};
    return result;
}

Run run(const std::string& row, double rate, int threads) {
    Run result;
    result.row = row;
    result.measured = true;
    result.facts.duration_s = 10;
    result.facts.requests = static_cast<std::uint64_t>(rate * 10);
    result.threads = threads;
    result.server_cpu_s = 5;
    return result;
}

json summary(const std::vector<Run>& runs, bool server_is_alone = false) {
    return summarize(
        experiment(), runs,
        {.stub_median_s = 0.020, .cpus = 2, .server_is_alone = server_is_alone, .peaks = {}});
}

const std::vector<Run> kRuns = {run("pool", 9000, 201), run("pool", 9500, 203),
                                run("pool", 9400, 202), run("cold", 0, 51), run("raw", 40'000, 1)};

const json& row(const json& summary, const std::string& id) {
    for (const json& one : summary["rows"]) {
        if (one["id"] == id) {
            return one;
        }
    }
    throw std::runtime_error("no row " + id);
}

TEST(Summary, IsTheMedianOfTheRuns) {
    const json result = summary(kRuns);
    const json& pool = row(result, "pool");
    EXPECT_DOUBLE_EQ(pool["rps"], 9400);
    EXPECT_DOUBLE_EQ(pool["rps_low"], 9000);
    EXPECT_DOUBLE_EQ(pool["rps_high"], 9500);
    EXPECT_EQ(pool["runs"], 3);
    EXPECT_EQ(pool["os_threads_peak"], 202);
    EXPECT_FALSE(pool.contains("rps_interval")) << "three runs have none";
    EXPECT_EQ(pool["label"], "thread_pool --threads 200");
}

TEST(Summary, PredictsFromTheRuleAndComparesWithBothCeilings) {
    const json result = summary(kRuns);
    const json& pool = row(result, "pool");
    EXPECT_DOUBLE_EQ(pool["predicted"]["value"], 10'000);
    EXPECT_NEAR(pool["difference"].get<double>(), -0.06, 1e-12);
    EXPECT_EQ(pool["limited_by"], "pool");
    EXPECT_DOUBLE_EQ(pool["share_of_machine_ceiling"], 9400.0 / 40'000);
    EXPECT_DOUBLE_EQ(pool["share_of_arithmetic_ceiling"], 9400.0 / 50'000);
    EXPECT_DOUBLE_EQ(result["machine_ceiling_rps"], 40'000);
    EXPECT_EQ(result["machine_ceiling_row"], "raw");
}

TEST(Summary, ARowWithoutOneAnswerIsAResult) {
    const json result = summary(kRuns);
    const json& cold = row(result, "cold");
    EXPECT_DOUBLE_EQ(cold["rps"], 0);
    EXPECT_FALSE(cold["answered"]);
    EXPECT_FALSE(cold.contains("p50_ms"));
    EXPECT_DOUBLE_EQ(cold["predicted"]["value"], 0);
    EXPECT_EQ(cold["limited_by"], "starved");
    EXPECT_NEAR(cold["take_off_predicted_s"].get<double>(), 247, 3);
}

TEST(Summary, WhatWasNotMeasuredIsNotRun) {
    bench::Run failed;
    failed.row = "pool";
    failed.problems = {"there is no program server_thread_pool"};
    const json result = summary({failed});
    EXPECT_EQ(row(result, "pool")["verdict"], "not run");
    EXPECT_FALSE(row(result, "pool").contains("rps"));
    EXPECT_EQ(row(result, "pool")["problems"][0], failed.problems[0]);
}

TEST(Summary, ARowOfWhichARunFailedIsSuspect) {
    auto runs = kRuns;
    bench::Run failed;
    failed.row = "pool";
    failed.problems = {"it printed no listening line"};
    runs.push_back(failed);
    const json result = summary(runs);
    const json& pool = row(result, "pool");
    EXPECT_EQ(pool["verdict"], "suspect");
    EXPECT_EQ(pool["gates"][0]["reason"],
              "3 of 4 runs were measured; of another: it printed no listening line");
    EXPECT_DOUBLE_EQ(pool["rps"], 9400);
}

TEST(Summary, OfAServerThatOnlyAnswersNothingElseIsKnown) {
    auto runs = kRuns;
    for (bench::Run& one : runs) {
        one.threads = 0;
    }
    const json result = summary(runs);
    for (const char* member : {"os_threads_peak", "rss_bytes_peak", "server_cpu_us_per_request",
                               "context_switches_per_request"}) {
        EXPECT_FALSE(row(result, "pool").contains(member)) << member;
    }
    EXPECT_TRUE(row(result, "pool").contains("load_cpu_us_per_request"));
}

TEST(Summary, OneDisturbedRunDoesNotMakeTheLoadTheLimit) {
    auto runs = kRuns;
    runs[0].load_cpu_s = 9.9;
    EXPECT_EQ(row(summary(runs), "pool")["limited_by"], "pool");
    runs[1].load_cpu_s = 9.9;
    EXPECT_EQ(row(summary(runs), "pool")["limited_by"], "load");
}

TEST(Summary, TheWorstGateOfAllRunsIsTheRows) {
    auto runs = kRuns;
    runs[1].gates = {{"socket_errors", validity::Verdict::invalid, "3 socket errors."}};
    EXPECT_EQ(row(summary(runs), "pool")["verdict"], "invalid");
    EXPECT_EQ(row(summary(runs), "raw")["verdict"], "valid");
}

TEST(Summary, FiveRunsHaveAnInterval) {
    std::vector<bench::Run> runs;
    for (const double rate : {9000.0, 9100.0, 9200.0, 9300.0, 9400.0}) {
        runs.push_back(run("pool", rate, 200));
    }
    const json result = summary(runs);
    const json& interval = row(result, "pool")["rps_interval"];
    EXPECT_GE(interval[0], 9000);
    EXPECT_LE(interval[1], 9400);
    EXPECT_LE(interval[0], interval[1]);
}

TEST(Summary, ABurstIsComparedByItsWallTime) {
    Experiment burst = experiment();
    burst.stub.clear();
    burst.wait_s = 0.3;
    for (Row& one : burst.rows) {
        one.wait_s = 0.3;
        one.load.kind = LoadKind::burst;
        one.load.requests = one.load.connections = 600;
    }
    bench::Run pool = run("pool", 480, 200);
    pool.wall_s = 1.25;
    pool.facts.requests = 600;
    pool.server_cpu_s = 600 * 100e-6;
    const json result = summarize(burst, {pool}, {.stub_median_s = 0, .cpus = 2, .peaks = {}});
    EXPECT_EQ(result["figure"], "wall");
    EXPECT_DOUBLE_EQ(row(result, "pool")["wall_s"], 1.25);
    EXPECT_DOUBLE_EQ(row(result, "pool")["predicted"]["value"], 0.91)
        << "three waves and the work of one";
}

TEST(Summary, ABurstOfWorkIsPredictedFromTheCalibration) {
    Experiment burst = experiment();
    burst.stub.clear();
    burst.rows.resize(1);
    Row& row = burst.rows[0];
    row.load.kind = LoadKind::burst;
    row.load.requests = row.load.connections = 60;
    row.predict = {.rule = Rule::cpu, .cpu_iterations = 20'000};
    const json known = summarize(burst, {}, {.cpus = 2, .cpu_iterations = 80'000, .peaks = {}});
    EXPECT_DOUBLE_EQ(known["rows"][0]["predicted"]["value"], 60 * 0.005 / 2);
    const json unknown = summarize(burst, {}, {.cpus = 2, .peaks = {}});
    EXPECT_FALSE(unknown["rows"][0].contains("predicted"));
}

TEST(Summary, AServerWithCpusOfItsOwnIsLimitedByItsOwnWorkOnly) {
    auto runs = kRuns;
    for (bench::Run& one : runs) {
        one.load_cpu_s = one.stub_cpu_s = 8.5;
    }
    EXPECT_EQ(row(summary(runs), "pool")["limited_by"], "CPU");
    EXPECT_EQ(row(summary(runs, true), "pool")["limited_by"], "pool");
}

TEST(Summary, AFullStubIsTheLimit) {
    auto runs = kRuns;
    runs[0].stub_cpu_s = runs[1].stub_cpu_s = 9.5;
    EXPECT_EQ(row(summary(runs), "pool")["limited_by"], "stub");
}

TEST(Table, ShowsPublishedRowsAndWhyThereIsNoAnswer) {
    const std::string text = table(summary(kRuns), {{"cpus", 2}}, true);
    EXPECT_NE(text.find("9,400"), std::string::npos) << text;
    EXPECT_NE(text.find("  Java, pool of 200"), std::string::npos) << text;
    EXPECT_NE(text.find("9,850"), std::string::npos) << text;
    EXPECT_NE(text.find("10,000 pool"), std::string::npos) << text;
    EXPECT_NE(text.find("Why sync_over_async (cold start) shows 0"), std::string::npos) << text;
    EXPECT_EQ(table(summary(kRuns), {{"cpus", 2}}, false).find("9,850"), std::string::npos);
}

TEST(Table, SaysWhenTheCeilingIsNone) {
    EXPECT_EQ(table(summary(kRuns), {{"cpus", 2}}, true).find("It is no ceiling"),
              std::string::npos);
    auto runs = kRuns;
    runs.back().facts.requests = 50'000;
    const std::string text = table(summary(runs), {{"cpus", 2}}, true);
    EXPECT_NE(text.find("It is no ceiling here"), std::string::npos) << text;
}

TEST(Table, SaysOnWhichCpusTheProgramsWereKept) {
    const std::string text = table(summary(kRuns), {{"cpus", 1}, {"pin", "server=0,stub=1"}}, true);
    EXPECT_NE(text.find("1 CPU; programs kept on CPUs server=0,stub=1"), std::string::npos) << text;
}

TEST(Table, MarksWhatIsNotToBeBelieved) {
    auto runs = kRuns;
    runs[0].gates = {{"socket_errors", validity::Verdict::invalid, "3 socket errors."}};
    const std::string text = table(summary(runs), {{"cpus", 2}}, false);
    EXPECT_NE(text.find("! thread_pool --threads 200"), std::string::npos) << text;
    EXPECT_NE(text.find("3 socket errors."), std::string::npos) << text;
}

TEST(Numbers, HaveCommas) {
    EXPECT_EQ(with_commas(0), "0");
    EXPECT_EQ(with_commas(999), "999");
    EXPECT_EQ(with_commas(47'300), "47,300");
    EXPECT_EQ(with_commas(1'234'567.25, 2), "1,234,567.25");
    EXPECT_EQ(with_commas(-1'000), "-1,000");
}

}  // namespace
