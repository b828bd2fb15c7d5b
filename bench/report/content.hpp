#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// What a report says, before it is Markdown or HTML: sentences and tables made of results.json
/// (schema 2) and of nothing else.
namespace bench::report {

enum class ColumnKind { text, number, verdict };

struct Column {
    std::string header;
    ColumnKind kind = ColumnKind::text;
};

enum class LineKind { measured, ceiling, published };

struct Line {
    LineKind kind = LineKind::measured;
    std::vector<std::string> cells;  ///< As many as there are columns; the first names the line.
};

struct Table {
    std::string caption;
    std::vector<Column> columns;
    std::vector<Line> lines;  ///< A table without lines is not shown.
};

/// What stands where there is nothing to say.
inline constexpr const char* kNothing = "–";

/// A member, when it is there and a number.
std::optional<double> number(const nlohmann::json& object, const char* key);
/// A member, when it is there and a string; else empty.
std::string text(const nlohmann::json& object, const char* key);
/// A member, when it is there and an array; else an empty one.
const nlohmann::json& list(const nlohmann::json& object, const char* key);

/// Three significant digits, or all digits before the point: 1.26, 33.6, 9,458.
std::string readable(double value);

/// What an experiment compares, in the unit of the table: requests per second, seconds,
/// milliseconds.
struct Figure {
    std::string name;  ///< "rate", "wall" or "start".
    std::string unit;
    bool more_is_better = true;

    std::optional<double> of(const nlohmann::json& row) const;
    std::optional<double> of_published(const nlohmann::json& row) const;
    /// A prediction is in the unit of its row's member, seconds for both times.
    std::optional<double> predicted(const nlohmann::json& row) const;
};
Figure figure_of(const nlohmann::json& experiment);

std::string label_of(const nlohmann::json& row);
/// The model whose colour a row has: thread_pool, stackful, stackless, sync_over_async, raw or
/// other.
std::string model_of(const nlohmann::json& row);
/// The experiment that the first screen shows: `wait`, or else the first. Null without any.
const nlohmann::json* headline_experiment(const nlohmann::json& results);

/// One sentence computed from the headline experiment.
std::string headline(const nlohmann::json& results);
/// Where, how and when: "2 CPUs, AMD EPYC, profile quick, 2026-11-30T21:00:00Z".
std::string occasion(const nlohmann::json& results);
/// How many claims and rows got which verdict, and whether the run is complete.
std::vector<std::string> verdicts(const nlohmann::json& results);
/// How an experiment was measured, and its ceilings.
std::vector<std::string> method(const nlohmann::json& experiment);
/// What the ranking is worth, and what it is not.
std::vector<std::string> scope();
std::string command_line(const nlohmann::json& results);

Table headline_table(const nlohmann::json& experiment);
Table rows_table(const nlohmann::json& experiment);
/// Percentiles and costs that the first table has no room for.
Table details_table(const nlohmann::json& experiment);
Table claims_table(const nlohmann::json& experiment);
/// Gates that did not hold, and what went wrong in single runs.
Table gates_table(const nlohmann::json& experiment);
/// One line for each reason, with the rows' ids.
Table exemptions_table(const nlohmann::json& experiment);
Table environment_table(const nlohmann::json& results);

}  // namespace bench::report
