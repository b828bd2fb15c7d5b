#include "bench/campaign.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <ctime>
#include <random>
#include <set>

#include "bench/interrupt.hpp"
#include "bench/limits.hpp"
#include "bench/report/claims.hpp"
#include "bench/report/environment.hpp"
#include "bench/report/progress.hpp"
#include "bench/report/results_json.hpp"
#include "bench/report/summary.hpp"
#include "bench/sample/machine.hpp"
#include "bench/statistics/statistics.hpp"

namespace bench {
namespace {

using nlohmann::json;
using std::chrono::milliseconds;

std::string utc_now() {
    char text[32];
    const std::time_t now = std::time(nullptr);
    std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", std::gmtime(&now));
    return text;
}

/// Rounds of all rows, each round in an order of its own.
std::vector<std::pair<int, const Row*>> plan(const Experiment& experiment,
                                             std::mt19937_64& random) {
    int rounds = 0;
    for (const Row& row : experiment.rows) {
        rounds = std::max(rounds, row.load.runs);
    }
    std::vector<std::pair<int, const Row*>> order;
    for (int round = 1; round <= rounds; ++round) {
        const auto first = static_cast<std::ptrdiff_t>(order.size());
        for (const Row& row : experiment.rows) {
            if (round <= row.load.runs) {
                order.emplace_back(round, &row);
            }
        }
        std::shuffle(order.begin() + first, order.end(), random);
    }
    return order;
}

/// Why this machine cannot run a row; empty when it can.
std::string obstacle(const Row& row) {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    const auto needed = 2 * static_cast<rlim_t>(row.load.connections) + limits::kOtherDescriptors;
    return needed <= limit.rlim_cur
               ? ""
               : "not run: " + std::to_string(row.load.connections) + " connections need " +
                     std::to_string(needed) + " descriptors, and the limit here is " +
                     std::to_string(limit.rlim_cur);
}

Run not_run(const Row& row, const std::string& why) {
    Run run;
    run.row = row.id;
    run.problems.push_back(why);
    return run;
}

class Campaign {
  public:
    Campaign(const CampaignOptions& options, Session& session, std::size_t steps, milliseconds time)
        : options_(options),
          session_(session),
          random_(options.seed),
          progress_(steps),
          time_left_(time) {}

    json run(const Experiment& experiment) {
        report::Measured measured;
        measured.cpus = session_.places.cpus;
        measured.server_is_alone = session_.places.pinning.server_is_alone();
        runs_.clear();
        iterations_.clear();
        if (const auto why = prepare(experiment, measured); !why.empty()) {
            progress_.note(experiment.id + ": " + why);
            for (const Row& row : experiment.rows) {
                runs_.push_back(not_run(row, "not run: " + why));
            }
            return report::summarize(experiment, runs_, measured);
        }
        for (const auto& [round, row] : plan(experiment, random_)) {
            run_one(experiment, *row, round, measured);
            if (interrupted()) {
                break;
            }
        }
        if (!iterations_.empty()) {
            measured.cpu_iterations = static_cast<std::uint64_t>(statistics::median(iterations_));
        }
        judge_by_the_fastest_canary();
        return report::summarize(experiment, runs_, measured);
    }

  private:
    /// Which may have come after the run that it is compared with.
    void judge_by_the_fastest_canary() {
        for (Run& run : runs_) {
            if (run.facts.canary_slowdown) {
                run.facts.canary_slowdown = run.canary_s / session_.canary_s;
                run.gates = validity::judge(run.facts);
            }
        }
    }

    /// What keeps the experiment from being run; empty when nothing does.
    std::string prepare(const Experiment& experiment, report::Measured& measured) {
        progress_.show(experiment.id + ", preparing", time_left_);
        if (!experiment.stub.empty()) {
            const auto stub = measure_stub(experiment, session_);
            if (!stub) {
                return stub.error;
            }
            measured.stub_median_s = *stub.value;
        }
        measure_peaks(experiment, measured);
        return {};
    }

    /// Of every series of an open loop: what it reaches in a closed one.
    void measure_peaks(const Experiment& experiment, report::Measured& measured) {
        std::set<std::string> tried;
        for (const Row& row : experiment.rows) {
            if (row.load.kind != LoadKind::open || !tried.insert(row.series).second) {
                continue;
            }
            Row closed = row;
            closed.id = row.series + "-peak";
            closed.load.kind = LoadKind::closed;
            const Run run = run_row(experiment, closed, {.round = 0}, session_);
            for (const auto& problem : run.problems) {
                progress_.note(closed.id + ": " + problem);
            }
            if (run.measured && run.rate() > 0 &&
                validity::worst(run.gates) != validity::Verdict::invalid) {
                measured.peaks[row.series] = run.rate();
                p99_s_[row.series] = run.raw.p99_ms.value_or(0) / 1000;
            }
        }
    }

    /// Before every run of GET /cpu, because the speed of a CPU, a virtual one above all, may
    /// change within minutes, and what is said of the models must not depend on it. Empty when it
    /// is done.
    std::string calibrate() {
        const auto iterations = calibrate_cpu_work(session_);
        if (!iterations) {
            return iterations.error;
        }
        session_.cpu_iterations = *iterations.value;
        iterations_.push_back(static_cast<double>(*iterations.value));
        return {};
    }

    void run_one(const Experiment& experiment, const Row& row, int round,
                 const report::Measured& measured) {
        progress_.show(experiment.id + ", " + row.id + ", round " + std::to_string(round),
                       time_left_);
        Row actual = row;
        Circumstances circumstances{.round = round, .stub_median_s = measured.stub_median_s};
        std::string why;
        if (row.load.kind == LoadKind::open && !measured.peaks.contains(row.series)) {
            why = "not run: the peak of " + row.series + " is not known";
        } else if (row.load.kind == LoadKind::open) {
            circumstances.offered = load::open_loop(
                row.load.offered_share * measured.peaks.at(row.series), p99_s_[row.series],
                std::chrono::duration<double>(row.load.duration).count());
            actual.load.connections = circumstances.offered.connections;
        }
        why = why.empty() ? obstacle(actual) : why;
        if (why.empty() && row.predict.rule == Rule::cpu) {
            why = calibrate();
        }
        runs_.push_back(why.empty() ? run_row(experiment, actual, circumstances, session_)
                                    : not_run(row, why));
        if (interrupted()) {
            runs_.pop_back();
            return;
        }
        for (const auto& problem : runs_.back().problems) {
            progress_.note(row.id + ": " + problem);
        }
        time_left_ -= time_of_run(experiment, row, session_.places.cpus);
    }

    const CampaignOptions& options_;
    Session& session_;
    std::mt19937_64 random_;
    report::Progress progress_;
    milliseconds time_left_;
    std::vector<Run> runs_;
    std::vector<double> iterations_;  ///< Of every calibration of the experiment.
    std::map<std::string, double> p99_s_;
};

/// Again after each experiment, because a claim may refer to the rows of another.
void judge(json& results, const std::vector<Experiment>& experiments) {
    for (json& one : results["experiments"]) {
        const auto found =
            std::ranges::find(experiments, one["id"].get<std::string>(), &Experiment::id);
        if (found != experiments.end()) {
            one["claims"] = report::judge_claims(found->claims, one, results["experiments"],
                                                 found->published_claims);
        }
    }
}

std::size_t steps_of(const Experiment& experiment) {
    std::size_t steps = 1;
    for (const Row& row : experiment.rows) {
        steps += static_cast<std::size_t>(row.load.runs);
    }
    return steps;
}

/// What was measured before keeps the circumstances under which it was; where those of the rest are
/// others, it is said.
void take_over(json& results, const json& before) {
    if (before.contains("resumed_with")) {  // by an earlier --resume
        results["resumed_with"] = before["resumed_with"];
    }
    for (const char* name : {"cpu", "cpus", "kernel", "compiler_flags", "commit"}) {
        const json now = results["environment"].value(name, json());
        const json then = before["environment"].value(name, json());
        if (now != then) {
            results["resumed_with"][name] = now;
        }
    }
    for (const char* name : {"argv", "started", "environment", "fit_factors"}) {
        if (before.contains(name)) {
            results[name] = before[name];
        }
    }
    for (const json& experiment : before["experiments"]) {
        if (experiment.value("complete", false)) {
            results["experiments"].push_back(experiment);
        }
    }
}

}  // namespace

json run_campaign(std::vector<Experiment> experiments, const CampaignOptions& options,
                  Session& session, const std::function<void(const json&)>& keep) {
    const auto begin = std::chrono::steady_clock::now();
    session.canary_s = sample::spin_canary_s(limits::kCanaries);
    json results = {
        {"schema", report::kSchema},   {"complete", false},
        {"argv", options.argv},        {"asked", options.asked},
        {"seed", options.seed},        {"profile", name_of(options.profile)},
        {"started", utc_now()},        {"environment", report::environment(session.places)},
        {"experiments", json::array()}};
    double before_s = 0;
    if (!options.resumed.is_null()) {
        take_over(results, options.resumed);
        before_s = options.resumed.value("duration_s", 0.0);
    }
    const std::vector<Experiment> definitions = experiments;
    std::erase_if(experiments, [&](const Experiment& one) {
        return std::ranges::any_of(results["experiments"],
                                   [&](const json& done) { return done["id"] == one.id; });
    });
    std::size_t steps = 0;
    milliseconds time{0};
    for (Experiment& experiment : experiments) {
        double factor = 1;
        if (options.profile == Profile::fit) {
            const auto ceiling = measure_ceiling(experiment, session);
            if (!ceiling && !interrupted()) {
                throw std::runtime_error(experiment.id + ": profile fit needs the machine's " +
                                         "ceiling, which was not measured: " + ceiling.error);
            }
            factor = ceiling ? fit_factor(experiment, *ceiling.value) : 1;
            results["fit_factors"][experiment.id] = factor;
        }
        apply_profile(experiment, options.profile, factor, session.places.cpus, options.overrides);
        steps += steps_of(experiment);
        time += time_of(experiment, session.places.cpus);
    }
    Campaign campaign(options, session, steps, time);
    const auto finish = [&](bool complete) {
        results["complete"] = complete;
        const auto elapsed = std::chrono::steady_clock::now() - begin;
        results["duration_s"] = before_s + std::chrono::duration<double>(elapsed).count();
        judge(results, definitions);
        keep(results);
    };
    for (const Experiment& experiment : experiments) {
        json result = campaign.run(experiment);
        result["complete"] = !interrupted();
        results["experiments"].push_back(std::move(result));
        finish(false);
        if (interrupted()) {
            return results;
        }
    }
    finish(true);
    return results;
}

}  // namespace bench
