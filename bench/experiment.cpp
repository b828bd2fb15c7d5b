#include "bench/experiment.hpp"

#include <algorithm>
#include <fstream>
#include <stdexcept>

#include "bench/limits.hpp"

namespace bench {
namespace {

using nlohmann::json;

std::chrono::milliseconds seconds(const json& value) {
    return std::chrono::milliseconds(static_cast<long>(value.get<double>() * 1000));
}

Model model(const std::string& name) {
    if (name == "pool") {
        return Model::pool;
    }
    if (name == "unbounded") {
        return Model::unbounded;
    }
    if (name == "injected") {
        return Model::injected;
    }
    throw std::runtime_error("there is no model " + name);
}

std::optional<double> number(const json& row, const char* name) {
    return row.contains(name) ? std::optional(row[name].get<double>()) : std::nullopt;
}

const json& find_by_id(const json& list, const std::string& id) {
    const auto found = std::ranges::find_if(list, [&](const json& row) { return row["id"] == id; });
    if (found == list.end()) {
        throw std::runtime_error("published.json has no " + id);
    }
    return *found;
}

PublishedRow read_published(const json& row) {
    return {row.at("id"),          row.at("system"),      number(row, "rps"),
            number(row, "p50_ms"), number(row, "p99_ms"), number(row, "os_threads"),
            number(row, "rss_mb")};
}

Row read_row(const json& row, const std::string& path, const json& published) {
    Row result;
    result.id = row.at("id");
    result.command = row.at("command").get<std::vector<std::string>>();
    result.path = row.value("path", path);
    result.model = model(row.value("model", "unbounded"));
    result.threads = row.value("threads", 0);
    result.cold = row.value("cold", false);
    result.ceiling = row.value("ceiling", false);
    result.optional = row.value("optional", false);
    if (row.contains("duration_s")) {
        result.duration = seconds(row["duration_s"]);
    }
    for (const std::string id : row.value("published", json::array())) {
        result.published.push_back(read_published(find_by_id(published.at("rows"), id)));
    }
    return result;
}

json read_json(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) {
        throw std::runtime_error("cannot read " + file.string());
    }
    return json::parse(stream);
}

}  // namespace

std::chrono::milliseconds Experiment::time_of_run(const Row& row) const {
    return limits::kRunOverhead + duration_of(row) +
           (row.cold ? std::chrono::milliseconds(limits::kStop) : load.warm_up);
}

std::chrono::milliseconds Experiment::time() const {
    std::chrono::milliseconds sum{0};
    for (const Row& row : rows) {
        sum += runs_of(row) * time_of_run(row);
    }
    return sum;
}

Experiment read_experiment(const json& experiment, const json& published) {
    Experiment result;
    result.id = experiment.at("id");
    result.title = experiment.at("title");
    result.path = experiment.at("path");
    const json& load = experiment.at("load");
    result.load = {load.at("threads"), load.at("connections"), seconds(load.at("duration_s")),
                   seconds(load.at("warm_up_s")), load.at("runs")};
    result.stub = experiment.at("stub").get<std::vector<std::string>>();
    const json& source =
        find_by_id(published.at("experiments"), experiment.at("published").get<std::string>());
    result.published_machine = source.value("machine", "");
    for (const json& row : experiment.at("rows")) {
        result.rows.push_back(read_row(row, result.path, source));
    }
    return result;
}

std::vector<Experiment> read_experiments(const std::filesystem::path& folder) {
    const json published = read_json(folder / "published.json");
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder / "experiments")) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    std::vector<Experiment> experiments;
    for (const auto& file : files) {
        experiments.push_back(read_experiment(read_json(file), published));
    }
    return experiments;
}

}  // namespace bench
