#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/experiment.hpp"
#include "bench/profile.hpp"
#include "bench/runner.hpp"

namespace bench {

/// What one `waitbench run` is asked for.
struct CampaignOptions {
    Profile profile = Profile::quick;
    Overrides overrides;
    std::uint64_t seed = 0;
    std::filesystem::path folder;  ///< Of the results; its raw/ exists.
    std::vector<std::string> argv;
    nlohmann::json asked;    ///< What --resume needs to ask again.
    nlohmann::json resumed;  ///< The results that the run goes on from.
};

/// Runs the experiments one after the other, each with its rows in shuffled rounds, and gives back
/// results.json (schema 2) with the claims judged. `keep` is called with it after every experiment;
/// Ctrl-C ends it early, with what was measured.
nlohmann::json run_campaign(std::vector<Experiment> experiments, const CampaignOptions& options,
                            Session& session,
                            const std::function<void(const nlohmann::json&)>& keep);

}  // namespace bench
