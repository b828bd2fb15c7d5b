#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/experiment.hpp"

/// What becomes of an experiment file on this machine, as ordinary functions.
namespace bench {

enum class Profile {
    blog,   ///< The published parameters.
    quick,  ///< Short runs, counts divided by ten, one point in three of a sweep.
    fit,    ///< Scaled down until the machine can show the model and not its CPU.
};

Profile profile_named(const std::string& name);
const char* name_of(Profile profile);

/// What the command line asks for instead of the profile's values.
struct Overrides {
    std::vector<std::string> rows{};  ///< Only these, by id or by series; empty for all.
    std::optional<int> connections{}, runs{};
    std::optional<std::chrono::milliseconds> duration{};
};

/// The factor of profile fit for this experiment: such that arithmetic_ceiling x factor is at most
/// a sixth of machine_ceiling_rps; 1 where it is anyway, or where nothing waits.
double fit_factor(const Experiment& experiment, double machine_ceiling_rps);

/// Applies profile, factor (1 except for fit) and overrides, and makes the points of a sweep rows
/// of their own. Throws ExperimentError for a row that is not there.
void apply_profile(Experiment& experiment, Profile profile, double factor, int cpus,
                   const Overrides& overrides);

/// A text of a row with its {names} replaced: those under `scale`, and {cpus}.
std::string substituted(const Row& row, std::string text, int cpus);
/// The servers of Rule::pool. Throws ExperimentError when the name is nowhere.
double servers_of(const Row& row, int cpus);

/// How long a run of this row takes, roughly; and all runs of all rows.
std::chrono::milliseconds time_of_run(const Experiment& experiment, const Row& row, int cpus);
std::chrono::milliseconds time_of(const Experiment& experiment, int cpus);

}  // namespace bench
