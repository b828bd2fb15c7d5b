#include "bench/report/claims.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

using bench::report::judge_claims;
using nlohmann::json;

namespace {

json experiment() {
    return json::parse(R"({
        "id": "wait", "arithmetic_ceiling_rps": 50000,
        "rows": [
          {"id": "pool", "rps": 9500, "connections": 1000, "p50_ms": 105,
           "rss_bytes_peak": 20000000, "first_response_s": 0.004,
           "limited_by": "pool", "verdict": "valid",
           "predicted": {"figure": "rate", "value": 10000}},
          {"id": "fibers", "rps": 30000, "connections": 1000, "limited_by": "CPU",
           "verdict": "suspect", "predicted": {"figure": "rate", "value": 50000}},
          {"id": "silent", "rps": 0, "connections": 1000, "answered": false, "verdict": "valid"},
          {"id": "unfair", "rps": 9000, "verdict": "invalid",
           "gates": [{"id": "errors", "verdict": "holds", "reason": "0"},
                     {"id": "fairness", "verdict": "invalid", "reason": "3 got no answer"}]},
          {"id": "burst", "wall_s": 1.25, "verdict": "valid",
           "predicted": {"figure": "wall", "value": 0.9}},
          {"id": "pool@0.5", "rps": 5000, "verdict": "valid"},
          {"id": "absent", "verdict": "not run"}],
        "published_rows": [{"id": "wait-1", "rps": 9850}],
        "runs": [
          {"row": "silent", "duration_s": 30,
           "samples": [{"t_s": 0.5, "threads": 10}, {"t_s": 10, "threads": 50},
                       {"t_s": 20.5, "threads": 90}]},
          {"row": "pool", "duration_s": 6, "samples": []}]})");
}

json other() {
    return json::parse(R"({"id": "echo", "rows": [
        {"id": "pool", "rps": 19000, "verdict": "valid"},
        {"id": "busy", "rps": 9000, "verdict": "suspect"},
        {"id": "full", "rps": 9000, "verdict": "valid", "limited_by": "load"}]})");
}

const json kPublishedClaims =
    json::parse(R"([{"id": "capped", "says": "It is capped", "published": "9,850 of 10,000"}])");

json judge(const json& claim) {
    const json of = experiment();
    return judge_claims(json::array({claim}), of, json::array({of, other()}), kPublishedClaims)
        .at(0);
}

/// The claim of one condition.
json judge_condition(const char* condition) {
    return judge({{"id", "capped"}, {"when", json::array({json::parse(condition)})}});
}

TEST(Claims, OneThatHolds) {
    const json claim = judge_condition(
        R"({"value": "pool.rps", "over": "pool.predicted", "at_least": 0.9, "at_most": 1.05})");
    const json expected = {{"id", "capped"},
                           {"says", "It is capped"},
                           {"published", "9,850 of 10,000"},
                           {"check", "pool.rps / pool.predicted between 0.9 and 1.05"},
                           {"ours", "9,500 of 10,000 (0.95)"},
                           {"verdict", "holds"},
                           {"reason", ""}};
    EXPECT_EQ(claim, expected);
}

TEST(Claims, OneThatDoesNotHoldSaysWhichConditionFailed) {
    const json claim = judge(json::parse(R"({"id": "capped", "when": [
        {"value": "pool.p50_ms", "at_least": 100},
        {"value": "pool.rps", "over": "arithmetic_ceiling_rps", "at_least": 0.94}]})"));
    EXPECT_EQ(claim["verdict"], "does not hold");
    EXPECT_EQ(claim["check"],
              "pool.p50_ms at least 100 and pool.rps / arithmetic_ceiling_rps at least 0.94");
    EXPECT_EQ(claim["ours"], "105 ms; 9,500 of 50,000 (0.19)");
    EXPECT_EQ(claim["reason"], "pool.rps / arithmetic_ceiling_rps is 0.19, not at least 0.94");
}

TEST(Claims, BothBoundsCountAndAreInside) {
    EXPECT_EQ(judge_condition(R"({"value": "pool.rps", "at_most": 9500})")["verdict"], "holds");
    EXPECT_EQ(judge_condition(R"({"value": "pool.rps", "at_most": 9499})")["verdict"],
              "does not hold");
    EXPECT_EQ(judge_condition(R"({"value": "pool.rps", "at_least": 9500})")["verdict"], "holds");
    EXPECT_EQ(judge_condition(R"({"value": "pool.rps", "at_least": 9501})")["verdict"],
              "does not hold");
}

TEST(Claims, EachKindOfReference) {
    const std::map<std::string, std::string> shown = {{R"("pool.rps")", "9,500"},
                                                      {R"("pool.first_response_s")", "4 ms"},
                                                      {R"("pool.rss_bytes_peak")", "20 MB"},
                                                      {R"("burst.wall_s")", "1.25 s"},
                                                      {R"("burst.predicted")", "900 ms"},
                                                      {R"("fibers.predicted")", "50,000"},
                                                      {R"("pool@0.5.rps")", "5,000"},
                                                      {R"("pool.little_ms")", "105 ms"},
                                                      {R"("silent.threads_per_s")", "4"},
                                                      {R"("echo/pool.rps")", "19,000"},
                                                      {R"("published/wait-1.rps")", "9,850"},
                                                      {R"("arithmetic_ceiling_rps")", "50,000"},
                                                      {"400", "400"}};
    for (const auto& [reference, expected] : shown) {
        const json claim =
            judge_condition((R"({"value": )" + reference + R"(, "at_least": 0})").c_str());
        EXPECT_EQ(claim["ours"], expected) << reference;
        EXPECT_EQ(claim["verdict"], "holds") << reference << ": " << claim["reason"];
    }
}

TEST(Claims, WithoutAValueOneCannotBeTested) {
    const std::map<std::string, std::string> why = {
        {"nowhere.rps", "nowhere was not run"},
        {"absent.rps", "absent was not run"},
        {"unfair.rps", "unfair is invalid: 3 got no answer"},
        {"pool.p99_ms", "pool has no p99_ms"},
        {"unfair.predicted", "unfair is invalid: 3 got no answer"},
        {"silent.predicted", "nothing is predicted for silent"},
        {"silent.little_ms", "all that is known"},
        {"pool.threads_per_s", "the threads of pool were not sampled"},
        {"sleep/pool.rps", "the experiment sleep was not run with this one"},
        {"published/wait-2.rps", "wait-2 was not run"},
        {"published/wait-1.p99_ms", "wait-1 has no p99_ms"}};
    for (const auto& [reference, expected] : why) {
        for (const char* side : {"value", "over"}) {
            json condition = {{"value", "pool.rps"}, {"at_most", 1e9}};
            condition[side] = reference;
            const json claim = judge({{"id", "capped"}, {"when", json::array({condition})}});
            EXPECT_EQ(claim["verdict"], "cannot be tested") << reference;
            if (reference != "silent.little_ms") {
                EXPECT_EQ(claim["reason"], expected) << reference;
            }
        }
    }
    EXPECT_EQ(judge({{"id", "capped"}})["verdict"], "cannot be tested");
}

TEST(Claims, NothingIsDividedByZero) {
    const json claim = judge_condition(R"({"value": "pool.rps", "over": "silent.rps",
                                           "at_least": 1})");
    EXPECT_EQ(claim["verdict"], "cannot be tested");
    EXPECT_EQ(claim["reason"], "silent.rps is nothing to compare with: 0");
}

TEST(Claims, WhoGotNoAnswerWaitedLongerThanTheRun) {
    const json longer = judge_condition(R"({"value": "silent.p99_ms", "at_least": 1000})");
    EXPECT_EQ(longer["verdict"], "holds");
    EXPECT_EQ(longer["ours"], "no answer in 30,000 ms");
    EXPECT_EQ(judge_condition(R"({"value": "silent.p99_ms", "at_most": 1000})")["verdict"],
              "does not hold");
    for (const char* unknown : {R"({"value": "silent.p99_ms", "at_least": 60000})",
                                R"({"value": "silent.p99_ms", "at_most": 60000})"}) {
        EXPECT_EQ(judge_condition(unknown)["verdict"], "cannot be tested") << unknown;
    }
}

TEST(Claims, WhatTheMachineLimitsCannotBeTested) {
    json claim = json::parse(R"({"id": "capped", "cpu_must_not_limit": ["pool", "fibers"],
        "when": [{"value": "fibers.rps", "over": "arithmetic_ceiling_rps", "at_least": 0.94}]})");
    json judged = judge(claim);
    EXPECT_EQ(judged["verdict"], "cannot be tested");
    EXPECT_EQ(judged["reason"], "on this machine the CPUs limit fibers; fibers is suspect");
    EXPECT_EQ(judged["ours"], "30,000 of 50,000 (0.6)");
    claim["cpu_must_not_limit"] = {"pool"};
    judged = judge(claim);
    EXPECT_EQ(judged["verdict"], "does not hold");
    EXPECT_EQ(judged["reason"],
              "fibers.rps / arithmetic_ceiling_rps is 0.6, not at least 0.94; fibers is suspect");
}

TEST(Claims, SuspectRowsOfOtherExperimentsAreNamed) {
    const json claim =
        judge_condition(R"({"value": "pool.rps", "over": "echo/busy.rps", "at_least": 1})");
    EXPECT_EQ(claim["verdict"], "holds");
    EXPECT_EQ(claim["reason"], "echo/busy is suspect");
}

TEST(Claims, WhatTheLoadGeneratorLimitsCannotBeTested) {
    const json claim =
        judge_condition(R"({"value": "pool.rps", "over": "echo/full.rps", "at_least": 1})");
    EXPECT_EQ(claim["verdict"], "cannot be tested");
    EXPECT_EQ(claim["reason"], "on this machine the load generator limits echo/full");
}

TEST(Claims, OneThatNothingHereCanTestShowsItsFiguresAllTheSame) {
    const json claim = judge(json::parse(R"({"id": "ours", "says": "s", "published": "p",
        "cannot_be_tested": "other programs",
        "when": [{"value": "pool.rps", "at_least": 1}]})"));
    EXPECT_EQ(claim["verdict"], "cannot be tested");
    EXPECT_EQ(claim["reason"], "other programs");
    EXPECT_EQ(claim["ours"], "9,500");
    EXPECT_EQ(claim["says"], "s");
    EXPECT_EQ(claim["published"], "p");
}

// The files themselves.

json read_json(const std::filesystem::path& file) {
    std::ifstream stream(file);
    return json::parse(stream);
}

json published() {
    return read_json(std::filesystem::path(BENCH_FOLDER) / "published.json")["experiments"];
}

std::map<std::string, json> files() {
    std::map<std::string, json> result;
    const auto folder = std::filesystem::path(BENCH_FOLDER) / "experiments";
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        result[entry.path().stem().string()] = read_json(entry.path());
    }
    return result;
}

std::set<std::string> ids(const json& list) {
    std::set<std::string> result;
    for (const json& entry : list) {
        EXPECT_TRUE(result.insert(entry.at("id").get<std::string>()).second) << entry["id"];
    }
    return result;
}

const json& member_or_nothing(const json& object, const char* key) {
    static const json nothing = json::array();
    return object.contains(key) ? object[key] : nothing;
}

TEST(ExperimentFiles, ThirteenOfThem) {
    std::set<std::string> names;
    for (const auto& [name, file] : files()) {
        EXPECT_EQ(file["id"], name);
        names.insert(name);
    }
    EXPECT_EQ(names, (std::set<std::string>{"burst-cpu", "burst-io", "cpu", "echo", "pinning",
                                            "pool-size", "rate", "sleep", "startup", "starvation",
                                            "sweep", "tasks", "wait"}));
}

TEST(ExperimentFiles, EveryPublishedClaimAndRowStandsInTheFileOfItsExperiment) {
    const auto all = files();
    std::size_t claims = 0;
    for (const json& experiment : published()) {
        const auto file = all.find(experiment["id"].get<std::string>());
        ASSERT_NE(file, all.end()) << experiment["id"];
        EXPECT_EQ(file->second["published"], experiment["id"]);
        EXPECT_EQ(ids(file->second["claims"]), ids(experiment["claims"])) << file->first;
        claims += experiment["claims"].size();
        std::set<std::string> shown;
        for (const json& row : file->second["rows"]) {
            for (const json& id : member_or_nothing(row, "published")) {
                EXPECT_TRUE(shown.insert(id.get<std::string>()).second) << id << " twice";
            }
        }
        EXPECT_EQ(shown, ids(experiment["rows"])) << file->first;
    }
    EXPECT_EQ(claims, 27u);
}

TEST(ExperimentFiles, OnlyPublishedTablesHaveClaims) {
    for (const auto& [name, file] : files()) {
        EXPECT_EQ(file.contains("published"), file.contains("claims")) << name;
    }
}

/// Whether a reference names something that the files or published.json have.
bool is_known(const std::string& reference, const std::string& own,
              const std::map<std::string, std::set<std::string>>& rows) {
    if (reference == "arithmetic_ceiling_rps") {
        return true;
    }
    static const std::set<std::string> members = {
        "rps",           "p50_ms",           "p90_ms",          "p99_ms",         "max_ms",
        "wall_s",        "first_response_s", "os_threads_peak", "rss_bytes_peak", "predicted",
        "threads_per_s", "little_ms"};
    const std::size_t point = reference.rfind('.');
    if (point == std::string::npos || !members.contains(reference.substr(point + 1))) {
        return false;
    }
    const std::size_t slash = reference.find('/');
    const bool elsewhere = slash != std::string::npos;
    const std::size_t begin = elsewhere ? slash + 1 : 0;
    const auto where = rows.find(elsewhere ? reference.substr(0, slash) : own);
    return where != rows.end() && where->second.contains(reference.substr(begin, point - begin));
}

TEST(ExperimentFiles, EveryReferenceOfAClaimNamesARow) {
    const auto all = files();
    std::map<std::string, std::set<std::string>> rows;
    for (const auto& [name, file] : all) {
        rows[name] = ids(file["rows"]);
    }
    for (const json& experiment : published()) {
        rows["published"].merge(ids(experiment["rows"]));
    }
    for (const auto& [name, file] : all) {
        for (const json& claim : member_or_nothing(file, "claims")) {
            EXPECT_TRUE(claim.contains("when") || claim.contains("cannot_be_tested"))
                << claim["id"];
            for (const json& condition : member_or_nothing(claim, "when")) {
                EXPECT_TRUE(condition.contains("at_least") || condition.contains("at_most"));
                for (const char* side : {"value", "over"}) {
                    const json& reference = member_or_nothing(condition, side);
                    EXPECT_TRUE(!reference.is_string() || is_known(reference, name, rows))
                        << name << ": " << reference;
                }
            }
            for (const json& id : member_or_nothing(claim, "cpu_must_not_limit")) {
                EXPECT_TRUE(rows[name].contains(id)) << name << ": " << id;
            }
        }
    }
}

/// The published figures themselves, put through the checks: what each document says of its own
/// table holds there, but for what it states and its table contradicts.
TEST(ExperimentFiles, PublishedFiguresMeetTheChecksOfTheWaitTable) {
    const json file = files()["wait"];
    json of = {{"id", "wait"},
               {"arithmetic_ceiling_rps", 50'000},
               {"rows", json::array()},
               {"runs", json::array()}};
    const json rows = published().at(0).at("rows");
    for (const json& row : file["rows"]) {
        for (const json& id : member_or_nothing(row, "published")) {
            json measured = *std::ranges::find(rows, id, [](const json& r) { return r["id"]; });
            measured["id"] = row["id"];
            measured["connections"] = 1000;
            measured["predicted"] = {{"figure", "rate"}, {"value", 10'000}};
            measured["rss_bytes_peak"] = measured["rss_mb"].get<double>() * 1e6;
            of["rows"].push_back(measured);
        }
    }
    of["runs"].push_back(
        {{"row", "sync_over_async"},
         {"samples", {{{"t_s", 0}, {"threads", 8}}, {{"t_s", 30}, {"threads", 312}}}}});
    std::map<std::string, std::string> verdicts;
    for (const json& claim :
         judge_claims(file["claims"], of, json::array({of}), published().at(0)["claims"])) {
        verdicts[claim["id"]] = claim["verdict"];
    }
    EXPECT_EQ(verdicts, (std::map<std::string, std::string>{{"pool-capped", "holds"},
                                                            {"pool-queues", "holds"},
                                                            {"same-code", "holds"},
                                                            {"native-beats-retrofit", "holds"},
                                                            {"soa-worse", "holds"},
                                                            {"soa-injection", "does not hold"},
                                                            {"same-place", "holds"},
                                                            {"memory-order", "cannot be tested"}}));
}

}  // namespace
