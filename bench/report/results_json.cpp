#include "bench/report/results_json.hpp"

#include <fstream>

namespace bench::report {
namespace {

using nlohmann::json;

template <class Value>
void put(json& object, const char* name, const std::optional<Value>& value) {
    if (value) {
        object[name] = *value;
    }
}

json percentiles_json(const Percentiles& values) {
    json result = json::object();
    put(result, "p50_ms", values.p50_ms);
    put(result, "p75_ms", values.p75_ms);
    put(result, "p90_ms", values.p90_ms);
    put(result, "p99_ms", values.p99_ms);
    put(result, "p999_ms", values.p999_ms);
    put(result, "max_ms", values.max_ms);
    put(result, "mean_ms", values.mean_ms);
    return result;
}

json sample_json(const Sample& sample) {
    json result = {
        {"t_s", sample.t_s}, {"threads", sample.threads}, {"rss_bytes", sample.rss_bytes}};
    put(result, "completed", sample.completed);
    put(result, "blocked", sample.blocked);
    return result;
}

const char* name_of(LoadKind kind) {
    switch (kind) {
        case LoadKind::burst:
            return "burst";
        case LoadKind::open:
            return "open";
        case LoadKind::single:
            return "single";
        case LoadKind::startup:
            return "startup";
        case LoadKind::closed:
            break;
    }
    return "closed";
}

/// Who produces the load.
const char* tool_of(LoadKind kind) {
    return kind == LoadKind::closed                            ? "wrk"
           : kind == LoadKind::burst || kind == LoadKind::open ? "h2load"
                                                               : "waitbench";
}

}  // namespace

json to_json(const Load& load) {
    json result = {{"kind", name_of(load.kind)},
                   {"tool", tool_of(load.kind)},
                   {"threads", load.threads},
                   {"connections", load.connections},
                   {"runs", load.runs}};
    if (load.kind == LoadKind::closed || load.kind == LoadKind::open) {
        result["duration_s"] = std::chrono::duration<double>(load.duration).count();
        result["warm_up_s"] = std::chrono::duration<double>(load.warm_up).count();
    }
    if (load.kind == LoadKind::burst) {
        result["requests"] = load.requests;
    }
    return result;
}

json to_json(const validity::GateResult& gate) {
    return {
        {"id", gate.id}, {"verdict", validity::to_string(gate.verdict)}, {"reason", gate.reason}};
}

json to_json(const std::vector<validity::GateResult>& gates) {
    json result = json::array();
    for (const auto& gate : gates) {
        result.push_back(to_json(gate));
    }
    return result;
}

json to_json(const Run& run) {
    json result = {{"row", run.row},
                   {"round", run.round},
                   {"raw_files", run.files},
                   {"measured", run.measured},
                   {"problems", run.problems}};
    if (!run.measured) {
        return result;
    }
    const validity::Facts& facts = run.facts;
    result.update({{"duration_s", facts.duration_s},
                   {"requests", facts.requests},
                   {"status_errors", facts.status_errors},
                   {"socket_errors", facts.socket_errors},
                   {"rps", run.rate()},
                   {"latency_raw", percentiles_json(run.raw)},
                   {"os_threads_peak", run.threads},
                   {"os_threads_median", run.median_threads},
                   {"rss_bytes_peak", run.peak_rss_bytes},
                   {"rss_bytes_median", run.median_rss_bytes},
                   {"server_cpu_s", run.server_cpu_s},
                   {"stub_cpu_s", run.stub_cpu_s},
                   {"load_cpu_s", run.load_cpu_s},
                   {"context_switches", run.context_switches},
                   {"gates", to_json(run.gates)},
                   {"samples", json::array()}});
    for (const Sample& sample : run.samples) {
        result["samples"].push_back(sample_json(sample));
    }
    if (run.corrected) {
        result["latency_as_wrk_corrects_it"] = percentiles_json(*run.corrected);
    }
    if (facts.mean_latency_s && facts.connections > 0) {
        result["littles_law"] = run.rate() * *facts.mean_latency_s / facts.connections;
    }
    if (facts.tcp) {
        result["delayed_acks"] = facts.tcp->delayed_acks;
    }
    put(result, "bytes", facts.bytes);
    put(result, "wall_s", run.wall_s);
    put(result, "first_response_s", run.first_response_s);
    if (run.cpu_iterations > 0) {
        result["cpu_iterations"] = run.cpu_iterations;
    }
    put(result, "offered_rps", run.offered_rps);
    put(result, "take_off_s", run.take_off_s);
    put(result, "pss_bytes", run.pss_bytes);
    put(result, "other_cpus", facts.other_cpus);
    put(result, "stub_requests", facts.stub_requests);
    put(result, "server_requests", facts.server_requests);
    put(result, "server_exit_status", facts.exit_status);
    put(result, "starved_connections", facts.starved_connections);
    put(result, "canary_slowdown", facts.canary_slowdown);
    return result;
}

bool write_file(const std::filesystem::path& file, const std::string& text) {
    const std::filesystem::path aside = file.string() + ".part";
    std::ofstream stream(aside);
    stream << text;
    stream.close();
    std::error_code error;
    if (stream.good()) {
        std::filesystem::rename(aside, file, error);
    }
    const bool written = stream.good() && !error;
    if (!written) {
        std::filesystem::remove(aside, error);  // what a full disk has taken of it
    }
    return written;
}

}  // namespace bench::report
