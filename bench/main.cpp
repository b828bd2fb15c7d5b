#include <fcntl.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <random>

#include "bench/campaign.hpp"
#include "bench/compare.hpp"
#include "bench/interrupt.hpp"
#include "bench/report/environment.hpp"
#include "bench/report/results_json.hpp"
#include "bench/report/table.hpp"
#include "bench/report/write_report.hpp"
#include "bench/sample/machine.hpp"
#include "bench/validity/doctor.hpp"

using namespace bench;
using nlohmann::json;

namespace {

constexpr int kUsage = 2;
constexpr int kInterrupted = 130;
const std::filesystem::path kBench = WAITBENCH_BENCH_FOLDER;

struct RunOptions {
    std::vector<std::string> experiments;
    std::filesystem::path experiments_folder = kBench / "experiments";
    bool all = false;
    std::string profile = "quick";
    Overrides overrides;
    int connections = 0, runs = 0;
    std::uint64_t duration_ms = 0;
    std::uint64_t seed = std::random_device{}();
    std::string pin;
    std::filesystem::path out, resume;
};

std::vector<Experiment> all_experiments(const std::filesystem::path& folder) {
    return read_experiments(folder, kBench / "published.json");
}

/// Those that are asked for, in the order of all. Throws ExperimentError for a name that is none.
std::vector<Experiment> chosen(const RunOptions& options) {
    std::vector<Experiment> experiments = all_experiments(options.experiments_folder);
    std::vector<std::string> names = options.experiments;
    if (names.empty() && !options.all) {
        names = {"wait"};
    }
    for (const auto& name : names) {
        if (std::ranges::find(experiments, name, &Experiment::id) == experiments.end()) {
            throw ExperimentError("there is no experiment " + name +
                                  "; `waitbench list` names them");
        }
    }
    std::erase_if(experiments, [&](const Experiment& one) {
        return !names.empty() && std::ranges::find(names, one.id) == names.end();
    });
    return experiments;
}

json read_results(const std::filesystem::path& folder) {
    std::ifstream stream(folder / "results.json");
    const json results = json::parse(stream, nullptr, false);
    if (results.is_discarded() || results.value("schema", 0) != report::kSchema) {
        throw ExperimentError(folder.string() + " holds no results.json of schema " +
                              std::to_string(report::kSchema));
    }
    return results;
}

std::filesystem::path results_folder(const RunOptions& options) {
    std::filesystem::path folder = options.resume.empty() ? options.out : options.resume;
    if (folder.empty()) {
        char name[32];
        const std::time_t now = std::time(nullptr);
        std::strftime(name, sizeof name, "%Y-%m-%dT%H-%M-%SZ", std::gmtime(&now));
        folder = std::filesystem::path("results") / name;
    }
    if (options.resume.empty() && std::filesystem::exists(folder / "results.json")) {
        throw ExperimentError(folder.string() + " holds results already; choose another folder");
    }
    std::filesystem::create_directories(folder / "raw");
    return std::filesystem::absolute(folder);
}

/// Every process that is started inherits it.
void raise_descriptor_limit() {
    rlimit limit{};
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
}

target::Places find_places(const std::filesystem::path& folder, const target::Pinning& pinning) {
    target::Places places;
    places.programs = std::filesystem::read_symlink("/proc/self/exe").parent_path();
    places.wrk = target::find_program("wrk");
    places.wrk_script = kBench / "load/report.lua";
    places.h2load = target::find_program("h2load");
    places.raw = folder / "raw";
    places.pinning = pinning;
    places.cpus = std::max(1, static_cast<int>(sample::cpu_allowance().usable()));
    if (!pinning.server.empty()) {
        places.cpus = std::min(places.cpus, static_cast<int>(pinning.server.size()));
    }
    return places;
}

/// What a run needs and is not there; empty when all is.
std::string missing(const target::Places& places) {
    if (places.wrk.empty()) {
        return "wrk is not installed (on Debian: apt-get install wrk)";
    }
    if (places.h2load.empty()) {
        return "h2load is not installed (on Debian: apt-get install nghttp2-client)";
    }
    return {};
}

bool keep(const std::filesystem::path& folder, const json& results) {
    if (!report::write_file(folder / "results.json", results.dump(1) + "\n")) {
        spdlog::error("cannot write {}", (folder / "results.json").string());
        return false;
    }
    return true;
}

/// Prints the tables and writes the report beside results.json.
bool show(const std::filesystem::path& folder, const json& results, bool is_published_load) {
    std::string tables;
    for (const json& experiment : results["experiments"]) {
        tables += "\n" + report::table(experiment, results["environment"], is_published_load);
    }
    std::printf("%s\n", tables.c_str());
    bool written = report::write_file(folder / "table.txt", tables);
    const auto report = report::write_report(folder, results, {.page = kBench / "report/page"});
    if (!report) {
        spdlog::error("{}", report.error);
        written = false;
    } else if (!report.value->empty()) {
        spdlog::warn("{}", *report.value);
    }
    std::printf("Report: %s/report.html (and report.md, charts/, results.json, raw/)\n",
                folder.c_str());
    return written;
}

/// What a run that goes on must ask again, and the reverse. The suite's own experiments have no
/// folder here, because results are read on other machines, too.
json asked(const RunOptions& options) {
    const bool own = options.experiments_folder == RunOptions{}.experiments_folder;
    return {{"experiments", options.experiments},
            {"folder", own ? "" : std::filesystem::absolute(options.experiments_folder).string()},
            {"all", options.all},
            {"profile", options.profile},
            {"rows", options.overrides.rows},
            {"connections", options.connections},
            {"runs", options.runs},
            {"duration_ms", options.duration_ms},
            {"seed", options.seed},
            {"pin", options.pin}};
}
void take_over(RunOptions& options, const json& results) {
    const json& asked = results.at("asked");
    options.experiments = asked.at("experiments").get<std::vector<std::string>>();
    const std::string folder = asked.at("folder");
    if (!folder.empty()) {
        options.experiments_folder = folder;
    }
    options.all = asked.at("all");
    options.profile = asked.at("profile");
    options.overrides.rows = asked.at("rows").get<std::vector<std::string>>();
    options.connections = asked.at("connections");
    options.runs = asked.at("runs");
    options.duration_ms = asked.at("duration_ms");
    options.seed = asked.at("seed");
    options.pin = asked.value("pin", "");  // which results of before do not have
}

int run(RunOptions& options, const std::vector<std::string>& argv) {
    catch_interrupts();
    if (const auto why = report::unfit_build(); !why.empty()) {
        spdlog::error("{}", why);
        return 1;
    }
    if (!options.resume.empty()) {
        take_over(options, read_results(options.resume));
    }
    options.overrides.connections =
        options.connections > 0 ? std::optional(options.connections) : std::nullopt;
    options.overrides.runs = options.runs > 0 ? std::optional(options.runs) : std::nullopt;
    if (options.duration_ms > 0) {
        options.overrides.duration = std::chrono::milliseconds(options.duration_ms);
    }
    Result<target::Pinning> pinning = target::Pinning{};
    if (!options.pin.empty()) {
        pinning = target::parse_pinning(options.pin);
    }
    if (!pinning) {
        spdlog::error("{}", pinning.error);
        return kUsage;
    }
    std::vector<Experiment> experiments = chosen(options);
    CampaignOptions campaign{.profile = profile_named(options.profile),
                             .overrides = options.overrides,
                             .seed = options.seed,
                             .folder = {},
                             .argv = argv,
                             .asked = {}};
    campaign.asked = asked(options);
    if (!options.resume.empty()) {
        campaign.resumed = read_results(options.resume);
    }
    campaign.folder = results_folder(options);
    raise_descriptor_limit();
    Session session;
    session.places = find_places(campaign.folder, *pinning);
    if (const auto why = missing(session.places); !why.empty()) {
        spdlog::error("{}", why);
        return 1;
    }
    bool written = true;
    const json results =
        run_campaign(std::move(experiments), campaign, session,
                     [&](const json& so_far) { written = keep(campaign.folder, so_far); });
    if (interrupted()) {
        spdlog::warn(
            "interrupted; what was measured is kept: `waitbench report {0}` shows it, and "
            "`waitbench "
            "run --resume {0}` goes on after the last whole experiment",
            campaign.folder.string());
        return kInterrupted;
    }
    const bool is_published_load =
        campaign.profile != Profile::fit && !options.overrides.connections;
    written = show(campaign.folder, results, is_published_load) && written;
    const bool measured = std::ranges::any_of(results["experiments"], [](const json& experiment) {
        return std::ranges::any_of(experiment["runs"],
                                   [](const json& one) { return one.value("measured", false); });
    });
    return written && measured ? 0 : 1;
}

std::string duration_text(std::chrono::milliseconds duration) {
    const auto s = duration.count() / 1000;
    return s < 120 ? std::to_string(s) + " s" : std::to_string((s + 30) / 60) + " min";
}

int list(const std::filesystem::path& folder) {
    const int cpus = std::max(1, static_cast<int>(sample::cpu_allowance().usable()));
    std::vector<std::chrono::milliseconds> sums(3);
    for (const Experiment& experiment : all_experiments(folder)) {
        std::string times;
        for (const Profile profile : {Profile::quick, Profile::fit, Profile::blog}) {
            Experiment applied = experiment;
            apply_profile(applied, profile, 1, cpus, {});
            const auto time = time_of(applied, cpus);
            sums[static_cast<std::size_t>(profile)] += time;
            times += std::string(times.empty() ? "" : ", ") + name_of(profile) + " " +
                     duration_text(time);
        }
        std::printf("%s: %s (%s)\n", experiment.id.c_str(), experiment.title.c_str(),
                    times.c_str());
        for (const Row& row : experiment.rows) {
            std::string command;
            for (const auto& word : row.command) {
                command.append(" ").append(substituted(row, word, cpus));
            }
            std::printf("  %-28s%s%s%s\n", row.id.c_str(), command.c_str(), row.url.c_str(),
                        row.cold ? ", from a cold start" : "");
        }
    }
    std::printf("all: quick %s, fit %s, blog %s\n",
                duration_text(sums[static_cast<std::size_t>(Profile::quick)]).c_str(),
                duration_text(sums[static_cast<std::size_t>(Profile::fit)]).c_str(),
                duration_text(sums[static_cast<std::size_t>(Profile::blog)]).c_str());
    return 0;
}

int compare_folders(const std::filesystem::path& first, const std::filesystem::path& second) {
    const auto comparison = compare(read_results(first), read_results(second));
    if (!comparison) {
        spdlog::error("{}", comparison.error);
        return 1;
    }
    std::printf("%s", comparison_text(*comparison.value).c_str());
    return 0;
}

int examine_machine() {
    const auto findings = validity::examine(validity::look_at_machine());
    std::printf("%s", validity::to_text(findings).c_str());
    return validity::exit_status(findings);
}

void add_run_options(CLI::App& command, RunOptions& options) {
    command.add_option("experiment", options.experiments, "See `list`; wait without any");
    command.add_flag("--all", options.all, "Every experiment");
    command.add_option("--profile", options.profile, "quick, fit or blog (as published)")
        ->check(CLI::IsMember({"quick", "fit", "blog"}))
        ->capture_default_str();
    command
        .add_option("--experiments", options.experiments_folder,
                    "Folder of experiment files (docs/experiments.md)")
        ->check(CLI::ExistingDirectory);
    command.add_option("--rows", options.overrides.rows, "Only these rows, by id, such as a,b")
        ->delimiter(',')
        ->allow_extra_args(false);
    command.add_option("--connections", options.connections, "Instead of the profile's")
        ->check(CLI::Range(1, 100'000));
    command.add_option("--duration", options.duration_ms, "Of one run, whole seconds, such as 6s")
        ->transform(CLI::AsNumberWithUnit(
            std::map<std::string, std::uint64_t>{{"s", 1000}, {"min", 60'000}},
            CLI::AsNumberWithUnit::UNIT_REQUIRED))
        ->check(CLI::Range(std::uint64_t{1000}, std::uint64_t{3'600'000}));
    command.add_option("--runs", options.runs, "Of every row that is not cold")
        ->check(CLI::Range(1, 100));
    command.add_option("--seed", options.seed, "Of the order in which rows are run");
    command.add_option("--pin", options.pin,
                       "CPUs for each kind of program, such as server=0-3,stub=4,load=5-7");
    auto* out =
        command.add_option("--out", options.out, "Folder for results, not results/<UTC time>");
    command
        .add_option("--resume", options.resume,
                    "Go on with the interrupted run of this folder, as it was begun")
        ->check(CLI::ExistingDirectory)
        ->excludes(out);
}

}  // namespace

int main(int argc, char** argv) {
    spdlog::set_default_logger(spdlog::stderr_color_mt("waitbench"));
    spdlog::set_pattern("waitbench: %^%l%$: %v");
    CLI::App app{"Measures the servers of this suite against the figures that were published"};
    app.set_version_flag("--version", WAITBENCH_VERSION);
    app.require_subcommand(1);
    RunOptions options;
    std::filesystem::path first, second;
    auto* run_command = app.add_subcommand("run", "Runs experiments and prints their tables");
    add_run_options(*run_command, options);
    auto* list_command =
        app.add_subcommand("list", "Names experiments and rows, and how long they take");
    list_command->add_option("--experiments", options.experiments_folder)
        ->check(CLI::ExistingDirectory);
    auto* report_command =
        app.add_subcommand("report", "Writes the report of a results folder anew");
    report_command->add_option("folder", first)->required()->check(CLI::ExistingDirectory);
    auto* compare_command = app.add_subcommand("compare", "Says which rows of two results differ");
    compare_command->add_option("first", first)->required()->check(CLI::ExistingDirectory);
    compare_command->add_option("second", second)->required()->check(CLI::ExistingDirectory);
    app.add_subcommand("doctor", "Says whether this machine can measure, and how to mend it");
    try {
        app.parse(argc, argv);
    } catch (const CLI::ParseError& error) {
        return app.exit(error) == 0 ? 0 : kUsage;
    }
    try {
        if (run_command->parsed()) {
            return run(options, {argv, argv + argc});
        }
        if (list_command->parsed()) {
            return list(options.experiments_folder);
        }
        if (report_command->parsed()) {
            const json results = read_results(first);
            return show(std::filesystem::absolute(first), results,
                        results.value("profile", "") != "fit")
                       ? 0
                       : 1;
        }
        return compare_command->parsed() ? compare_folders(first, second) : examine_machine();
    } catch (const ExperimentError& error) {
        spdlog::error("{}", error.what());
        return kUsage;
    } catch (const std::exception& error) {
        spdlog::error("{}", error.what());
        return 1;
    }
}
