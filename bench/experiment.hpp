#pragma once

#include <chrono>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

/// One published table, or one of our own, as its file says it. docs/experiments.md explains every
/// key.
namespace bench {

/// What is wrong with a file: one sentence that names the file, the key and what is allowed.
struct ExperimentError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

enum class LoadKind { closed, burst, open, single, startup };

struct Load {
    LoadKind kind = LoadKind::closed;
    int threads = 1;  ///< Of the load generator.
    int connections = 1;
    std::optional<int> connections_per_cpu;
    std::chrono::milliseconds duration{0}, warm_up{0};  ///< Of closed and open loops.
    int requests = 0, warm_up_requests = 0;             ///< Of a burst.
    double offered_share = 0;  ///< Of an open loop: a share of the closed loop's rate.
    int runs = 1;
};

struct Request {
    std::string method = "GET";
    std::string path{};
    std::string body{};
};

/// What should come out of a row.
enum class Rule { none, unbounded, pool, injected, cpu };

struct PredictionRule {
    Rule rule = Rule::none;
    std::string servers{};  ///< Of Rule::pool: a number, a name under `scale`, or "cpus".
    std::optional<unsigned> cpus{}, min_threads{};  ///< Of Rule::injected; the machine's without.
    bool priority = false;                          ///< Completions ahead of the queue.
    double work_s = 0;                              ///< Of Rule::cpu: CPU time of one request.
    double cpu_iterations = 0;  ///< Or its iterations of GET /cpu, whose time calibration knows.
};

struct Row {
    std::string id;
    std::vector<std::string> command;  ///< With {placeholders}.
    std::string url;                   ///< Of a server that runs already, instead of a command.
    Request request;
    double wait_s = 0;  ///< What a request waits at least.
    Load load;
    bool cold = false;     ///< No warm-up: the start is what is measured.
    bool watch = false;    ///< Threads and completed requests come from /metrics.
    bool ceiling = false;  ///< A raw epoll program: the machine's ceiling, no model.
    std::vector<std::string> published;
    std::map<std::string, int> scale;
    PredictionRule predict;
    std::string series;  ///< The row that this one is a point of, and which point; else empty.
    double point = 0;
};

struct Sweep {
    std::string parameter;  ///< connections or offered_share; empty: none.
    std::vector<double> values;
};

struct Experiment {
    std::string id, title, published, source, published_machine;
    std::vector<std::string> stub;  ///< The downstream's command; empty when none is called.
    double wait_s = 0;
    Load load;
    std::vector<Row> rows;
    Sweep sweep;
    nlohmann::json claims = nlohmann::json::array();  ///< Judged by report/claims.hpp.
    std::vector<std::string> remarks;
    nlohmann::json published_rows = nlohmann::json::array();
    nlohmann::json published_claims = nlohmann::json::array();
};

/// `file` stands in the sentences of ExperimentError. `published` is published.json.
Experiment read_experiment(const nlohmann::json& experiment, const nlohmann::json& published,
                           const std::string& file);
/// Every file of `folder`: in the order of the published tables, then our own by name.
std::vector<Experiment> read_experiments(const std::filesystem::path& folder,
                                         const std::filesystem::path& published);

}  // namespace bench
