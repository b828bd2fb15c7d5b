#include "bench/compare.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

namespace bench {
namespace {

using nlohmann::json;
using statistics::kRunsForInterval;

constexpr int kComparedSchema = 2;

/// How a figure is named, and what it is in one run; nothing where the run does not know it.
struct Figure {
    std::string name;
    std::optional<double> (*of)(const json& run);
};

/// A number that may be missing; dividing by `unit` gives it in the figure's unit.
std::optional<double> number_of(const json& object, const char* name, double unit = 1) {
    const auto found = object.find(name);
    return found != object.end() && found->is_number() ? std::optional(found->get<double>() / unit)
                                                       : std::nullopt;
}

std::optional<double> cpu_us(const json& run) {
    const double requests = run.value("requests", 0.0);
    const auto cpu_s = number_of(run, "server_cpu_s");
    return requests > 0 && cpu_s ? std::optional(*cpu_s / requests * 1e6) : std::nullopt;
}

/// What the experiment's table compares, and the server's CPU time per request.
std::vector<Figure> figures_of(const json& experiment) {
    const std::string figure = experiment.value("figure", "rate");
    const Figure cpu{"CPU µs", cpu_us};
    if (figure == "wall") {
        return {{"wall s", [](const json& run) { return number_of(run, "wall_s"); }}, cpu};
    }
    if (figure == "start") {
        return {
            {"start ms", [](const json& run) { return number_of(run, "first_response_s", 1e-3); }}};
    }
    return {{"req/s", [](const json& run) { return number_of(run, "rps"); }}, cpu};
}

std::vector<const json*> measured_runs(const json& experiment, const std::string& row) {
    std::vector<const json*> runs;
    for (const json& run : experiment.at("runs")) {
        if (run.at("row") == row && run.value("measured", false)) {
            runs.push_back(&run);
        }
    }
    return runs;
}

template <class Value>
std::vector<double> values_of(const std::vector<const json*>& runs, Value of) {
    std::vector<double> values;
    for (const json* run : runs) {
        if (const auto value = of(*run)) {
            values.push_back(*value);
        }
    }
    return values;
}

double p99_ms(const std::vector<const json*>& runs) {
    return statistics::median(values_of(runs, [](const json& run) {
        return number_of(run.value("latency_raw", json::object()), "p99_ms");
    }));
}

/// A row of one report with the experiment around it.
struct Side {
    const json& experiment;
    const json& row;

    std::string verdict() const { return row.value("verdict", "valid"); }
    /// What must be the same for the figures to mean the same.
    json load() const {
        const json load = experiment.value("load", json::object());
        return {load.value("kind", ""), row.value("connections", load.value("connections", 0)),
                load.value("requests", 0), row.value("request", json::object()),
                experiment.value("figure", "rate")};
    }
};

/// Why the two rows cannot be compared whatever their runs say; empty when they can.
std::string unlike(const Side& first, const Side& second) {
    if (first.load() != second.load()) {
        return "another load";
    }
    for (const auto& [side, name] : {std::pair(&first, "first"), std::pair(&second, "second")}) {
        if (side->verdict() == "invalid") {
            return std::string("invalid in the ") + name + " report";
        }
    }
    return {};
}

ComparedFigure compare_figure(const Figure& figure, const std::vector<const json*>& first_runs,
                              const std::vector<const json*>& second_runs) {
    const auto first = values_of(first_runs, figure.of);
    const auto second = values_of(second_runs, figure.of);
    ComparedFigure result;
    result.name = figure.name;
    result.first = statistics::median(first);
    result.second = statistics::median(second);
    result.ratio = statistics::ratio(result.first, result.second);
    if (std::min(first.size(), second.size()) < kRunsForInterval) {
        result.reason = std::to_string(first.size()) + " and " + std::to_string(second.size()) +
                        " measured runs have this figure, and five a side are needed";
        return result;
    }
    result.interval = statistics::ratio_interval(first, second, kConfidence);
    const bool outside =
        result.interval.high < 1 - kSameWithin || result.interval.low > 1 + kSameWithin;
    result.difference = outside ? Difference::differs : Difference::indistinguishable;
    return result;
}

ComparedRow compare_row(const Side& first, const Side& second) {
    ComparedRow result;
    result.experiment = first.experiment.at("id");
    result.id = first.row.at("id");
    result.suspect = first.verdict() == "suspect" || second.verdict() == "suspect";
    const auto first_runs = measured_runs(first.experiment, result.id);
    const auto second_runs = measured_runs(second.experiment, result.id);
    result.first_p99_ms = p99_ms(first_runs);
    result.second_p99_ms = p99_ms(second_runs);
    const std::string reason = unlike(first, second);
    for (const Figure& figure : figures_of(first.experiment)) {
        result.figures.push_back(compare_figure(figure, first_runs, second_runs));
        if (!reason.empty()) {
            result.figures.back().difference = Difference::refused;
            result.figures.back().reason = reason;
        }
    }
    return result;
}

/// The member of a list with this id; nothing if there is none.
const json* find_id(const json& list, const std::string& id) {
    const auto found =
        std::ranges::find_if(list, [&](const json& one) { return one.at("id") == id; });
    return found == list.end() ? nullptr : &*found;
}

/// The row of the other report; nothing if it is not there.
std::optional<Side> find_row(const json& report, const Side& wanted) {
    const json* experiment = find_id(report.at("experiments"), wanted.experiment.at("id"));
    const json* row =
        experiment == nullptr ? nullptr : find_id(experiment->at("rows"), wanted.row.at("id"));
    return row == nullptr ? std::nullopt : std::optional(Side{*experiment, *row});
}

template <class Visit>
void for_each_row(const json& report, Visit visit) {
    for (const json& experiment : report.at("experiments")) {
        for (const json& row : experiment.at("rows")) {
            visit(Side{experiment, row});
        }
    }
}

std::string name_of(const Side& side) {
    return side.experiment.at("id").get<std::string>() + "/" + side.row.at("id").get<std::string>();
}

std::string shown(const json& value) {
    return value.is_string() ? value.get<std::string>() : value.dump();
}

/// A remark when a member that both have is not the same; `beginning` ends with "not".
void note_unequal(const json& first, const json& second, const std::string& name,
                  const std::string& beginning, std::vector<std::string>& remarks) {
    if (first.contains(name) && second.contains(name) && first[name] != second[name]) {
        remarks.push_back(beginning + " the same " + name + ": " + shown(first[name]) + " and " +
                          shown(second[name]) + ".");
    }
}

std::vector<std::string> remarks_on(const json& first, const json& second) {
    std::vector<std::string> remarks;
    note_unequal(first, second, "profile", "Not", remarks);
    for (const char* name : {"cpu", "cpus", "pin", "automatic_task_groups", "kernel", "governor",
                             "compiler", "compiler_flags", "build_type", "tools", "commit"}) {
        note_unequal(first.value("environment", json::object()),
                     second.value("environment", json::object()), name, "Not", remarks);
    }
    for (const auto& [report, name] : {std::pair(&first, "first"), std::pair(&second, "second")}) {
        if (!report->value("complete", true)) {
            remarks.push_back(std::string("The ") + name + " report is not complete.");
        }
    }
    return remarks;
}

/// `value` with as many decimals as make three or four digits of a figure of this size.
std::string rounded(double value) {
    if (std::isinf(value)) {
        return "inf";
    }
    char text[64];
    const int decimals = value >= 100 || value == 0 ? 0 : value >= 10 ? 1 : value >= 1 ? 2 : 3;
    std::snprintf(text, sizeof text, "%.*f", decimals, value);
    return text;
}

std::string ratio_text(double ratio) {
    char text[64];
    std::snprintf(text, sizeof text, "%.3f", ratio);
    return std::isinf(ratio) ? "inf" : text;
}

/// The text in a column of this width; UTF-8's continuation bytes take no room on the screen.
std::string cell(const std::string& text, std::size_t width, bool left = false) {
    const auto used = static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
    const std::string padding(width - std::min(width, used), ' ');
    return left ? text + padding : padding + text;
}

std::string table_line(const std::string& row, const std::string& figure, const std::string& first,
                       const std::string& second, const std::string& ratio,
                       const std::string& interval, const std::string& verdict) {
    std::string line = "  " + cell(row, 26, true) + " " + cell(figure, 8, true) + cell(first, 9) +
                       cell(second, 9) + cell(ratio, 8) + "  " + cell(interval, 14, true) + "  " +
                       verdict;
    line.erase(line.find_last_not_of(' ') + 1);
    return line + "\n";
}

std::string verdict_text(const ComparedFigure& figure) {
    switch (figure.difference) {
        case Difference::indistinguishable:
            return "indistinguishable";
        case Difference::refused:
            return "-";
        case Difference::differs:
            break;
    }
    if (std::isinf(figure.ratio)) {
        return "DIFFERS";
    }
    const double percent = (figure.ratio - 1) * 100;
    char text[64];
    std::snprintf(text, sizeof text, "DIFFERS: %+.1f %%", percent);
    return text;
}

std::string row_text(const ComparedRow& row) {
    std::string text;
    std::string label = row.id + (row.suspect ? " !" : "");
    std::string refused;
    for (const ComparedFigure& figure : row.figures) {
        const bool judged = figure.difference != Difference::refused;
        text += table_line(
            label, figure.name, rounded(figure.first), rounded(figure.second),
            judged ? ratio_text(figure.ratio) : "",
            judged ? ratio_text(figure.interval.low) + " to " + ratio_text(figure.interval.high)
                   : "",
            verdict_text(figure));
        label.clear();
        if (!judged && figure.reason != refused) {
            refused = figure.reason;
            text += "    not compared: " + refused + "\n";
        }
    }
    if (row.first_p99_ms > 0 || row.second_p99_ms > 0) {
        text += table_line("", "p99 ms", rounded(row.first_p99_ms), rounded(row.second_p99_ms), "",
                           "", "not judged");
    }
    return text;
}

std::string list_text(const std::string& what, const std::vector<std::string>& names) {
    std::string text;
    for (const auto& name : names) {
        text += what + name + "\n";
    }
    return text;
}

std::string summary_text(const Comparison& comparison) {
    std::size_t judged = 0, figures = 0;
    for (const ComparedRow& row : comparison.rows) {
        const auto of_row = std::ranges::count_if(row.figures, [](const ComparedFigure& figure) {
            return figure.difference != Difference::refused;
        });
        judged += of_row > 0 ? 1 : 0;
        figures += static_cast<std::size_t>(of_row);
    }
    const std::size_t differ = comparison.differences();
    return std::to_string(differ) + (differ == 1 ? " row differs" : " rows differ") + " of " +
           std::to_string(judged) + " compared (" + std::to_string(figures) + " figures); " +
           std::to_string(comparison.rows.size() - judged) + " not compared.\n" +
           "A figure differs when the whole 99 % bootstrap interval of its ratio, second / first,\n"
           "lies outside 0.95 to 1.05. Indistinguishable means equal, or too noisy to say.\n";
}

/// Why this document cannot be compared; empty when it can.
std::string unreadable(const json& report) {
    if (!report.is_object() || !report.contains("schema") || !report.contains("experiments")) {
        return "is no results.json of waitbench";
    }
    if (report["schema"] != kComparedSchema) {
        return "has schema " + report["schema"].dump() + ", and only " +
               std::to_string(kComparedSchema) + " can be compared";
    }
    return {};
}

}  // namespace

bool ComparedRow::differs() const {
    return std::ranges::any_of(figures, [](const ComparedFigure& figure) {
        return figure.difference == Difference::differs;
    });
}

std::size_t Comparison::differences() const {
    return static_cast<std::size_t>(std::ranges::count_if(rows, &ComparedRow::differs));
}

Result<Comparison> compare(const json& first, const json& second) {
    for (const auto& [report, name] : {std::pair(&first, "first"), std::pair(&second, "second")}) {
        if (const std::string why = unreadable(*report); !why.empty()) {
            return Result<Comparison>::failed(std::string("the ") + name + " report " + why);
        }
    }
    try {
        Comparison result;
        result.remarks = remarks_on(first, second);
        for_each_row(first, [&](const Side& side) {
            if (const auto other = find_row(second, side)) {
                result.rows.push_back(compare_row(side, *other));
                note_unequal(side.row, other->row, "command", name_of(side) + ": not",
                             result.remarks);
            } else {
                result.only_in_first.push_back(name_of(side));
            }
        });
        for_each_row(second, [&](const Side& side) {
            if (!find_row(first, side)) {
                result.only_in_second.push_back(name_of(side));
            }
        });
        return result;
    } catch (const json::exception& error) {
        return Result<Comparison>::failed(std::string("a report is damaged: ") + error.what());
    }
}

std::string comparison_text(const Comparison& comparison) {
    std::string text = list_text("", comparison.remarks);
    std::string experiment;
    for (const ComparedRow& row : comparison.rows) {
        if (row.experiment != experiment) {
            experiment = row.experiment;
            text += (text.empty() ? "" : "\n") + experiment + "\n" +
                    table_line("row", "figure", "first", "second", "ratio", "99 % interval", "");
        }
        text += row_text(row);
    }
    text += text.empty() ? "" : "\n";
    text += list_text("Only in the first report: ", comparison.only_in_first);
    text += list_text("Only in the second report: ", comparison.only_in_second);
    const bool suspect = std::ranges::any_of(comparison.rows, &ComparedRow::suspect);
    return text + summary_text(comparison) +
           (suspect ? "!: a validity gate calls the row suspect in one of the reports.\n" : "");
}

}  // namespace bench
