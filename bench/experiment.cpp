#include "bench/experiment.hpp"

#include <algorithm>
#include <fstream>
#include <set>

#include "bench/limits.hpp"

namespace bench {
namespace {

using nlohmann::json;
using Milliseconds = std::chrono::milliseconds;

constexpr double kLongestWaitMs = 3'600'000;

/// The members of one JSON object. Every one must be asked for; what nobody asks for is unknown.
class Members {
  public:
    Members(const json& object, std::string place) : object_(object), place_(std::move(place)) {
        if (!object_.is_object()) {
            throw ExperimentError(place_ + " must be an object");
        }
    }

    const std::string& place() const { return place_; }
    bool has(const char* key) {
        known_.insert(key);
        return object_.contains(key);
    }
    const json& at(const char* key) {
        if (!has(key)) {
            throw ExperimentError(place_ + " needs the key \"" + key + "\"");
        }
        return object_[key];
    }
    [[noreturn]] void fail(const char* key, const std::string& allowed) const {
        throw ExperimentError(place_ + "." + key + " must be " + allowed);
    }

    std::string text(const char* key) {
        const json& value = at(key);
        if (!value.is_string() || value.get<std::string>().empty()) {
            fail(key, "a text");
        }
        return value;
    }
    std::string text_or(const char* key, const std::string& otherwise) {
        return has(key) ? text(key) : otherwise;
    }
    std::string choice(const char* key, const std::vector<std::string>& choices) {
        const std::string value = text(key);
        if (std::ranges::find(choices, value) == choices.end()) {
            std::string allowed;
            for (const auto& one : choices) {
                allowed += (allowed.empty() ? "" : ", ") + one;
            }
            fail(key, "one of " + allowed);
        }
        return value;
    }
    double number(const char* key, double low, double high) {
        const json& value = at(key);
        if (!value.is_number() || value < low || value > high) {
            fail(key, "a number from " + plain(low) + " to " + plain(high));
        }
        return value;
    }
    int whole(const char* key, int low, int high) {
        const json& value = at(key);
        if (!value.is_number_integer() || value < low || value > high) {
            fail(key, "a whole number from " + std::to_string(low) + " to " + std::to_string(high));
        }
        return value;
    }
    int whole_or(const char* key, int low, int high, int otherwise) {
        return has(key) ? whole(key, low, high) : otherwise;
    }
    bool flag(const char* key) {
        if (!has(key)) {
            return false;
        }
        if (!object_[key].is_boolean()) {
            fail(key, "true or false");
        }
        return object_[key];
    }
    std::vector<std::string> texts(const char* key) {
        const json& value = at(key);
        const auto is_text = [](const json& one) { return one.is_string(); };
        if (!value.is_array() || value.empty() || !std::ranges::all_of(value, is_text)) {
            fail(key, "a list of texts");
        }
        return value;
    }
    std::vector<std::string> texts_or_none(const char* key) {
        return has(key) ? texts(key) : std::vector<std::string>();
    }
    Milliseconds seconds(const char* key) {
        return Milliseconds(static_cast<long>(number(key, 0, limits::kLongestRunS) * 1000));
    }

    /// Throws if a key was never asked for.
    void no_others() const {
        for (const auto& [key, value] : object_.items()) {
            if (!known_.contains(key)) {
                std::string allowed;
                for (const auto& one : known_) {
                    allowed += (allowed.empty() ? "" : ", ") + one;
                }
                throw ExperimentError(place_ + " has the unknown key \"" + key +
                                      "\"; allowed are " + allowed);
            }
        }
    }

  private:
    static std::string plain(double value) { return json(value).dump(); }

    const json& object_;
    std::string place_;
    std::set<std::string> known_;
};

LoadKind kind_of(const std::string& name) {
    return name == "burst"     ? LoadKind::burst
           : name == "open"    ? LoadKind::open
           : name == "single"  ? LoadKind::single
           : name == "startup" ? LoadKind::startup
                               : LoadKind::closed;
}

Load read_load(Members members) {
    Load load;
    load.kind = kind_of(members.choice("kind", {"closed", "burst", "open", "single", "startup"}));
    load.runs = members.whole("runs", 1, limits::kMostRuns);
    if (load.kind == LoadKind::closed) {
        load.threads = members.whole_or("threads", 1, 1024, 1);
    }
    if (load.kind == LoadKind::closed && members.has("connections_per_cpu")) {
        load.connections_per_cpu = members.whole("connections_per_cpu", 1, 1000);
    } else if (load.kind != LoadKind::single && load.kind != LoadKind::startup) {
        load.connections = members.whole("connections", 1, limits::kMostConnections);
    }
    if (load.kind == LoadKind::closed || load.kind == LoadKind::open) {
        load.duration = members.seconds("duration_s");
        load.warm_up = members.seconds("warm_up_s");
    }
    if (load.kind == LoadKind::burst) {
        load.requests = members.whole("requests", 1, limits::kMostRequests);
        load.warm_up_requests = members.whole_or("warm_up_requests", 0, limits::kMostRequests, 0);
    }
    members.no_others();
    return load;
}

Request read_request(Members members) {
    Request request;
    if (members.has("method")) {
        request.method = members.choice("method", {"GET", "POST"});
    }
    request.path = members.text("path");
    request.body = members.text_or("body", "");
    if ((request.method == "POST") != !request.body.empty()) {  // wrk and h2load tell by the body
        members.fail("body", "there, and not empty, in a POST and only there");
    }
    if (!request.path.starts_with('/')) {
        members.fail("path", "a path that begins with /");
    }
    members.no_others();
    return request;
}

PredictionRule read_prediction(Members members) {
    PredictionRule prediction;
    const std::string rule =
        members.choice("rule", {"none", "unbounded", "pool", "injected", "cpu"});
    if (rule == "unbounded") {
        prediction.rule = Rule::unbounded;
    } else if (rule == "pool") {
        prediction.rule = Rule::pool;
        const json& servers = members.at("servers");
        prediction.servers = servers.is_string() ? servers.get<std::string>() : servers.dump();
    } else if (rule == "injected") {
        prediction.rule = Rule::injected;
        if (members.has("cpus")) {
            prediction.cpus = members.whole("cpus", 1, 1024);
        }
        if (members.has("min_threads")) {
            prediction.min_threads = members.whole("min_threads", 1, 32'767);
        }
        prediction.priority = members.has("completions") &&
                              members.choice("completions", {"fifo", "priority"}) == "priority";
    } else if (rule == "cpu") {
        prediction.rule = Rule::cpu;
        if (members.has("work_ms") == members.has("iterations")) {
            throw ExperimentError(members.place() + " needs either \"work_ms\" or \"iterations\"");
        }
        if (members.has("work_ms")) {
            prediction.work_s = members.number("work_ms", 0.001, 60'000) / 1000;
        } else {
            prediction.cpu_iterations = members.whole("iterations", 1, limits::kMostRequests);
        }
    }
    members.no_others();
    return prediction;
}

std::map<std::string, int> read_scale(const json& scale, const std::string& place) {
    Members members(scale, place);
    std::map<std::string, int> numbers;
    for (const auto& [key, value] : scale.items()) {
        numbers[key] = members.whole(key.c_str(), 1, limits::kMostRequests);
    }
    return numbers;
}

Row read_row(Members members, const Experiment& experiment, const Request& request) {
    Row row;
    row.id = members.text("id");
    if (members.has("command") == members.has("url")) {
        throw ExperimentError(members.place() + " needs either \"command\" or \"url\"");
    }
    row.command = members.texts_or_none("command");
    row.url = members.text_or("url", "");
    if (!row.url.empty() && !row.url.starts_with("http://")) {
        members.fail("url", "a text like http://127.0.0.1:8080");
    }
    row.request = members.has("request")
                      ? read_request(Members(members.at("request"), members.place() + ".request"))
                      : request;
    row.wait_s = members.has("wait_ms") ? members.number("wait_ms", 0, kLongestWaitMs) / 1000
                                        : experiment.wait_s;
    row.load = experiment.load;
    if (!row.url.empty() && row.load.kind == LoadKind::startup) {
        members.fail("url", "left out: a server that runs already cannot be started");
    }
    if (members.has("connections")) {
        row.load.connections = members.whole("connections", 1, limits::kMostConnections);
        row.load.connections_per_cpu.reset();
    }
    if (members.has("duration_s")) {
        row.load.duration = members.seconds("duration_s");
    }
    row.cold = members.flag("cold");
    row.load.runs = members.whole_or("runs", 1, limits::kMostRuns, row.cold ? 1 : row.load.runs);
    row.watch = members.flag("watch");
    row.ceiling = members.flag("ceiling");
    row.published = members.texts_or_none("published");
    for (const auto& id : row.published) {
        const auto has_id = [&](const json& one) { return one["id"] == id; };
        if (std::ranges::none_of(experiment.published_rows, has_id)) {
            members.fail("published", "ids of published.json, which has no " + id);
        }
    }
    if (members.has("scale")) {
        row.scale = read_scale(members.at("scale"), members.place() + ".scale");
    }
    if (members.has("predict")) {
        row.predict = read_prediction(Members(members.at("predict"), members.place() + ".predict"));
    }
    members.no_others();
    return row;
}

/// What report/claims.hpp relies on.
void check_claim(Members members) {
    members.text("id");
    members.text_or("says", "");
    members.text_or("published", "");
    members.text_or("cannot_be_tested", "");
    members.texts_or_none("cpu_must_not_limit");
    int number = 0;
    for (const json& condition : members.has("when") ? members.at("when") : json::array()) {
        Members parts(condition, members.place() + ".when[" + std::to_string(number++) + "]");
        for (const char* key : {"value", "over"}) {
            if ((key == std::string("value") || parts.has(key)) && !parts.at(key).is_number()) {
                parts.text(key);
            }
        }
        constexpr double kAny = 1e18;
        for (const char* key : {"at_least", "at_most"}) {
            if (parts.has(key)) {
                parts.number(key, -kAny, kAny);
            }
        }
        parts.no_others();
    }
    members.no_others();
}

Sweep read_sweep(Members members) {
    Sweep sweep;
    sweep.parameter = members.choice("parameter", {"connections", "offered_share"});
    const json& values = members.at("values");
    const auto is_positive = [](const json& one) { return one.is_number() && one > 0; };
    if (!values.is_array() || values.empty() || !std::ranges::all_of(values, is_positive)) {
        members.fail("values", "a list of numbers above 0");
    }
    sweep.values = values.get<std::vector<double>>();
    members.no_others();
    return sweep;
}

void take_published(Experiment& experiment, const json& published, Members& members) {
    experiment.published = members.text("published");
    const auto& list = published.at("experiments");
    const auto found = std::ranges::find_if(
        list, [&](const json& one) { return one["id"] == experiment.published; });
    if (found == list.end()) {
        members.fail("published", "the id of an experiment in published.json");
    }
    experiment.source = found->value("source", "");
    experiment.published_machine = found->value("machine", "");
    experiment.published_rows = found->value("rows", json::array());
    experiment.published_claims = found->value("claims", json::array());
}

json read_json(const std::filesystem::path& file) {
    std::ifstream stream(file);
    if (!stream) {
        throw ExperimentError("cannot read " + file.string());
    }
    try {
        return json::parse(stream);
    } catch (const json::exception& error) {
        throw ExperimentError(file.filename().string() + " is not JSON: " + error.what());
    }
}

}  // namespace

Experiment read_experiment(const json& document, const json& published, const std::string& file) {
    Members members(document, file);
    Experiment experiment;
    experiment.id = members.text("id");
    experiment.title = members.text("title");
    if (members.has("published")) {
        take_published(experiment, published, members);
    }
    experiment.stub = members.texts_or_none("stub");
    if (members.has("wait_ms")) {
        experiment.wait_s = members.number("wait_ms", 0, kLongestWaitMs) / 1000;
    }
    Request request;
    if (members.has("request")) {
        request = read_request(Members(members.at("request"), file + ": request"));
    }
    experiment.load = read_load(Members(members.at("load"), file + ": load"));
    if (members.has("sweep")) {
        experiment.sweep = read_sweep(Members(members.at("sweep"), file + ": sweep"));
    }
    if (experiment.load.kind == LoadKind::open && experiment.sweep.parameter != "offered_share") {
        throw ExperimentError(file + ": load.kind open needs a \"sweep\" of offered_share");
    }
    std::set<std::string> ids;
    int number = 0;
    for (const json& row : members.at("rows")) {
        const std::string place = file + ": rows[" + std::to_string(number++) + "]";
        experiment.rows.push_back(read_row(Members(row, place), experiment, request));
        const Row& last = experiment.rows.back();
        if (!ids.insert(last.id).second) {
            throw ExperimentError(place + ".id must be unique, and " + last.id + " is there twice");
        }
        if (last.request.path.empty()) {
            throw ExperimentError(place + " needs a \"request\", since the experiment has none");
        }
    }
    if (members.has("claims")) {
        experiment.claims = members.at("claims");
        int claim = 0;
        for (const json& one : experiment.claims) {
            check_claim(Members(one, file + ": claims[" + std::to_string(claim++) + "]"));
        }
    }
    experiment.remarks = members.texts_or_none("remarks");
    members.no_others();
    return experiment;
}

std::vector<Experiment> read_experiments(const std::filesystem::path& folder,
                                         const std::filesystem::path& published_file) {
    const json published = read_json(published_file);
    std::vector<std::filesystem::path> files;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".json") {
            files.push_back(entry.path());
        }
    }
    std::ranges::sort(files);
    std::vector<Experiment> experiments;
    for (const auto& file : files) {
        experiments.push_back(
            read_experiment(read_json(file), published, file.filename().string()));
        if (experiments.back().id != file.stem()) {
            throw ExperimentError(file.filename().string() + ".id must be the file's name");
        }
    }
    const json& tables = published.at("experiments");
    std::ranges::stable_sort(experiments, {}, [&tables](const Experiment& one) {
        return std::ranges::find_if(
                   tables, [&](const json& table) { return table.at("id") == one.published; }) -
               tables.begin();
    });
    return experiments;
}

}  // namespace bench
