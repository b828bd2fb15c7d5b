#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

/// The charts of a report, as values: report.html draws them with Chart.js and charts/ with
/// gnuplot, from the same points and in the same colours.
namespace bench::report {

struct Point {
    double x = 0, y = 0;
    bool hollow = false;  ///< An open-loop point whose load was not sustained.
};

struct Series {
    std::string label;
    std::string model;         ///< Whose colour it has, see colour_of().
    int variant = 0;           ///< Counts the series of one model, which differ by their dashes.
    std::string verdict = {};  ///< Shown beside the label unless it is "valid".
    bool second_axis = false;
    std::vector<Point> points = {};
    // Bars only: one point, whose x is the figure.
    std::optional<double> low = {}, high = {}, predicted = {};
    std::vector<double> published = {};
};

struct Axis {
    std::string title;
    bool log = false;
    std::vector<std::string> categories = {};  ///< Names of 0, 1, 2, … when not empty.
};

/// A line across the chart at an x, with its name.
struct Mark {
    std::string label;
    double x = 0;
};

enum class ChartKind { bars, lines, scatter };

struct Chart {
    std::string id;          ///< A file name.
    std::string experiment;  ///< Empty: over all experiments.
    ChartKind kind = ChartKind::lines;
    std::string title, note;
    Axis x, y;
    std::optional<Axis> second;  ///< The axis on the right.
    std::vector<Series> series;
    std::vector<Mark> marks;
    bool markers = true;  ///< Whether the points of a line are marked.
    bool svg = true;      ///< Whether charts/ has it, too.
};

/// Colours of Okabe and Ito, which colour-blind readers can tell apart.
std::string colour_of(const std::string& model);

std::vector<Chart> charts_of(const nlohmann::json& results);
nlohmann::json to_json(const Chart& chart);
/// Draws ID.svg.part in gnuplot's working directory.
std::string gnuplot_script(const Chart& chart);

}  // namespace bench::report
