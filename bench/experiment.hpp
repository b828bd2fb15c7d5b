#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

namespace bench {

/// How wrk is driven.
struct Load {
    int threads = 1;
    int connections = 1000;
    std::chrono::milliseconds duration{6000};
    std::chrono::milliseconds warm_up{1500};
    int runs = 3;
};

/// What sets a row's rate, see predict/.
enum class Model {
    pool,       ///< `threads` of them block for the whole wait.
    unbounded,  ///< Nothing but the connections and the CPUs.
    injected,   ///< A pool that starts at the CPU count and grows; zero before take-off.
};

/// One line of published.json, as far as it can be shown beside a measured one.
struct PublishedRow {
    std::string id;
    std::string system;
    std::optional<double> rate, p50_ms, p99_ms, os_threads, rss_mb;
};

struct Row {
    std::string id;
    std::vector<std::string> command;  ///< Program beside the runner, and its flags.
    std::string path;  ///< What is asked of it; the raw relay passes the stub's own path on.
    Model model = Model::unbounded;
    int threads = 0;        ///< Of Model::pool.
    bool cold = false;      ///< No warm-up: the start is what is measured. Run once.
    bool ceiling = false;   ///< A raw epoll program: the machine's ceiling, no model.
    bool optional = false;  ///< Left out when the program does not know its flags.
    std::optional<std::chrono::milliseconds> duration;
    std::vector<PublishedRow> published;
};

struct Experiment {
    std::string id, title, path;
    std::string published_machine;
    Load load;
    std::vector<std::string> stub;  ///< The downstream's command.
    std::vector<Row> rows;

    std::chrono::milliseconds duration_of(const Row& row) const {
        return row.duration.value_or(load.duration);
    }
    int runs_of(const Row& row) const { return row.cold ? 1 : load.runs; }
    std::chrono::milliseconds time_of_run(const Row& row) const;
    std::chrono::milliseconds time() const;
};

/// Throws nlohmann's exceptions when a file is not as it should be.
Experiment read_experiment(const nlohmann::json& experiment, const nlohmann::json& published);
/// Reads FOLDER/experiments/NAME.json with FOLDER/published.json; all of them, in order of name.
std::vector<Experiment> read_experiments(const std::filesystem::path& folder);

}  // namespace bench
