#include "bench/experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

#include "bench/profile.hpp"

using namespace bench;
using namespace std::chrono_literals;
using nlohmann::json;

namespace {

json valid() {
    return json::parse(R"({
        "id": "mine", "title": "t", "stub": ["downstream_stub"], "wait_ms": 20,
        "request": {"path": "/wait"},
        "load": {"kind": "closed", "connections": 1000, "duration_s": 30, "warm_up_s": 10,
                 "runs": 5},
        "rows": [{"id": "a", "command": ["server_thread_pool", "--threads", "{threads}"],
                  "scale": {"threads": 200},
                  "predict": {"rule": "pool", "servers": "threads"}}]})");
}

const json kPublished =
    json::parse(R"({"experiments": [{"id": "wait", "rows": [{"id": "wait-1", "system": "s"}]}]})");

Experiment read(const json& document) {
    return read_experiment(document, kPublished, "mine.json");
}

/// What is said of a file in which this was changed.
template <class Change>
std::string complaint(Change change) {
    json document = valid();
    change(document);
    try {
        read(document);
    } catch (const ExperimentError& error) {
        return error.what();
    }
    return {};
}

bool mentions(const std::string& sentence, std::initializer_list<const char*> parts) {
    return std::ranges::all_of(
        parts, [&](const char* part) { return sentence.find(part) != std::string::npos; });
}

Experiment applied(const json& document, Profile profile, double factor = 1,
                   const Overrides& overrides = {}) {
    Experiment experiment = read(document);
    apply_profile(experiment, profile, factor, 2, overrides);
    return experiment;
}

TEST(ExperimentFile, IsRead) {
    const Experiment experiment = read(valid());
    EXPECT_EQ(experiment.id, "mine");
    EXPECT_DOUBLE_EQ(experiment.wait_s, 0.020);
    const Row& row = experiment.rows.at(0);
    EXPECT_EQ(row.load.connections, 1000);
    EXPECT_EQ(row.load.duration, 30s);
    EXPECT_EQ(row.request.path, "/wait");
    EXPECT_EQ(substituted(row, row.command.at(2), 2), "200");
    EXPECT_EQ(servers_of(row, 2), 200);
}

TEST(ExperimentFile, EveryOneOfTheSuiteIsRead) {
    const auto experiments =
        read_experiments(BENCH_FOLDER "/experiments", BENCH_FOLDER "/published.json");
    EXPECT_EQ(experiments.size(), 13u);
    EXPECT_EQ(experiments.front().id, "wait") << "in the order in which they were published";
    EXPECT_EQ(experiments.back().id, "sweep");
    for (Experiment experiment : experiments) {
        SCOPED_TRACE(experiment.id);
        apply_profile(experiment, Profile::quick, 1, 2, {});
        EXPECT_FALSE(experiment.rows.empty());
        EXPECT_GT(time_of(experiment, 2), 0s);
    }
}

TEST(ExperimentFile, AnUnknownKeyIsNamedWithWhatIsAllowed) {
    EXPECT_TRUE(mentions(complaint([](json& file) { file["lode"] = 1; }),
                         {"mine.json", "\"lode\"", "load"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["rows"][0]["colt"] = true; }),
                         {"mine.json: rows[0]", "\"colt\"", "cold"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["load"]["requests"] = 5; }),
                         {"mine.json: load", "\"requests\""}));
}

TEST(ExperimentFile, ABadValueIsNamedWithWhatIsAllowed) {
    EXPECT_TRUE(mentions(complaint([](json& file) { file["load"]["kind"] = "loop"; }),
                         {"mine.json: load.kind", "closed, burst, open"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["load"]["connections"] = 0; }),
                         {"load.connections", "from 1 to"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["load"]["runs"] = "5"; }),
                         {"load.runs", "whole number"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["rows"][0]["command"] = "x"; }),
                         {"rows[0].command", "list of texts"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["request"]["path"] = "wait"; }),
                         {"request.path", "begins with /"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["request"]["method"] = "POST"; }),
                         {"request.body", "in a POST"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["request"]["body"] = "{}"; }),
                         {"request.body", "in a POST"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file.erase("title"); }), {"\"title\""}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["rows"][0]["url"] = "http://a:1"; }),
                         {"either", "command", "url"}));
    EXPECT_TRUE(mentions(complaint([](json& file) { file["rows"].push_back(file["rows"][0]); }),
                         {"rows[1].id", "unique"}));
}

TEST(ExperimentFile, PublishedRowsMustExist) {
    EXPECT_TRUE(mentions(complaint([](json& file) { file["published"] = "weight"; }),
                         {"published", "published.json"}));
    EXPECT_TRUE(mentions(complaint([](json& file) {
                             file["published"] = "wait";
                             file["rows"][0]["published"] = {"wait-9"};
                         }),
                         {"published", "wait-9"}));
    EXPECT_EQ(complaint([](json& file) {
                  file["published"] = "wait";
                  file["rows"][0]["published"] = {"wait-1"};
              }),
              "");
}

TEST(Profile, QuickIsShort) {
    const Row row = applied(valid(), Profile::quick).rows.at(0);
    EXPECT_EQ(row.load.duration, 6s);
    EXPECT_EQ(row.load.warm_up, 2s);
    EXPECT_EQ(row.load.runs, 3);
    EXPECT_EQ(row.load.connections, 1000);
}

TEST(Profile, QuickDividesCountsButLeavesABurstABurst) {
    json document = valid();
    document["load"] = {{"kind", "burst"}, {"requests", 10'000}, {"connections", 500}, {"runs", 5}};
    EXPECT_EQ(applied(document, Profile::quick).rows.at(0).load.requests, 1000);
    document["load"]["requests"] = 600;
    document["load"]["connections"] = 600;
    EXPECT_EQ(applied(document, Profile::quick).rows.at(0).load.requests, 600);
    document["rows"][0]["scale"]["count"] = 100'000;
    EXPECT_EQ(applied(document, Profile::quick).rows.at(0).scale.at("count"), 10'000);
    EXPECT_EQ(applied(document, Profile::blog).rows.at(0).scale.at("count"), 100'000);
}

TEST(Profile, FitScalesConnectionsAndWhatTheRowListsByOneFactor) {
    EXPECT_DOUBLE_EQ(fit_factor(read(valid()), 102'000), 0.34);
    EXPECT_DOUBLE_EQ(fit_factor(read(valid()), 1'020'000), 1);
    const Row row = applied(valid(), Profile::fit, 0.34).rows.at(0);
    EXPECT_EQ(row.load.connections, 340);
    EXPECT_EQ(servers_of(row, 2), 68);
}

TEST(Profile, AColdRowIsRunOnceForItsWholeDuration) {
    json document = valid();
    document["rows"][0]["cold"] = true;
    const Row row = applied(document, Profile::quick, 1, {.runs = 4}).rows.at(0);
    EXPECT_EQ(row.load.runs, 1);
    EXPECT_EQ(row.load.duration, 30s);
}

TEST(Profile, PointsOfASweepBecomeRows) {
    json document = valid();
    document["sweep"] = {{"parameter", "connections"}, {"values", {1, 2, 4, 8}}};
    const auto rows = applied(document, Profile::blog).rows;
    ASSERT_EQ(rows.size(), 4u);
    EXPECT_EQ(rows[2].id, "a@4");
    EXPECT_EQ(rows[2].series, "a");
    EXPECT_EQ(rows[2].load.connections, 4);
    EXPECT_EQ(applied(document, Profile::quick).rows.size(), 2u);
    EXPECT_EQ(applied(document, Profile::blog, 1, {.rows = {"a@8"}}).rows.size(), 1u);
}

TEST(Profile, OverridesComeLast) {
    const Overrides overrides{.rows = {"a"}, .connections = 7, .runs = 1, .duration = 2s};
    const Row row = applied(valid(), Profile::quick, 1, overrides).rows.at(0);
    EXPECT_EQ(row.load.connections, 7);
    EXPECT_EQ(row.load.runs, 1);
    EXPECT_EQ(row.load.duration, 2s);
    EXPECT_THROW(applied(valid(), Profile::quick, 1, {.rows = {"b"}}), ExperimentError);
}

TEST(Profile, ServersAreANumberANameOrTheCpus) {
    json document = valid();
    document["rows"][0]["predict"]["servers"] = 8;
    EXPECT_EQ(servers_of(read(document).rows.at(0), 2), 8);
    document["rows"][0]["predict"]["servers"] = "cpus";
    EXPECT_EQ(servers_of(read(document).rows.at(0), 2), 2);
    document["rows"][0]["predict"]["servers"] = "thread";
    EXPECT_THROW(applied(document, Profile::blog), ExperimentError);
}

}  // namespace
