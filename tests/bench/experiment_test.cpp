#include "bench/experiment.hpp"

#include <gtest/gtest.h>

#include <algorithm>

using namespace bench;

namespace {

TEST(Experiment, EveryFileIsReadAndRefersToPublishedRows) {
    const auto experiments = read_experiments(BENCH_FOLDER);
    const auto wait = std::ranges::find(experiments, "wait", &Experiment::id);
    ASSERT_NE(wait, experiments.end());
    EXPECT_EQ(wait->load.connections, 1000);
    ASSERT_FALSE(wait->rows.empty());
    EXPECT_EQ(wait->rows.front().published.at(0).rate, 9850);
    EXPECT_LT(wait->time(), std::chrono::minutes(4)) << "the headline is measured in minutes";
}

TEST(Experiment, AColdRowIsRunOnce) {
    Experiment experiment;
    Row row;
    EXPECT_EQ(experiment.runs_of(row), 3);
    row.cold = true;
    EXPECT_EQ(experiment.runs_of(row), 1);
}

TEST(Experiment, AnUnknownPublishedRowIsSaid) {
    const auto published = nlohmann::json::parse(
        R"({"experiments":[{"id":"wait","rows":[{"id":"wait-1","system":"x"}]}]})");
    auto file = nlohmann::json::parse(
        R"({"id":"wait","title":"","published":"wait","path":"/wait","stub":["stub"],
            "load":{"threads":1,"connections":10,"duration_s":1,"warm_up_s":1,"runs":1},
            "rows":[{"id":"a","command":["a"],"published":["wait-1"]}]})");
    EXPECT_EQ(read_experiment(file, published).rows.at(0).path, "/wait");
    file["rows"][0]["published"] = {"wait-9"};
    EXPECT_THROW(read_experiment(file, published), std::runtime_error);
}

}  // namespace
