#include <fcntl.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <random>

#include "bench/interrupt.hpp"
#include "bench/report/environment.hpp"
#include "bench/report/progress.hpp"
#include "bench/report/results_json.hpp"
#include "bench/report/table.hpp"
#include "bench/runner.hpp"
#include "bench/sample/process.hpp"
#include "bench/target/child.hpp"

using namespace bench;

namespace {

/// Descriptors that a server needs besides two for each connection.
constexpr rlim_t kOtherDescriptors = 100;

struct RunOptions {
    std::string experiment = "wait";
    std::vector<std::string> rows;
    int connections = 0;
    std::chrono::milliseconds duration{0};
    int runs = 0;
    std::uint64_t seed = std::random_device{}();
    std::filesystem::path out;
};

/// What is wrong with the options, or with the machine for them; empty when nothing is.
std::string apply(const RunOptions& options, Experiment& experiment) {
    Load& load = experiment.load;
    load.connections = options.connections > 0 ? options.connections : load.connections;
    load.runs = options.runs > 0 ? options.runs : load.runs;
    if (options.duration.count() > 0) {
        load.duration = options.duration;
        for (Row& row : experiment.rows) {
            row.duration.reset();
        }
    }
    for (const auto& id : options.rows) {
        if (std::ranges::find(experiment.rows, id, &Row::id) == experiment.rows.end()) {
            return "experiment " + experiment.id + " has no row " + id;
        }
    }
    std::erase_if(experiment.rows, [&](const Row& row) {
        return !options.rows.empty() &&
               std::ranges::find(options.rows, row.id) == options.rows.end();
    });
    if (load.connections % load.threads != 0) {
        return "wrk drops connections that its " + std::to_string(load.threads) +
               " threads cannot share evenly";
    }
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;  // Every process that is started inherits it.
    setrlimit(RLIMIT_NOFILE, &limit);
    const rlim_t needed = 2 * static_cast<rlim_t>(load.connections) + kOtherDescriptors;
    return needed <= limit.rlim_max
               ? ""
               : std::to_string(load.connections) + " connections need " + std::to_string(needed) +
                     " descriptors, and the limit here is " + std::to_string(limit.rlim_max);
}

std::filesystem::path make_results_folder(const RunOptions& options) {
    std::filesystem::path folder = options.out;
    if (folder.empty()) {
        char name[32];
        const std::time_t now = std::time(nullptr);
        std::strftime(name, sizeof name, "%Y-%m-%dT%H-%M-%SZ", std::gmtime(&now));
        folder = std::filesystem::path("results") / name;
    }
    std::filesystem::create_directories(folder / "raw");
    return std::filesystem::absolute(folder);
}

/// Rounds of all rows, each round in an order of its own; cold rows are in the first only.
std::vector<std::pair<int, const Row*>> plan(const Experiment& experiment, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::vector<std::pair<int, const Row*>> order;
    for (int round = 1; round <= experiment.load.runs; ++round) {
        const auto first = static_cast<std::ptrdiff_t>(order.size());
        for (const Row& row : experiment.rows) {
            if (round <= experiment.runs_of(row)) {
                order.emplace_back(round, &row);
            }
        }
        std::shuffle(order.begin() + first, order.end(), random);
    }
    return order;
}

std::vector<Run> run_all(const Experiment& experiment, const Places& places, std::uint64_t seed) {
    const auto order = plan(experiment, seed);
    std::chrono::milliseconds left = experiment.time();
    report::Progress progress(order.size());
    std::vector<Run> runs;
    for (const auto& [round, row] : order) {
        progress.show(row->id + ", round " + std::to_string(round), left);
        runs.push_back(run_row(experiment, *row, round, places));
        if (interrupted()) {
            runs.pop_back();
            break;
        }
        for (const auto& problem : runs.back().problems) {
            progress.note(row->id + ": " + problem);
        }
        left -= experiment.time_of_run(*row);
    }
    return runs;
}

int run(const RunOptions& options, const std::vector<std::string>& argv) {
    if (const auto why = report::unfit_build(); !why.empty()) {
        spdlog::error("{}", why);
        return 1;
    }
    auto experiments = read_experiments(WAITBENCH_BENCH_FOLDER);
    const auto found = std::ranges::find(experiments, options.experiment, &Experiment::id);
    if (found == experiments.end()) {
        spdlog::error("there is no experiment {}; `waitbench list` names them", options.experiment);
        return 2;
    }
    Experiment& experiment = *found;
    const int published_connections = experiment.load.connections;
    if (const auto problem = apply(options, experiment); !problem.empty()) {
        spdlog::error("{}", problem);
        return 2;
    }
    Places places;
    places.programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    places.wrk = target::find_program("wrk");
    places.wrk_script = std::filesystem::path(WAITBENCH_BENCH_FOLDER) / "load/report.lua";
    if (places.wrk.empty()) {
        spdlog::error("wrk is not installed (on Debian: apt-get install wrk)");
        return 1;
    }
    const auto folder = make_results_folder(options);
    places.raw = folder / "raw";
    const auto wait_s = measure_stub(experiment, places);
    if (!wait_s) {
        if (!interrupted()) {
            spdlog::error("{}", wait_s.error);
        }
        return interrupted() ? 130 : 1;
    }
    std::erase_if(experiment.rows,
                  [&](const Row& row) { return row.optional && !is_supported(row, places); });
    auto environment = report::environment(places.wrk, places.raw);
    const auto runs = run_all(experiment, places, options.seed);
    const auto summary = report::summarize(experiment, runs, *wait_s.value, sample::usable_cpus());
    nlohmann::json results = {{"schema", report::kSchema},
                              {"complete", !interrupted()},
                              {"argv", argv},
                              {"seed", options.seed},
                              {"environment", std::move(environment)},
                              {"experiments", {report::results_json(experiment, summary, runs)}}};
    const std::string table =
        report::table(experiment, summary, experiment.load.connections == published_connections);
    const bool written = report::write_file(folder / "results.json", results.dump(1) + "\n") &&
                         report::write_file(folder / "table.txt", table);
    if (!written) {
        spdlog::error("cannot write to {}", folder.string());
    }
    if (interrupted()) {
        spdlog::warn("interrupted after {} runs, which are kept in {}", runs.size(),
                     folder.string());
        return 130;
    }
    std::printf("\nRaw output and results.json: %s\n\n%s", folder.c_str(), table.c_str());
    const bool measured = std::ranges::any_of(runs, &Run::measured);
    return written && measured ? 0 : 1;
}

int list() {
    for (const Experiment& experiment : read_experiments(WAITBENCH_BENCH_FOLDER)) {
        std::printf("%s: %s (%ld s)\n", experiment.id.c_str(), experiment.title.c_str(),
                    static_cast<long>(experiment.time().count() / 1000));
        for (const Row& row : experiment.rows) {
            std::string command;
            for (const auto& word : row.command) {
                command.append(" ").append(word);
            }
            std::printf("  %-22s%s%s\n", row.id.c_str(), command.c_str(),
                        row.cold ? ", from a cold start" : "");
        }
    }
    return 0;
}

}  // namespace

int main(int argc, char** argv) {
    spdlog::set_default_logger(spdlog::stderr_color_mt("waitbench"));
    spdlog::set_pattern("waitbench: %^%l%$: %v");
    CLI::App app{"Measures the servers of this suite against the figures that were published"};
    app.set_version_flag("--version", WAITBENCH_VERSION);
    app.require_subcommand(1);
    RunOptions options;
    auto* run_command = app.add_subcommand("run", "Runs an experiment and prints its table");
    run_command->add_option("experiment", options.experiment, "See `list`")->capture_default_str();
    run_command->add_option("--rows", options.rows, "Only these rows, by id")->delimiter(',');
    run_command->add_option("--connections", options.connections, "Instead of the experiment's")
        ->check(CLI::Range(1, 100'000));
    std::uint64_t duration_ms = 0;
    run_command->add_option("--duration", duration_ms, "Of one run, whole seconds, such as 6s")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, std::uint64_t>{{"s", 1000}, {"min", 60'000}},
            CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{3'600'000}));
    run_command->add_option("--runs", options.runs, "Of every row that is not cold")
        ->check(CLI::Range(1, 100));
    run_command->add_option("--seed", options.seed, "Of the order in which rows are run");
    run_command->add_option("--out", options.out, "Folder for results, not results/<UTC time>");
    auto* list_command = app.add_subcommand("list", "Names experiments and rows");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : 2;
    }
    options.duration = std::chrono::milliseconds(duration_ms);
    catch_interrupts();
    try {
        return list_command->parsed() ? list() : run(options, {argv, argv + argc});
    } catch (const std::exception& error) {
        spdlog::error("{}", error.what());
        return 1;
    }
}
