#include "bench/profile.hpp"

#include <algorithm>
#include <cmath>

#include "bench/limits.hpp"
#include "bench/predict/predict.hpp"

namespace bench {
namespace {

using std::chrono::milliseconds;

/// What fixed numbers of requests and tasks are divided by in profile quick.
constexpr int kQuickDivisor = 10;
constexpr std::size_t kQuickPoints = 3;
constexpr const char* kCount = "count";
/// The arithmetic ceiling at most, as a share of the machine's, in profile fit. At a half the raw
/// relay itself stays 8 % below arithmetic: connections that are answered together ask together,
/// and what they wait for each other grows with their number.
constexpr double kFitShare = 1.0 / 6;

int scaled(int number, double factor) {
    return std::max(1, static_cast<int>(std::lround(number * factor)));
}

bool is_loop(const Load& load) {
    return load.kind == LoadKind::closed || load.kind == LoadKind::open;
}

/// A cold or watched row keeps its duration: what it shows happens at its own time.
void shorten(Row& row, milliseconds duration, milliseconds warm_up, int runs) {
    if (is_loop(row.load) && !row.cold && !row.watch) {
        row.load.duration = std::min(row.load.duration, duration);
        row.load.warm_up = std::min(row.load.warm_up, warm_up);
    }
    row.load.runs = std::min(row.load.runs, runs);
}

void make_quick(Row& row) {
    shorten(row, limits::kQuickRun, limits::kQuickWarmUp, limits::kQuickRuns);
    // Not below one request a connection, or the burst would not be the same burst.
    row.load.requests = std::max(row.load.requests / kQuickDivisor,
                                 std::min(row.load.requests, row.load.connections));
    if (const auto count = row.scale.find(kCount); count != row.scale.end()) {
        count->second = std::max(1, count->second / kQuickDivisor);
    }
}

void fit(Row& row, double factor) {
    shorten(row, limits::kFitRun, limits::kQuickWarmUp, limits::kFitRuns);
    if (factor >= 1) {
        return;
    }
    if (row.load.kind != LoadKind::single) {
        row.load.connections = scaled(row.load.connections, factor);
        row.load.requests = row.load.requests > 0 ? scaled(row.load.requests, factor) : 0;
    }
    for (auto& [name, number] : row.scale) {
        if (name != kCount) {
            number = scaled(number, factor);
        }
    }
}

void expand_sweep(Experiment& experiment) {
    if (experiment.sweep.parameter.empty()) {
        return;
    }
    std::vector<Row> points;
    for (const Row& row : experiment.rows) {
        for (const double value : experiment.sweep.values) {
            Row point = row;
            point.series = row.id;
            point.point = value;
            point.id += "@" + nlohmann::json(value).dump();
            if (experiment.sweep.parameter == "connections") {
                point.load.connections = static_cast<int>(value);
                point.id = row.id + "@" + std::to_string(point.load.connections);
            } else {
                point.load.offered_share = value;
            }
            points.push_back(std::move(point));
        }
    }
    experiment.rows = std::move(points);
}

void select_rows(Experiment& experiment, const std::vector<std::string>& wanted) {
    const auto is_called = [](const Row& row, const std::string& id) {
        return row.id == id || row.series == id;
    };
    for (const auto& id : wanted) {
        if (std::ranges::none_of(experiment.rows,
                                 [&](const Row& row) { return is_called(row, id); })) {
            throw ExperimentError("experiment " + experiment.id + " has no row " + id);
        }
    }
    std::erase_if(experiment.rows, [&](const Row& row) {
        return !wanted.empty() && std::ranges::none_of(wanted, [&](const std::string& id) {
            return is_called(row, id);
        });
    });
}

}  // namespace

Profile profile_named(const std::string& name) {
    return name == "blog" ? Profile::blog : name == "fit" ? Profile::fit : Profile::quick;
}

const char* name_of(Profile profile) {
    switch (profile) {
        case Profile::blog:
            return "blog";
        case Profile::fit:
            return "fit";
        case Profile::quick:
            break;
    }
    return "quick";
}

double fit_factor(const Experiment& experiment, double machine_ceiling_rps) {
    if (experiment.wait_s <= 0 || experiment.load.connections_per_cpu ||
        experiment.load.kind == LoadKind::single || machine_ceiling_rps <= 0) {
        return 1;
    }
    const double ceiling =
        predict::arithmetic_ceiling(experiment.load.connections, experiment.wait_s);
    return std::min(1.0, kFitShare * machine_ceiling_rps / ceiling);
}

void apply_profile(Experiment& experiment, Profile profile, double factor, int cpus,
                   const Overrides& overrides) {
    if (profile == Profile::quick) {
        std::vector<double> some;
        for (std::size_t i = 0; i < experiment.sweep.values.size(); i += kQuickPoints) {
            some.push_back(experiment.sweep.values[i]);
        }
        experiment.sweep.values = some;
    }
    for (Row& row : experiment.rows) {
        if (row.load.connections_per_cpu) {
            row.load.connections = *row.load.connections_per_cpu * cpus;
        }
        if (profile == Profile::quick) {
            make_quick(row);
        } else if (profile == Profile::fit) {
            fit(row, factor);
        }
        if (is_loop(row.load)) {
            row.load.connections = overrides.connections.value_or(row.load.connections);
            row.load.duration = overrides.duration.value_or(row.load.duration);
        }
        row.load.runs = row.cold ? 1 : overrides.runs.value_or(row.load.runs);
        (void)servers_of(row, cpus);
    }
    expand_sweep(experiment);
    select_rows(experiment, overrides.rows);
}

std::string substituted(const Row& row, std::string text, int cpus) {
    const auto replace = [&text](const std::string& name, int number) {
        for (auto at = text.find(name); at != std::string::npos; at = text.find(name)) {
            text.replace(at, name.size(), std::to_string(number));
        }
    };
    for (const auto& [name, number] : row.scale) {
        replace("{" + name + "}", number);
    }
    replace("{cpus}", cpus);
    return text;
}

double servers_of(const Row& row, int cpus) {
    const std::string& servers = row.predict.servers;
    if (servers.empty() || servers == "cpus") {
        return cpus;
    }
    if (const auto found = row.scale.find(servers); found != row.scale.end()) {
        return found->second;
    }
    const nlohmann::json number = nlohmann::json::parse(servers, nullptr, false);
    if (!number.is_number() || number <= 0) {
        throw ExperimentError(
            "row " + row.id +
            ": predict.servers must be a number above 0, a name under scale, or cpus");
    }
    return number;
}

milliseconds time_of_run(const Experiment& experiment, const Row& row, int cpus) {
    const double servers =
        row.predict.rule == Rule::pool ? servers_of(row, cpus) : limits::kMostRequests;
    double work_s = 0;
    if (row.load.kind == LoadKind::burst) {
        work_s = predict::tasks_s(row.load.requests, servers, experiment.wait_s) +
                 row.load.requests * limits::kBurstRequestS;
    } else if (row.load.kind == LoadKind::single) {
        const auto count = row.scale.find(kCount);
        work_s = count == row.scale.end()
                     ? experiment.wait_s
                     : predict::tasks_s(count->second, servers, experiment.wait_s);
    }
    const milliseconds warm_up = row.cold ? milliseconds(limits::kStop) : row.load.warm_up;
    return limits::kRunOverhead + row.load.duration + warm_up +
           milliseconds(static_cast<long>(work_s * 1000));
}

milliseconds time_of(const Experiment& experiment, int cpus) {
    milliseconds sum{0};
    for (const Row& row : experiment.rows) {
        sum += row.load.runs * time_of_run(experiment, row, cpus);
    }
    return sum;
}

}  // namespace bench
