#include "bench/report/summary.hpp"

#include <algorithm>

#include "bench/limits.hpp"
#include "bench/predict/predict.hpp"
#include "bench/predict/simulation.hpp"
#include "bench/profile.hpp"
#include "bench/report/results_json.hpp"
#include "bench/statistics/statistics.hpp"

namespace bench::report {
namespace {

using nlohmann::json;

/// Above this share of one CPU for each of its threads the load generator is the limit; above it
/// the stub, which has one thread.
constexpr double kIsFull = 0.9;
constexpr double kConfidence = 0.95;
/// A longer command is called by the row's id.
constexpr std::size_t kLongestLabel = 46;

const char* figure_name(LoadKind kind) {
    switch (kind) {
        case LoadKind::startup:
            return "start";
        case LoadKind::burst:
        case LoadKind::single:
            return "wall";
        case LoadKind::closed:
        case LoadKind::open:
            break;
    }
    return "rate";
}

template <class Get>
std::vector<double> values_of(const std::vector<const Run*>& runs, Get get) {
    std::vector<double> values;
    for (const Run* run : runs) {
        const std::optional<double> value = get(*run);
        if (value) {
            values.push_back(*value);
        }
    }
    return values;
}

/// The median over the runs that know the value; null when none does.
template <class Get>
void put_median(json& row, const char* name, const std::vector<const Run*>& runs, Get get) {
    const auto values = values_of(runs, get);
    if (!values.empty()) {
        row[name] = statistics::median(values);
    }
}

struct Prediction {
    std::optional<double> value;  ///< Requests per second or seconds, as the figure is.
    std::string rule, formula, limit;
};

sync_over_async::InjectionSettings injection_of(const Row& row, int cpus) {
    sync_over_async::InjectionSettings settings;
    settings.cpus = row.predict.cpus.value_or(static_cast<unsigned>(cpus));
    settings.min_threads = row.predict.min_threads.value_or(settings.cpus);
    return settings;
}

/// Take-off from the schedule alone; with the priority lane there is none, but convoys.
std::optional<double> take_off_of(const Row& row, int cpus) {
    if (row.predict.rule != Rule::injected || row.predict.priority) {
        return std::nullopt;
    }
    return predict::take_off_s(injection_of(row, cpus),
                               static_cast<unsigned>(row.load.connections));
}

Prediction predict_injected(const Row& row, double wait_s, int cpus) {
    predict::Scenario scenario;
    scenario.injection = injection_of(row, cpus);
    scenario.completions =
        row.predict.priority ? predict::Completions::priority : predict::Completions::fifo;
    scenario.connections = static_cast<unsigned>(row.load.connections);
    scenario.wait_s = wait_s;
    scenario.cpus = static_cast<unsigned>(cpus);
    scenario.duration_s = std::chrono::duration<double>(row.load.duration).count();
    const predict::Course course = predict::simulate(scenario);
    const double completed =
        course.half_seconds.empty() ? 0 : static_cast<double>(course.half_seconds.back().completed);
    return {completed / scenario.duration_s, "injected",
            "0 until the simulated take-off, then connections / wait",
            completed > 0 ? "wait" : "starved"};
}

/// CPU seconds of one request.
double work_of(const Row& row, const Measured& measured) {
    return row.predict.cpu_iterations > 0
               ? row.predict.cpu_iterations / static_cast<double>(measured.cpu_iterations) *
                     limits::kCpuWorkS
               : row.predict.work_s;
}

Prediction predict_rate(const Row& row, double wait_s, const Measured& measured) {
    const int cpus = measured.cpus;
    const double connections = row.load.connections;
    switch (row.predict.rule) {
        case Rule::unbounded:
            return {predict::arithmetic_ceiling(connections, wait_s), "unbounded",
                    "connections / wait", "wait"};
        case Rule::pool: {
            const double servers = servers_of(row, cpus);
            return {predict::pool_rate(connections, servers, wait_s), "pool",
                    "min(connections, servers) / wait", servers < connections ? "pool" : "wait"};
        }
        case Rule::injected:
            return predict_injected(row, wait_s, cpus);
        case Rule::cpu:
            return {predict::cpu_bound(cpus, work_of(row, measured)), "cpu", "CPUs / work", "work"};
        case Rule::none:
            break;
    }
    return {};
}

/// `cpu_s` is the server's CPU time per request, which a burst has nothing to hide behind.
Prediction predict_wall(const Row& row, double wait_s, const Measured& measured, double cpu_s) {
    const int cpus = measured.cpus;
    const bool is_burst = row.load.kind == LoadKind::burst;
    const auto count = row.scale.find("count");
    const double all = is_burst ? row.load.requests : count != row.scale.end() ? count->second : 1;
    if (row.predict.rule == Rule::cpu) {
        const predict::Burst burst{all, all, 0, work_of(row, measured), static_cast<double>(cpus)};
        return {predict::burst_latency_s(burst, 100), "cpu", "requests x work / CPUs", "work"};
    }
    // In a burst by fewer connections than requests each connection sends one after the other.
    const double at_once = is_burst ? std::min<double>(all, row.load.connections) : all;
    const bool is_pool = row.predict.rule == Rule::pool;
    const double servers = is_pool ? std::min(servers_of(row, cpus), at_once) : at_once;
    const std::string rule = is_pool ? "pool" : "unbounded";
    const std::string limit = servers < at_once ? "pool" : "wait";
    if (is_burst) {
        const predict::Burst burst{all, servers, wait_s, cpu_s, static_cast<double>(cpus)};
        return {predict::burst_latency_s(burst, 100), rule,
                "ceil(requests / servers) x wait + the CPU time of one wave", limit};
    }
    return {predict::tasks_s(all, servers, wait_s), rule, "ceil(count / servers) x wait", limit};
}

Prediction predict_row(const Row& row, double wait_s, const Measured& measured, double cpu_s) {
    const bool is_cpu = row.predict.rule == Rule::cpu;
    if (row.predict.rule == Rule::none || row.ceiling || (!is_cpu && wait_s <= 0) ||
        (row.predict.cpu_iterations > 0 && measured.cpu_iterations == 0)) {
        return {};
    }
    if (row.load.kind == LoadKind::open) {
        return {};
    }
    return figure_name(row.load.kind) == std::string("rate")
               ? predict_rate(row, wait_s, measured)
               : predict_wall(row, wait_s, measured, cpu_s);
}

/// The model's own limit, unless the CPUs, the stub or the load generator were used up before.
std::string limiter(const Prediction& prediction, const json& row,
                    const std::vector<const Run*>& runs, const Measured& measured) {
    if (prediction.limit == "work" || prediction.limit == "starved") {
        return prediction.limit;
    }
    // In most runs: a single one was disturbed.
    const auto mostly = [&](auto is_so) {
        return static_cast<std::size_t>(std::ranges::count_if(runs, is_so)) * 2 > runs.size();
    };
    if (mostly([](const Run* run) {
            return run->load_cpu_s > kIsFull * run->facts.duration_s * run->facts.generator_threads;
        })) {
        return "load";
    }
    if (mostly([](const Run* run) { return run->stub_cpu_s > kIsFull * run->facts.duration_s; })) {
        return "stub";
    }
    if (!prediction.value || row.contains("wall_s")) {
        return prediction.limit;
    }
    double cost_us = row.value("server_cpu_us_per_request", 0.0);
    if (!measured.server_is_alone) {
        cost_us +=
            row.value("stub_cpu_us_per_request", 0.0) + row.value("load_cpu_us_per_request", 0.0);
    }
    return predict::with_limit(*prediction.value, prediction.limit, measured.cpus, cost_us / 1e6)
        .limit;
}

void put_latencies(json& row, const std::vector<const Run*>& runs) {
    put_median(row, "p50_ms", runs, [](const Run& run) { return run.raw.p50_ms; });
    put_median(row, "p75_ms", runs, [](const Run& run) { return run.raw.p75_ms; });
    put_median(row, "p90_ms", runs, [](const Run& run) { return run.raw.p90_ms; });
    put_median(row, "p99_ms", runs, [](const Run& run) { return run.raw.p99_ms; });
    put_median(row, "p999_ms", runs, [](const Run& run) { return run.raw.p999_ms; });
    put_median(row, "max_ms", runs, [](const Run& run) { return run.raw.max_ms; });
    put_median(row, "mean_ms", runs, [](const Run& run) { return run.raw.mean_ms; });
}

void put_costs(json& row, const std::vector<const Run*>& runs) {
    const auto per_request = [](const Run& run, double value) -> std::optional<double> {
        return run.facts.requests == 0 ? std::nullopt : std::optional(run.per_request(value));
    };
    // Of a server that ran before and is only asked, nothing but its answers is known.
    const auto of_server = [](const Run& run, std::optional<double> value) {
        return run.threads > 0 ? value : std::nullopt;
    };
    put_median(row, "server_cpu_us_per_request", runs, [&](const Run& run) {
        return of_server(run, per_request(run, run.server_cpu_s * 1e6));
    });
    put_median(row, "stub_cpu_us_per_request", runs,
               [&](const Run& run) { return per_request(run, run.stub_cpu_s * 1e6); });
    put_median(row, "load_cpu_us_per_request", runs,
               [&](const Run& run) { return per_request(run, run.load_cpu_s * 1e6); });
    put_median(row, "context_switches_per_request", runs, [&](const Run& run) {
        return of_server(run, per_request(run, static_cast<double>(run.context_switches)));
    });
    put_median(row, "os_threads_peak", runs,
               [&](const Run& run) { return of_server(run, run.threads); });
    put_median(row, "rss_bytes_peak", runs,
               [&](const Run& run) { return of_server(run, run.peak_rss_bytes); });
    put_median(row, "pss_bytes", runs, [](const Run& run) -> std::optional<double> {
        return run.pss_bytes ? std::optional(static_cast<double>(*run.pss_bytes)) : std::nullopt;
    });
}

/// Its range belongs to experiments that compare rates.
void put_rate(json& row, const std::vector<const Run*>& runs, bool with_range) {
    const auto rates = values_of(runs, [](const Run& run) { return std::optional(run.rate()); });
    if (rates.empty()) {
        return;
    }
    row["rps"] = statistics::median(rates);
    if (!with_range) {
        return;
    }
    row["rps_low"] = std::ranges::min(rates);
    row["rps_high"] = std::ranges::max(rates);
    if (rates.size() >= statistics::kRunsForInterval) {
        const auto interval = statistics::median_interval(rates, kConfidence);
        row["rps_interval"] = {interval.low, interval.high};
    }
}

std::string row_label(const Row& row, int cpus) {
    std::string label;
    for (const auto& word : row.command) {
        label += (label.empty() ? "" : " ") + substituted(row, word, cpus);
    }
    if (label.starts_with("server_")) {
        label.erase(0, 7);
    }
    if (label.empty()) {
        label = row.url;
    }
    if (label.size() > kLongestLabel) {
        label = row.id;
    }
    const auto query = row.request.path.find('?');
    if (query != std::string::npos) {
        label += " " + substituted(row, row.request.path.substr(query), cpus);
    }
    return label + (row.cold ? " (cold start)" : "");
}

json row_head(const Row& row, int cpus) {
    json head = {
        {"id", row.id},
        {"label", row_label(row, cpus)},
        {"request",
         {{"method", row.request.method}, {"path", substituted(row, row.request.path, cpus)}}},
        {"connections", row.load.connections},
        {"cold", row.cold},
        {"ceiling", row.ceiling},
        {"published", row.published}};
    if (row.url.empty()) {
        for (const auto& word : row.command) {
            head["command"].push_back(substituted(row, word, cpus));
        }
    } else {
        head["url"] = row.url;
    }
    if (!row.series.empty()) {
        head["series"] = row.series;
        head["point"] = row.point;
    }
    return head;
}

/// What was not measured cannot be judged, and makes the rest doubtful.
validity::GateResult measured_gate(std::size_t measured, std::size_t all,
                                   const std::string& problem) {
    return {"measured", measured == all ? validity::Verdict::holds : validity::Verdict::suspect,
            std::to_string(measured) + " of " + std::to_string(all) +
                (all == 1 ? " run was measured" : " runs were measured") +
                (problem.empty() ? "." : "; of another: " + problem)};
}

void put_gates(json& row, const std::vector<const Run*>& runs,
               const validity::GateResult& measured) {
    std::vector<std::vector<validity::GateResult>> all = {{measured}};
    for (const Run* run : runs) {
        all.push_back(run->gates);
    }
    const auto gates = validity::worst_of_runs(all);
    row["verdict"] = runs.empty() ? "not run" : validity::row_verdict(validity::worst(gates));
    row["gates"] = runs.empty() ? json::array() : to_json(gates);
}

/// A row that waits for the stub waits as long as the stub was measured to take.
double wait_of(const Experiment& experiment, const Row& row, double stub_median_s) {
    return experiment.stub.empty() || row.wait_s != experiment.wait_s ? row.wait_s : stub_median_s;
}

json summarize_row(const Experiment& experiment, const Row& row, const std::vector<Run>& runs,
                   const Measured& measured) {
    json result = row_head(row, measured.cpus);
    std::vector<const Run*> of_row;
    std::size_t all = 0;
    for (const Run& run : runs) {
        if (run.row == row.id) {
            ++all;
            if (run.measured) {
                of_row.push_back(&run);
            }
            for (const auto& problem : run.problems) {
                result["problems"].push_back(problem);
            }
        }
    }
    const json problems = result.value("problems", json::array());
    result["runs"] = of_row.size();
    result["answered"] = std::ranges::any_of(
        of_row, [](const Run* run) { return run->facts.requests > run->facts.status_errors; });
    put_gates(result, of_row,
              measured_gate(of_row.size(), all,
                            problems.empty() ? "" : problems.front().get<std::string>()));
    const double wait_s = wait_of(experiment, row, measured.stub_median_s);
    put_costs(result, of_row);
    const Prediction prediction =
        predict_row(row, wait_s, measured, result.value("server_cpu_us_per_request", 0.0) / 1e6);
    const std::string figure = figure_name(row.load.kind);
    if (prediction.value) {
        result["predicted"] = {{"figure", figure},
                               {"value", *prediction.value},
                               {"rule", prediction.rule},
                               {"formula", prediction.formula}};
    }
    if (const auto take_off = take_off_of(row, measured.cpus)) {
        result["take_off_predicted_s"] = *take_off;
    }
    if (of_row.empty()) {
        return result;
    }
    put_rate(result, of_row, figure == "rate");
    put_latencies(result, of_row);
    if (figure == "wall") {
        put_median(result, "wall_s", of_row, [](const Run& run) { return run.wall_s; });
    }
    put_median(result, "first_response_s", of_row,
               [](const Run& run) { return run.first_response_s; });
    put_median(result, "take_off_s", of_row, [](const Run& run) { return run.take_off_s; });
    put_median(result, "offered_rps", of_row, [](const Run& run) { return run.offered_rps; });
    if (result.contains("offered_rps")) {
        constexpr double kSustained = 0.99;
        result["sustained"] = result["rps"] >= kSustained * result["offered_rps"].get<double>();
    }
    const std::string limit = limiter(prediction, result, of_row, measured);
    if (!limit.empty()) {
        result["limited_by"] = limit;
    }
    const char* value = figure == "wall" ? "wall_s" : "rps";
    if (prediction.value && *prediction.value > 0 && result.contains(value)) {
        result["difference"] = result[value].get<double>() / *prediction.value - 1;
    }
    return result;
}

/// The better raw epoll row, if it is valid, and what the others reach of it.
void put_ceilings(json& result, const Experiment& experiment, double stub_median_s) {
    const auto is_usable = [](const json& row) {
        return row.contains("rps") && row["verdict"] != "invalid";
    };
    double machine = 0, spread = 0, highest = 0;
    for (const json& row : result["rows"]) {
        if (row["ceiling"] && is_usable(row) && row["rps"] > machine) {
            machine = row["rps"];
            spread = (row.value("rps_high", machine) - row.value("rps_low", machine)) / machine;
            result["machine_ceiling_rps"] = machine;
            result["machine_ceiling_row"] = row["id"];
        }
    }
    for (std::size_t i = 0; i < experiment.rows.size(); ++i) {
        json& row = result["rows"][i];
        if (!row.contains("rps") || result["figure"] != "rate") {
            continue;
        }
        const double rate = row["rps"];
        const double wait_s = wait_of(experiment, experiment.rows[i], stub_median_s);
        if (wait_s > 0 && experiment.rows[i].load.kind == LoadKind::closed) {
            row["share_of_arithmetic_ceiling"] =
                rate / predict::arithmetic_ceiling(row["connections"], wait_s);
        }
        if (machine > 0) {
            row["share_of_machine_ceiling"] = rate / machine;
        }
        if (!row["ceiling"] && is_usable(row)) {
            highest = std::max(highest, rate);
        }
    }
    if (machine > 0) {
        result["machine_ceiling_gate"] =
            to_json(validity::judge_machine_ceiling(machine, highest, spread));
    }
}

}  // namespace

json summarize(const Experiment& experiment, const std::vector<Run>& runs,
               const Measured& measured) {
    // Of a sweep the experiment's own, of which each row is a variation.
    Load load = experiment.rows.empty() ? experiment.load : experiment.rows.front().load;
    for (const Row& row : experiment.rows) {
        load.runs = std::max(load.runs, row.load.runs);
        if (!row.cold) {
            load.duration = row.load.duration;
        }
    }
    if (!experiment.sweep.parameter.empty()) {
        load.connections = experiment.load.connections;
    }
    json result = {{"id", experiment.id},
                   {"title", experiment.title},
                   {"figure", figure_name(load.kind)},
                   {"load", to_json(load)},
                   {"stub", experiment.stub},
                   {"rows", json::array()},
                   {"published_rows", experiment.published_rows},
                   {"remarks", experiment.remarks},
                   {"runs", json::array()}};
    if (!experiment.source.empty()) {
        result["source"] = experiment.source;
    }
    if (!experiment.published_machine.empty()) {
        result["published_machine"] = experiment.published_machine;
    }
    const double wait_s = experiment.stub.empty() ? experiment.wait_s : measured.stub_median_s;
    if (!experiment.stub.empty()) {
        result["stub_median_s"] = measured.stub_median_s;
    }
    if (load.kind == LoadKind::closed && wait_s > 0 && experiment.sweep.parameter.empty()) {
        result["arithmetic_ceiling_rps"] = predict::arithmetic_ceiling(load.connections, wait_s);
    }
    if (!experiment.sweep.parameter.empty()) {
        result["sweep"] = {
            {"parameter", experiment.sweep.parameter},
            {"unit",
             experiment.sweep.parameter == "connections" ? "connections" : "share of the peak"}};
    }
    if (!measured.peaks.empty()) {
        result["peaks_rps"] = measured.peaks;
    }
    for (const Row& row : experiment.rows) {
        result["rows"].push_back(summarize_row(experiment, row, runs, measured));
    }
    put_ceilings(result, experiment, measured.stub_median_s);
    for (const Run& run : runs) {
        result["runs"].push_back(to_json(run));
    }
    return result;
}

}  // namespace bench::report
