#include "bench/report/results_json.hpp"

#include <fstream>

namespace bench::report {
namespace {

using nlohmann::json;

json to_json(const Percentiles& values) {
    return {{"p50_ms", values.p50_ms},  {"p75_ms", values.p75_ms},   {"p90_ms", values.p90_ms},
            {"p99_ms", values.p99_ms},  {"p999_ms", values.p999_ms}, {"max_ms", values.max_ms},
            {"mean_ms", values.mean_ms}};
}

json to_json(const Run& run, int connections) {
    json result = {{"row", run.row},
                   {"round", run.round},
                   {"raw_files", run.files},
                   {"measured", run.measured},
                   {"problems", run.problems}};
    if (!run.measured) {
        return result;
    }
    result.update({{"duration_s", run.duration_s},
                   {"requests", run.requests},
                   {"status_errors", run.status_errors},
                   {"socket_errors", run.socket_errors},
                   {"bytes", run.bytes},
                   {"rps", run.rate},
                   {"latency_raw", to_json(run.raw)},
                   {"latency_as_wrk_corrects_it", to_json(run.corrected)},
                   {"littles_law", run.rate * run.raw.mean_ms / 1000 / connections},
                   {"os_threads_peak", run.threads},
                   {"os_threads_median", run.median_threads},
                   {"rss_bytes_peak", run.peak_rss_bytes},
                   {"rss_bytes_median", run.median_rss_bytes},
                   {"server_cpu_s", run.server_cpu_s},
                   {"stub_cpu_s", run.stub_cpu_s},
                   {"wrk_cpu_s", run.wrk_cpu_s},
                   {"server_cpu_us_per_request", run.per_request(run.server_cpu_s) * 1e6},
                   {"other_cpus", run.other_cpus},
                   {"context_switches", run.context_switches},
                   {"server_exit_status", run.exit_status}});
    if (run.fairness) {
        result["connections"] = {{"counted", run.fairness->connections},
                                 {"starved", run.fairness->starved},
                                 {"fewest_bytes", run.fairness->fewest_bytes},
                                 {"most_bytes", run.fairness->most_bytes}};
    }
    return result;
}

json to_json(const RowSummary& row, const Summary& summary) {
    json result = {{"id", row.row.id},
                   {"command", row.row.command},
                   {"runs", row.runs},
                   {"problems", row.problems},
                   {"rps", row.rate},
                   {"rps_spread", row.rate_spread},
                   {"p50_ms", row.p50_ms},
                   {"p99_ms", row.p99_ms},
                   {"os_threads_peak", row.threads},
                   {"rss_bytes_peak", row.peak_rss_bytes},
                   {"server_cpu_us_per_request", row.server_cpu_s * 1e6},
                   {"stub_cpu_us_per_request", row.stub_cpu_s * 1e6},
                   {"wrk_cpu_us_per_request", row.wrk_cpu_s * 1e6},
                   {"predicted_rps", row.prediction.rate},
                   {"limited_by", row.prediction.limit}};
    if (summary.machine_ceiling > 0) {
        result["share_of_machine_ceiling"] = row.rate / summary.machine_ceiling;
    }
    for (const PublishedRow& published : row.row.published) {
        result["published"].push_back(published.id);
    }
    return result;
}

}  // namespace

json results_json(const Experiment& experiment, const Summary& summary,
                  const std::vector<Run>& runs) {
    json result = {{"id", experiment.id},
                   {"title", experiment.title},
                   {"load",
                    {{"tool", "wrk"},
                     {"threads", experiment.load.threads},
                     {"connections", experiment.load.connections},
                     {"duration_ms", experiment.load.duration.count()},
                     {"warm_up_ms", experiment.load.warm_up.count()},
                     {"runs", experiment.load.runs}}},
                   {"stub", experiment.stub},
                   {"stub_median_s", summary.wait_s},
                   {"arithmetic_ceiling_rps", summary.arithmetic_ceiling},
                   {"machine_ceiling_rps", summary.machine_ceiling},
                   {"machine_ceiling_row", summary.machine_ceiling_row},
                   {"rows", json::array()},
                   {"runs", json::array()}};
    for (const RowSummary& row : summary.rows) {
        result["rows"].push_back(to_json(row, summary));
    }
    for (const Run& run : runs) {
        result["runs"].push_back(to_json(run, experiment.load.connections));
    }
    return result;
}

bool write_file(const std::filesystem::path& file, const std::string& text) {
    const std::filesystem::path aside = file.string() + ".part";
    std::ofstream stream(aside);
    stream << text;
    stream.close();
    std::error_code error;
    std::filesystem::rename(aside, file, error);
    return stream.good() && !error;
}

}  // namespace bench::report
