#include "bench/report/summary.hpp"

#include <algorithm>

#include "bench/predict/simulation.hpp"
#include "bench/statistics/statistics.hpp"

namespace bench::report {
namespace {

using predict::Prediction;

Prediction predict_row(const Experiment& experiment, const RowSummary& summary, double wait_s,
                       int cpus) {
    const Row& row = summary.row;
    const double connections = experiment.load.connections;
    const double cost = summary.server_cpu_s + summary.stub_cpu_s + summary.wrk_cpu_s;
    const double ceiling = predict::arithmetic_ceiling(connections, wait_s);
    switch (row.model) {
        case Model::pool: {
            const double rate = predict::pool_rate(connections, row.threads, wait_s);
            const bool limited = row.threads < connections;
            return predict::with_limit(rate, limited ? "pool" : "wait", cpus, cost);
        }
        case Model::injected: {
            const std::chrono::duration<double> duration = experiment.duration_of(row);
            const unsigned threads = static_cast<unsigned>(cpus);
            const auto take_off_s =
                predict::take_off_s({.cpus = threads, .min_threads = threads},
                                    static_cast<unsigned>(experiment.load.connections));
            if (!take_off_s || duration.count() < *take_off_s) {
                return {0, "starved"};
            }
            return predict::with_limit(ceiling, "wait", cpus, cost);
        }
        case Model::unbounded:
            break;
    }
    return predict::with_limit(ceiling, "wait", cpus, cost);
}

template <class Figure>
double median_of(const std::vector<const Run*>& runs, Figure figure) {
    std::vector<double> values;
    for (const Run* run : runs) {
        values.push_back(figure(*run));
    }
    return statistics::median(values);
}

RowSummary summarize_row(const Row& row, const std::vector<Run>& runs) {
    RowSummary summary;
    summary.row = row;
    std::vector<const Run*> measured;
    std::vector<double> rates;
    for (const Run& run : runs) {
        if (run.row != row.id) {
            continue;
        }
        for (const auto& problem : run.problems) {
            if (std::ranges::find(summary.problems, problem) == summary.problems.end()) {
                summary.problems.push_back(problem);
            }
        }
        if (run.measured) {
            measured.push_back(&run);
            rates.push_back(run.rate);
            summary.answered = summary.answered || run.requests > 0;
            if (run.fairness) {
                summary.starved = std::max(summary.starved.value_or(0), run.fairness->starved);
            }
        }
    }
    summary.runs = static_cast<int>(measured.size());
    summary.rate = statistics::median(rates);
    summary.rate_spread = statistics::spread(rates);
    summary.p50_ms = median_of(measured, [](const Run& run) { return run.raw.p50_ms; });
    summary.p99_ms = median_of(measured, [](const Run& run) { return run.raw.p99_ms; });
    summary.threads = median_of(measured, [](const Run& run) { return run.threads; });
    summary.peak_rss_bytes = median_of(measured, [](const Run& run) { return run.peak_rss_bytes; });
    summary.server_cpu_s =
        median_of(measured, [](const Run& run) { return run.per_request(run.server_cpu_s); });
    summary.stub_cpu_s =
        median_of(measured, [](const Run& run) { return run.per_request(run.stub_cpu_s); });
    summary.wrk_cpu_s =
        median_of(measured, [](const Run& run) { return run.per_request(run.wrk_cpu_s); });
    return summary;
}

}  // namespace

Summary summarize(const Experiment& experiment, const std::vector<Run>& runs, double wait_s,
                  int cpus) {
    Summary summary;
    summary.wait_s = wait_s;
    summary.cpus = cpus;
    summary.arithmetic_ceiling = predict::arithmetic_ceiling(experiment.load.connections, wait_s);
    for (const Row& row : experiment.rows) {
        RowSummary one = summarize_row(row, runs);
        one.prediction = predict_row(experiment, one, wait_s, cpus);
        if (row.ceiling && one.rate > summary.machine_ceiling) {
            summary.machine_ceiling = one.rate;
            summary.machine_ceiling_row = row.id;
        }
        summary.rows.push_back(std::move(one));
    }
    for (const Run& run : runs) {
        if (run.measured) {
            summary.disturbance = std::max(summary.disturbance, run.other_cpus / cpus);
        }
    }
    return summary;
}

}  // namespace bench::report
