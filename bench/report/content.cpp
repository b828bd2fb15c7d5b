#include "bench/report/content.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <map>

namespace bench::report {
namespace {

using nlohmann::json;
using Rows = std::vector<const json*>;

/// Rates of the fastest and the slowest row that lie closer than this are given in percent.
constexpr double kSmallFactor = 1.1;

std::string or_nothing(std::optional<double> value) {
    return value ? readable(*value) : kNothing;
}

std::string or_nothing(const std::string& value) {
    return value.empty() ? kNothing : value;
}

std::optional<double> scaled(std::optional<double> value, double factor) {
    return value ? std::optional(*value * factor) : std::nullopt;
}

std::string whole_percent(std::optional<double> share) {
    return share ? readable(std::round(*share * 100)) + " %" : kNothing;
}

/// "+4 %", "−0.3 %": with a digit behind the point where the whole percent would say little.
std::string signed_percent(std::optional<double> share) {
    if (!share) {
        return kNothing;
    }
    const double value = *share * 100;
    char digits[32];
    std::snprintf(digits, sizeof digits, std::abs(value) < 9.95 ? "%.1f" : "%.0f", std::abs(value));
    return (value < 0 ? "−" : "+") + std::string(digits) + " %";
}

std::string from_to(std::optional<double> low, std::optional<double> high) {
    return low && high ? readable(*low) + " to " + readable(*high) : kNothing;
}

std::string interval(const json& row) {
    const json& bounds = list(row, "rps_interval");
    return bounds.size() == 2 ? from_to(bounds[0].get<double>(), bounds[1].get<double>())
                              : kNothing;
}

std::string counted(double count, const std::string& one, const std::string& many) {
    return readable(count) + " " + (count == 1 ? one : many);
}

std::string joined(const std::vector<std::string>& parts, const std::string& last) {
    std::string result;
    for (std::size_t i = 0; i < parts.size(); ++i) {
        result += (i == 0 ? "" : i + 1 == parts.size() ? last : ", ") + parts[i];
    }
    return result;
}

bool is_ceiling(const json& row) {
    return row.value("ceiling", false);
}

bool is_answered(const json& row) {
    return row.value("answered", true);
}

/// A column, and what a measured and a published row show in it.
struct Source {
    Column column;
    std::function<std::string(const json&)> measured;
    std::function<std::string(const json&)> published = nullptr;
};

Source number_source(const char* header, const char* key, double factor = 1,
                     const char* published_key = nullptr) {
    Source source{{header, ColumnKind::number},
                  [=](const json& row) { return or_nothing(scaled(number(row, key), factor)); }};
    if (published_key != nullptr) {
        source.published = [=](const json& row) { return or_nothing(number(row, published_key)); };
    }
    return source;
}

std::string published_label(const json& row) {
    const std::string outcome = text(row, "outcome");
    return "as published: " + text(row, "system") + (outcome.empty() ? "" : " (" + outcome + ")");
}

const json* published_row(const json& experiment, const json& id) {
    for (const json& row : list(experiment, "published_rows")) {
        if (row.contains("id") && row["id"] == id) {
            return &row;
        }
    }
    return nullptr;
}

/// Columns in which no line has anything to say are left out.
void drop_empty_columns(Table& table) {
    for (std::size_t i = table.columns.size(); i-- > 1;) {
        const auto is_empty = [i](const Line& line) {
            return line.cells[i].empty() || line.cells[i] == kNothing;
        };
        if (std::ranges::all_of(table.lines, is_empty)) {
            table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
            for (Line& line : table.lines) {
                line.cells.erase(line.cells.begin() + static_cast<std::ptrdiff_t>(i));
            }
        }
    }
}

Table table_of(const json& experiment, const std::vector<Source>& sources, bool with_published) {
    Table table;
    table.columns.push_back({"row"});
    for (const Source& source : sources) {
        table.columns.push_back(source.column);
    }
    const auto add = [&](LineKind kind, const std::string& label, const json& row) {
        Line line{kind, {label}};
        for (const Source& source : sources) {
            const auto& cell = kind == LineKind::published ? source.published : source.measured;
            line.cells.push_back(cell ? cell(row) : "");
            if (kind == LineKind::published && line.cells.back() == kNothing) {
                line.cells.back().clear();  // What nobody published is no gap in the measuring.
            }
        }
        table.lines.push_back(std::move(line));
    };
    for (const json& row : list(experiment, "rows")) {
        add(is_ceiling(row) ? LineKind::ceiling : LineKind::measured, label_of(row), row);
        for (const json& id : list(row, "published")) {
            const json* published = with_published ? published_row(experiment, id) : nullptr;
            if (published != nullptr) {
                add(LineKind::published, published_label(*published), *published);
            }
        }
    }
    drop_empty_columns(table);
    return table;
}

Source figure_source(const Figure& figure) {
    return {{figure.unit, ColumnKind::number},
            [=](const json& row) { return or_nothing(figure.of(row)); },
            [=](const json& row) {
                const auto value = figure.of_published(row);
                return value || figure.name != "rate"
                           ? or_nothing(value)
                           : from_to(number(row, "rps_low"), number(row, "rps_high"));
            }};
}

/// How sure a rate is: the interval of its median where the runs suffice for one, else all there
/// is.
Source spread_source(const json& experiment) {
    const bool has_interval = std::ranges::any_of(list(experiment, "rows"), [](const json& row) {
        return list(row, "rps_interval").size() == 2;
    });
    if (has_interval) {
        return {{"95 % interval", ColumnKind::number}, interval};
    }
    return {{"lowest to highest run", ColumnKind::number}, [](const json& row) {
                return number(row, "runs").value_or(0) > 1
                           ? from_to(number(row, "rps_low"), number(row, "rps_high"))
                           : kNothing;
            }};
}

Source ceiling_share(const char* header, const char* key) {
    return {{header, ColumnKind::number},
            [=](const json& row) { return whole_percent(number(row, key)); }};
}

Source verdict_source() {
    return {{"verdict", ColumnKind::verdict},
            [](const json& row) { return or_nothing(text(row, "verdict")); }};
}

std::string sustained(const json& row) {
    return !row.contains("sustained") ? kNothing : row.value("sustained", false) ? "yes" : "no";
}

/// Rows that the headline may speak of, the better figure first.
Rows ranked(const json& experiment, const Figure& figure) {
    Rows rows;
    for (const json& row : list(experiment, "rows")) {
        const std::string verdict = text(row, "verdict");
        if (!is_ceiling(row) && is_answered(row) && verdict != "invalid" && verdict != "not run" &&
            figure.of(row).value_or(0) > 0) {
            rows.push_back(&row);
        }
    }
    std::ranges::stable_sort(rows, [&](const json* one, const json* other) {
        return figure.more_is_better ? *figure.of(*one) > *figure.of(*other)
                                     : *figure.of(*one) < *figure.of(*other);
    });
    return rows;
}

std::string named(const json& row) {
    return label_of(row) + (text(row, "verdict") == "suspect" ? " (suspect)" : "");
}

std::string how_much(double factor, const Figure& figure) {
    const bool small = factor < kSmallFactor;
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.1f", small ? (factor - 1) * 100 : factor);
    const std::string amount = digits + std::string(small ? " %" : " times");
    if (figure.more_is_better) {
        return amount + (small ? " more than" : " as many as");
    }
    return amount + (small ? " faster than" : " as fast as");
}

/// A verdict, and what is said of several things that have it.
struct Counted {
    const char *verdict, *one, *many;
};

/// "9 rows: 7 valid, 1 suspect, 1 invalid." in the order in which verdicts are given.
std::string count_verdicts(const std::map<std::string, int>& counts,
                           std::initializer_list<Counted> order, const std::string& one,
                           const std::string& many) {
    int total = 0;
    std::vector<std::string> parts;
    for (const Counted& counted_verdict : order) {
        const auto found = counts.find(counted_verdict.verdict);
        if (found != counts.end()) {
            total += found->second;
            parts.push_back(std::to_string(found->second) + " " +
                            (found->second == 1 ? counted_verdict.one : counted_verdict.many));
        }
    }
    return total == 0 ? "" : counted(total, one, many) + ": " + joined(parts, ", ") + ".";
}

std::string load_sentence(const json& experiment) {
    const json load = experiment.value("load", json::object());
    const std::string kind = text(load, "kind"), tool = text(load, "tool");
    const double connections = number(load, "connections").value_or(0);
    const std::string on =
        connections > 0 ? " on " + counted(connections, "connection", "connections") : "";
    const double seconds = number(load, "duration_s").value_or(0);
    std::string sentence;
    if (kind == "closed") {
        sentence = "Closed loop: " + tool + on +
                   "; a connection sends its next request when its last one was answered";
    } else if (kind == "open") {
        sentence = "Open loop: " + tool + on +
                   " offers a fixed rate whether or not answers come; latency counts from the "
                   "instant at which a request should have been sent";
    } else if (number(load, "requests").value_or(0) > 0) {
        sentence =
            tool + " sends " + counted(*number(load, "requests"), "request", "requests") + on;
    } else {
        sentence = "Load: " + kind + " by " + tool + on;
    }
    if (seconds > 0) {
        sentence += "; " + readable(seconds) + " s";
        const double warm_up = number(load, "warm_up_s").value_or(0);
        sentence += warm_up > 0 ? " after " + readable(warm_up) + " s of warm-up" : "";
    }
    const double runs = number(load, "runs").value_or(0);
    if (runs > 1) {
        sentence += "; medians of " + readable(runs) + " runs";
    } else if (runs == 1) {
        sentence += "; one run, so nothing is known of its spread";
    }
    return sentence + ".";
}

void add_environment(const json& value, const std::string& name, Table& table) {
    if (value.is_object()) {
        for (const auto& [key, member] : value.items()) {
            add_environment(member, name.empty() ? key : name + ", " + key, table);
        }
        return;
    }
    if (value.is_null()) {
        return;
    }
    const std::string shown = value.is_string() ? value.get<std::string>() : value.dump();
    std::string words = name;
    std::ranges::replace(words, '_', ' ');
    table.lines.push_back({LineKind::measured, {words, or_nothing(shown)}});
}

}  // namespace

std::optional<double> number(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>())
                                                       : std::nullopt;
}

std::string text(const json& object, const char* key) {
    const auto found = object.find(key);
    return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

const json& list(const json& object, const char* key) {
    static const json nothing = json::array();
    const auto found = object.find(key);
    return found != object.end() && found->is_array() ? *found : nothing;
}

std::string readable(double value) {
    const double size = std::abs(value);
    const bool whole = size >= 99.95 || std::abs(value - std::round(value)) < 1e-9;
    char digits[64];
    std::snprintf(digits, sizeof digits, "%.*f", whole ? 0 : size >= 9.995 ? 1 : 2, value);
    std::string result = digits;
    const std::size_t first = result.starts_with('-') ? 1 : 0;
    for (std::size_t i = std::min(result.find('.'), result.size()); i > first + 3; i -= 3) {
        result.insert(i - 3, 1, ',');
    }
    return result;
}

std::optional<double> Figure::of(const json& row) const {
    return name == "wall"    ? number(row, "wall_s")
           : name == "start" ? scaled(number(row, "first_response_s"), 1000)
                             : number(row, "rps");
}

std::optional<double> Figure::of_published(const json& row) const {
    if (name == "wall") {
        const auto seconds = number(row, "wall_s");
        return seconds ? seconds : scaled(number(row, "wall_ms"), 0.001);
    }
    return number(row, name == "start" ? "first_response_ms" : "rps");
}

std::optional<double> Figure::predicted(const json& row) const {
    const auto found = row.find("predicted");
    if (found == row.end() || text(*found, "figure") != name) {
        return std::nullopt;
    }
    return scaled(number(*found, "value"), name == "start" ? 1000 : 1);
}

Figure figure_of(const json& experiment) {
    const std::string name = text(experiment, "figure");
    if (name == "wall") {
        return {name, "wall s", false};
    }
    return name == "start" ? Figure{name, "start ms", false} : Figure{"rate", "req/s", true};
}

std::string label_of(const json& row) {
    const std::string label = text(row, "label");
    return label.empty() ? text(row, "id") : label;
}

std::string model_of(const json& row) {
    if (is_ceiling(row)) {
        return "raw";
    }
    std::string program = text(row, "series");
    const json& command = list(row, "command");
    if (!command.empty() && command[0].is_string()) {
        program = command[0].get<std::string>();
    }
    for (const char* model : {"thread_pool", "stackful", "stackless", "sync_over_async"}) {
        if (program == model || program == std::string("server_") + model) {
            return model;
        }
    }
    return program.starts_with("raw_") ? "raw" : "other";
}

const json* headline_experiment(const json& results) {
    const json& experiments = list(results, "experiments");
    for (const json& experiment : experiments) {
        if (text(experiment, "id") == "wait") {
            return &experiment;
        }
    }
    return experiments.empty() ? nullptr : &experiments[0];
}

std::string headline(const json& results) {
    const json* experiment = headline_experiment(results);
    if (experiment == nullptr) {
        return "Nothing was measured.";
    }
    const Figure figure = figure_of(*experiment);
    const Rows rows = ranked(*experiment, figure);
    std::vector<std::string> silent;
    for (const json& row : list(*experiment, "rows")) {
        if (!is_answered(row) && text(row, "verdict") != "not run") {
            silent.push_back(named(row));
        }
    }
    std::string sentence;
    const double connections =
        number(experiment->value("load", json::object()), "connections").value_or(0);
    if (connections > 1 && !experiment->contains("sweep")) {
        sentence = "On " + readable(connections) + " connections ";
    }
    const std::size_t opening = sentence.size();
    if (!rows.empty()) {
        const json &best = *rows.front(), &worst = *rows.back();
        const double one = *figure.of(best), other = *figure.of(worst);
        sentence +=
            named(best) +
            (figure.name == "rate"   ? " answered " + readable(one) + " requests a second"
             : figure.name == "wall" ? " was done after " + readable(one) + " s"
                                     : " gave its first answer after " + readable(one) + " ms");
        if (rows.size() > 1 && one != other) {
            sentence += ", " + how_much(std::max(one, other) / std::min(one, other), figure) + " " +
                        named(worst) + " (" + readable(other) + ")";
        }
    }
    if (!silent.empty()) {
        sentence += (sentence.size() == opening ? "" : "; ") + joined(silent, " and ") +
                    " answered nothing";
    }
    return sentence.size() == opening ? "No row has a figure that may be compared."
                                      : sentence + ".";
}

std::string occasion(const json& results) {
    const json environment = results.value("environment", json::object());
    const std::string profile =
        text(results, "profile").empty() ? "" : "profile " + text(results, "profile");
    std::vector<std::string> parts;
    for (const std::string& part : {text(environment, "cpu"), profile, text(results, "started")}) {
        if (!part.empty()) {
            parts.push_back(part);
        }
    }
    if (const auto cpus = number(environment, "cpus")) {
        parts.insert(parts.begin(), counted(*cpus, "CPU", "CPUs"));
    }
    return joined(parts, ", ");
}

std::vector<std::string> verdicts(const json& results) {
    std::map<std::string, int> claims, rows;
    for (const json& experiment : list(results, "experiments")) {
        for (const json& claim : list(experiment, "claims")) {
            ++claims[text(claim, "verdict")];
        }
        for (const json& row : list(experiment, "rows")) {
            ++rows[text(row, "verdict")];
        }
    }
    std::vector<std::string> sentences;
    if (!results.value("complete", true)) {
        sentences.push_back("The run was interrupted: this is what was measured until then.");
    }
    std::string changed;
    const json other = results.value("resumed_with", json::object());
    for (const auto& [name, value] : other.items()) {
        changed += (changed.empty() ? "" : ", ") + name;
    }
    if (!changed.empty()) {
        sentences.push_back(
            "The run was interrupted; what came afterwards was measured with another: " + changed +
            ".");
    }
    for (const std::string& sentence :
         {count_verdicts(claims,
                         {{"holds", "holds", "hold"},
                          {"does not hold", "does not hold", "do not hold"},
                          {"cannot be tested", "cannot be tested", "cannot be tested"}},
                         "published claim", "published claims"),
          count_verdicts(rows,
                         {{"valid", "valid", "valid"},
                          {"suspect", "suspect", "suspect"},
                          {"invalid", "invalid", "invalid"},
                          {"not run", "not run", "not run"}},
                         "row", "rows")}) {
        if (!sentence.empty()) {
            sentences.push_back(sentence);
        }
    }
    return sentences;
}

std::vector<std::string> method(const json& experiment) {
    std::vector<std::string> sentences{load_sentence(experiment)};
    if (const auto wait = number(experiment, "stub_median_s")) {
        sentences.push_back("The downstream answers after " + readable(*wait * 1000) +
                            " ms, its median with one connection and no load.");
    }
    const auto arithmetic = number(experiment, "arithmetic_ceiling_rps");
    const auto machine = number(experiment, "machine_ceiling_rps");
    std::vector<std::string> ceilings;
    if (arithmetic) {
        ceilings.push_back("connections / wait is " + readable(*arithmetic) + " req/s");
    }
    if (machine) {
        const std::string row = text(experiment, "machine_ceiling_row");
        ceilings.push_back("a raw epoll program" + (row.empty() ? "" : " (" + row + ")") +
                           " reached " + readable(*machine) + " req/s on this machine");
    }
    if (!ceilings.empty()) {
        sentences.push_back("Ceilings: " + joined(ceilings, "; ") + ".");
    }
    const json gate = experiment.value("machine_ceiling_gate", json::object());
    if (text(gate, "verdict") == "suspect") {
        sentences.push_back("The raw epoll program is no ceiling here: " + text(gate, "reason"));
    }
    const std::string published = text(experiment, "published_machine");
    if (!published.empty()) {
        sentences.push_back("The published figures are from another machine: " + published + ".");
    }
    return sentences;
}

std::vector<std::string> scope() {
    return {"It ranks models on this host only.",
            "Server, downstream and load generator share the host, and on loopback a sender mostly "
            "pays for the receiver's softirq, so CPU per request contains work for the peer.",
            "The stackless server stands on Asio and the stackful one on its own reactor, so a "
            "difference between the two contains the reactor."};
}

std::string command_line(const json& results) {
    std::string line;
    for (const json& argument : list(results, "argv")) {
        const std::string word = argument.is_string() ? argument.get<std::string>() : "";
        const bool plain =
            !word.empty() && word.find_first_of(" \t\n\"'\\$`*?&|;<>()") == word.npos;
        line += (line.empty() ? "" : " ") + (plain ? word : "'" + word + "'");
    }
    return line;
}

Table headline_table(const json& experiment) {
    std::vector<Source> sources{figure_source(figure_of(experiment))};
    sources.push_back(ceiling_share("of machine's ceiling", "share_of_machine_ceiling"));
    sources.push_back(number_source("p99 ms", "p99_ms"));
    sources.push_back(number_source("threads", "os_threads_peak"));
    sources.push_back(number_source("RSS MB", "rss_bytes_peak", 1e-6));
    sources.push_back(verdict_source());
    Table table = table_of(experiment, sources, false);
    table.caption = text(experiment, "title");
    return table;
}

Table rows_table(const json& experiment) {
    const Figure figure = figure_of(experiment);
    std::vector<Source> sources{figure_source(figure), spread_source(experiment)};
    sources.push_back({{"predicted", ColumnKind::number},
                       [=](const json& row) { return or_nothing(figure.predicted(row)); }});
    sources.push_back({{"difference", ColumnKind::number},
                       [](const json& row) { return signed_percent(number(row, "difference")); }});
    sources.push_back(number_source("offered req/s", "offered_rps"));
    sources.push_back({{"sustained"}, sustained});
    sources.push_back(number_source("take-off s", "take_off_s"));
    sources.push_back(number_source("take-off predicted s", "take_off_predicted_s"));
    sources.push_back(ceiling_share("of arithmetic ceiling", "share_of_arithmetic_ceiling"));
    sources.push_back(ceiling_share("of machine's ceiling", "share_of_machine_ceiling"));
    sources.push_back(number_source("p50 ms", "p50_ms", 1, "p50_ms"));
    sources.push_back(number_source("p99 ms", "p99_ms", 1, "p99_ms"));
    sources.push_back(number_source("threads", "os_threads_peak", 1, "os_threads"));
    sources.push_back(number_source("RSS MB", "rss_bytes_peak", 1e-6, "rss_mb"));
    sources.push_back(number_source("server CPU µs", "server_cpu_us_per_request"));
    sources.push_back(
        {{"limited by"}, [](const json& row) { return or_nothing(text(row, "limited_by")); }});
    sources.push_back(verdict_source());
    Table table = table_of(experiment, sources, true);
    table.caption = "Measured, published, predicted";
    return table;
}

Table details_table(const json& experiment) {
    std::vector<Source> sources{
        {{"runs", ColumnKind::number},
         [](const json& row) { return or_nothing(number(row, "runs")); }},
        number_source("lowest req/s", "rps_low"),
        number_source("highest req/s", "rps_high"),
        number_source("p50 ms", "p50_ms"),
        number_source("p75 ms", "p75_ms"),
        number_source("p90 ms", "p90_ms"),
        number_source("p99 ms", "p99_ms"),
        number_source("p99.9 ms", "p999_ms"),
        number_source("max ms", "max_ms"),
        number_source("mean ms", "mean_ms"),
        number_source("PSS MB", "pss_bytes", 1e-6),
        number_source("context switches", "context_switches_per_request"),
        number_source("stub CPU µs", "stub_cpu_us_per_request"),
        number_source("load CPU µs", "load_cpu_us_per_request"),
        {{"prediction"},
         [](const json& row) {
             return row.contains("predicted") ? or_nothing(text(row["predicted"], "formula"))
                                              : kNothing;
         }},
        {{"request"}, [](const json& row) {
             const json request = row.value("request", json::object());
             return request.empty() ? kNothing
                                    : text(request, "method") + " " + text(request, "path");
         }}};
    Table table = table_of(experiment, sources, false);
    table.caption = "Latency and cost in full; CPU and context switches per request";
    return table;
}

Table claims_table(const json& experiment) {
    Table table{"What the source document claims",
                {{"claim"}, {"published"}, {"here"}, {"verdict", ColumnKind::verdict}, {"why"}},
                {}};
    for (const json& claim : list(experiment, "claims")) {
        Line line{LineKind::measured, {text(claim, "says")}};
        for (const char* key : {"published", "ours", "verdict"}) {
            line.cells.push_back(or_nothing(text(claim, key)));
        }
        line.cells.push_back(text(claim, "reason"));
        table.lines.push_back(std::move(line));
    }
    drop_empty_columns(table);
    return table;
}

Table gates_table(const json& experiment) {
    Table table{"Gates that did not hold, and what went wrong in single runs",
                {{"row"}, {"gate"}, {"verdict", ColumnKind::verdict}, {"reason"}},
                {}};
    std::map<std::string, std::string> labels;
    for (const json& row : list(experiment, "rows")) {
        labels[text(row, "id")] = label_of(row);
        for (const json& gate : list(row, "gates")) {
            const std::string verdict = text(gate, "verdict");
            if (verdict != "holds" && verdict != "exempt") {
                table.lines.push_back(
                    {LineKind::measured,
                     {label_of(row), text(gate, "id"), verdict, or_nothing(text(gate, "reason"))}});
            }
        }
    }
    for (const json& run : list(experiment, "runs")) {
        const std::string row = text(run, "row");
        const std::string label = labels.contains(row) ? labels[row] : row;
        for (const json& problem : list(run, "problems")) {
            table.lines.push_back({LineKind::measured,
                                   {label, "run " + or_nothing(number(run, "round")),
                                    run.value("measured", true) ? "problem" : "not measured",
                                    problem.is_string() ? problem.get<std::string>() : kNothing}});
        }
    }
    return table;
}

Table exemptions_table(const json& experiment) {
    Table table{
        "Gates that rows are exempt from, and why", {{"gate"}, {"reason"}, {"row ids"}}, {}};
    const std::size_t all = list(experiment, "rows").size();
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> rows;
    for (const json& row : list(experiment, "rows")) {
        for (const json& gate : list(row, "gates")) {
            if (text(gate, "verdict") == "exempt") {
                rows[{text(gate, "id"), text(gate, "reason")}].push_back(text(row, "id"));
            }
        }
    }
    for (const auto& [gate, ids] : rows) {
        table.lines.push_back(
            {LineKind::measured,
             {gate.first, or_nothing(gate.second), ids.size() == all ? "all" : joined(ids, ", ")}});
    }
    return table;
}

Table environment_table(const json& results) {
    Table table{"Where and how it was measured", {{"what"}, {"value"}}, {}};
    const json shown = {{"started", text(results, "started")},
                        {"profile", text(results, "profile")},
                        {"seed", results.value("seed", json())},
                        {"duration_s", results.value("duration_s", json())}};
    add_environment(shown, "", table);
    add_environment(results.value("environment", json::object()), "", table);
    return table;
}

}  // namespace bench::report
