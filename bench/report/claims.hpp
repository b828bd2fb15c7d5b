#pragma once

#include <nlohmann/json.hpp>

/// Whether what a source document says holds here. docs/experiments.md says how a claim is written
/// in an experiment's file, and what its values may refer to.
namespace bench::report {

/// The claims of one experiment, in the form that results.json has for them: `id`, `says`,
/// `published`, `check` (the conditions), `ours` (the figures), `verdict` ("holds", "does not hold"
/// or "cannot be tested") and `reason`.
///
/// `claims_of_file` is the member of the experiment's file; `experiment` the experiment of
/// results.json with `rows`, `published_rows` and `runs`; `all_experiments` the array of all of
/// them; `published_claims` the array of claims of the published experiment, for what they say.
nlohmann::json judge_claims(const nlohmann::json& claims_of_file, const nlohmann::json& experiment,
                            const nlohmann::json& all_experiments,
                            const nlohmann::json& published_claims);

}  // namespace bench::report
