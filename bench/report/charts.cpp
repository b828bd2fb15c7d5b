#include "bench/report/charts.hpp"

#include <algorithm>
#include <cmath>
#include <map>

#include "bench/report/content.hpp"

namespace bench::report {
namespace {

using nlohmann::json;

/// Points that a line over time has at most; more would not be seen.
constexpr std::size_t kPointsOverTime = 160;

std::string file_name(std::string id) {
    std::ranges::replace_if(
        id,
        [](unsigned char byte) { return std::isalnum(byte) == 0 && byte != '-' && byte != '_'; },
        '-');
    return id;
}

std::string verdict_of(const json& row) {
    return text(row, "verdict");
}

/// The series of one model are told apart by their dashes, so they are counted.
void count_variants(std::vector<Series>& series) {
    std::map<std::string, int> seen;
    for (Series& one : series) {
        one.variant = seen[one.model]++;
    }
}

/// The samples of the row's first measured run that has any.
const json& samples_of(const json& experiment, const json& row) {
    for (const json& run : list(experiment, "runs")) {
        if (text(run, "row") == text(row, "id") && run.value("measured", false) &&
            list(run, "samples").size() > 1) {
            return list(run, "samples");
        }
    }
    return list(json::object(), "");
}

std::vector<Point> over_time(const json& samples, const char* key, double factor) {
    std::vector<Point> points;
    const std::size_t step = samples.size() / kPointsOverTime + 1;
    for (std::size_t i = 0; i < samples.size(); i += step) {
        const auto time = number(samples[i], "t_s"), value = number(samples[i], key);
        if (time && value) {
            points.push_back({*time, *value * factor});
        }
    }
    return points;
}

/// `completed` counts from the server's start; what a reader wants to see is each interval.
std::vector<Point> completed_between(const json& samples) {
    std::vector<Point> points;
    double before = 0;
    for (const json& sample : samples) {
        const auto time = number(sample, "t_s"), completed = number(sample, "completed");
        if (time && completed) {
            points.push_back({*time, std::max(0.0, *completed - before)});
            before = *completed;
        }
    }
    return points;
}

bool has_timeline(const json& experiment, const json& row) {
    const json& samples = samples_of(experiment, row);
    return !samples.empty() && samples.back().contains("completed");
}

bool is_sweep(const json& experiment) {
    return experiment.contains("sweep");
}

bool is_open_loop(const json& experiment) {
    return std::ranges::any_of(list(experiment, "rows"),
                               [](const json& row) { return row.contains("offered_rps"); });
}

Chart chart(const json& experiment, const std::string& suffix, const std::string& title) {
    Chart result;
    result.experiment = text(experiment, "id");
    result.id = file_name(result.experiment + "-" + suffix);
    result.title = title;
    return result;
}

void add_ceilings(const json& experiment, Chart& bars) {
    if (const auto value = number(experiment, "machine_ceiling_rps")) {
        bars.marks.push_back({"this machine's ceiling " + readable(*value), *value});
    }
    if (const auto value = number(experiment, "arithmetic_ceiling_rps")) {
        bars.marks.push_back({"connections / wait " + readable(*value), *value});
    }
}

/// Published figures belong to the published load: profile `fit` scales it down, and `quick`
/// divides fixed counts, on which a wall time hangs.
bool published_compares(const Figure& figure, const std::string& profile) {
    return profile != "fit" && (figure.name != "wall" || profile != "quick");
}

void add_published(const json& experiment, const json& row, const Figure& figure, Series& series) {
    for (const json& id : list(row, "published")) {
        for (const json& published : list(experiment, "published_rows")) {
            const auto value = figure.of_published(published);
            if (value && published.contains("id") && published["id"] == id) {
                series.published.push_back(*value);
            }
        }
    }
}

/// Says only what the chart shows.
std::string note_of_bars(const json& experiment, const Chart& bars, bool published_left_out) {
    const auto any = [&](auto has) { return std::ranges::any_of(bars.series, has); };
    std::string note = "Bar: median of the runs.";
    if (any([](const Series& series) { return series.low.has_value(); })) {
        note += " Whisker: lowest and highest run.";
    }
    if (any([](const Series& series) { return series.predicted.has_value(); })) {
        note += " Upright tick: predicted.";
    }
    if (any([](const Series& series) { return !series.published.empty(); })) {
        const std::string machine = text(experiment, "published_machine");
        note += " Hollow diamond: published, on another machine" +
                (machine.empty() ? "" : " (" + machine + ")") +
                "; compare the order, not the height.";
    } else if (published_left_out) {
        note += " Published figures are left out: they belong to another load.";
    }
    if (any([](const Series& series) { return series.verdict == "invalid"; })) {
        note += " Hollow bar: invalid.";
    }
    return note;
}

Chart bars_of(const json& experiment, const std::string& profile) {
    const Figure figure = figure_of(experiment);
    Chart bars = chart(experiment, figure.name, text(experiment, "title"));
    bars.kind = ChartKind::bars;
    bars.x.title = figure.unit == "req/s" ? "requests per second" : figure.unit;
    bool left_out = false;
    for (const json& row : list(experiment, "rows")) {
        const auto value = figure.of(row);
        if (!value) {
            continue;
        }
        Series series{label_of(row), model_of(row)};
        series.verdict = verdict_of(row);
        series.points.push_back({*value, static_cast<double>(bars.series.size())});
        if (figure.name == "rate") {
            series.low = number(row, "rps_low");
            series.high = number(row, "rps_high");
        }
        series.predicted = figure.predicted(row);
        if (published_compares(figure, profile)) {
            add_published(experiment, row, figure, series);
        } else {
            left_out = left_out || !list(row, "published").empty();
        }
        bars.series.push_back(std::move(series));
    }
    if (figure.name == "rate") {
        add_ceilings(experiment, bars);
    }
    bars.note = note_of_bars(experiment, bars, left_out);
    return bars;
}

Chart percentiles_of(const json& experiment) {
    Chart lines = chart(experiment, "percentiles", "Latency percentiles");
    lines.svg = false;
    lines.x.categories = {"p50", "p75", "p90", "p99", "p99.9", "max"};
    lines.y = {"milliseconds", true, {}};
    for (const json& row : list(experiment, "rows")) {
        Series series{label_of(row), model_of(row)};
        series.verdict = verdict_of(row);
        double at = 0;
        for (const char* key : {"p50_ms", "p75_ms", "p90_ms", "p99_ms", "p999_ms", "max_ms"}) {
            if (const auto value = number(row, key); value && *value > 0) {
                series.points.push_back({at, *value});
            }
            ++at;
        }
        lines.series.push_back(std::move(series));
    }
    return lines;
}

Chart samples_chart(const json& experiment, const char* key, const std::string& title,
                    const std::string& unit, double factor) {
    Chart lines = chart(experiment, title, unit + " over time");
    lines.svg = lines.markers = false;
    lines.x.title = "seconds";
    lines.y = {unit, true, {}};
    lines.note = "The first measured run of each row.";
    for (const json& row : list(experiment, "rows")) {
        if (!has_timeline(experiment, row)) {
            Series series{label_of(row), model_of(row)};
            series.verdict = verdict_of(row);
            series.points = over_time(samples_of(experiment, row), key, factor);
            lines.series.push_back(std::move(series));
        }
    }
    return lines;
}

Chart timeline_of(const json& experiment, const json& row) {
    Chart lines = chart(experiment, "timeline-" + text(row, "id"), label_of(row));
    lines.markers = false;
    lines.x.title = "seconds from the first connection";
    lines.y.title = "threads";
    lines.second = Axis{"answers between samples", false, {}};
    const json& samples = samples_of(experiment, row);
    Series threads{"threads", model_of(row)};
    threads.points = over_time(samples, "threads", 1);
    Series completed{"answers between two samples", "raw"};
    completed.second_axis = true;
    completed.points = completed_between(samples);
    lines.series = {std::move(threads), std::move(completed)};
    if (const auto time = number(row, "take_off_predicted_s")) {
        lines.marks.push_back({"take-off predicted " + readable(*time) + " s", *time});
    }
    if (const auto time = number(row, "take_off_s")) {
        lines.marks.push_back({"measured " + readable(*time) + " s", *time});
    }
    return lines;
}

/// One line per series of a sweep; `y_of` says what is drawn over which x, or nothing.
template <class PointOf>
std::vector<Series> by_series(const json& experiment, PointOf point_of) {
    std::vector<Series> all;
    for (const json& row : list(experiment, "rows")) {
        const std::optional<Point> point = point_of(row);
        const std::string name = text(row, "series");
        if (!point || name.empty()) {
            continue;
        }
        auto found = std::ranges::find(all, name, &Series::label);
        if (found == all.end()) {
            all.push_back({name, model_of(row)});
            found = all.end() - 1;
        }
        found->points.push_back(*point);
    }
    for (Series& series : all) {
        std::ranges::sort(series.points, {}, &Point::x);
    }
    return all;
}

/// A sweep's line; zero has no place on a logarithmic axis, so its points are left out.
Chart swept(const json& experiment, const std::string& suffix, const std::string& title,
            const char* key, double factor, bool per_point) {
    const json& sweep = experiment["sweep"];
    Chart lines = chart(experiment, suffix, title + " over " + text(sweep, "parameter"));
    lines.x = {text(sweep, "unit"), true, {}};
    lines.y = {title, true, {}};
    bool zero = false;
    lines.series = by_series(experiment, [&](const json& row) -> std::optional<Point> {
        const auto x = number(row, "point"), y = number(row, key);
        zero = zero || (y && *y <= 0);
        if (!x || !y || *x <= 0 || *y <= 0) {
            return std::nullopt;
        }
        return Point{*x, *y * factor / (per_point ? *x : 1)};
    });
    lines.note =
        zero ? "Points at zero have no place on a logarithmic axis; the table has them." : "";
    return lines;
}

Chart open_loop_of(const json& experiment) {
    Chart lines = chart(experiment, "p99", "p99 from the intended start over offered load");
    lines.x.title = "offered requests per second";
    lines.y = {"p99 ms", true, {}};
    bool unsustained = false;
    lines.series = by_series(experiment, [&](const json& row) -> std::optional<Point> {
        const auto x = number(row, "offered_rps"), y = number(row, "p99_ms");
        if (!x || !y || *y <= 0) {
            return std::nullopt;
        }
        const bool hollow = !row.value("sustained", true);
        unsustained = unsustained || hollow;
        return Point{*x, *y, hollow};
    });
    lines.note = unsustained ? "Hollow: the offered load was not sustained." : "";
    return lines;
}

/// All rows that have a prediction and a figure above zero, by model.
Chart prediction_of(const json& results, const std::string& figure_name, const std::string& unit) {
    Chart dots;
    dots.id = "prediction-" + figure_name;
    dots.kind = ChartKind::scatter;
    dots.title = "Measured against predicted, " + unit;
    dots.x = {"predicted, " + unit, true, {}};
    dots.y = {"measured, " + unit, true, {}};
    dots.note =
        "Every row with a prediction and a figure above zero. On the line they agree; below "
        "it less was measured than predicted.";
    for (const json& experiment : list(results, "experiments")) {
        const Figure figure = figure_of(experiment);
        for (const json& row : list(experiment, "rows")) {
            const auto value = figure.of(row), predicted = figure.predicted(row);
            if (figure.name != figure_name || !value || !predicted || *value <= 0 ||
                *predicted <= 0) {
                continue;
            }
            const std::string model = model_of(row);
            auto found = std::ranges::find(dots.series, model, &Series::model);
            if (found == dots.series.end()) {
                dots.series.push_back({model, model});
                found = dots.series.end() - 1;
            }
            found->points.push_back({*predicted, *value});
        }
    }
    return dots;
}

void add_charts(const json& experiment, const std::string& profile, std::vector<Chart>& charts) {
    if (is_open_loop(experiment)) {
        charts.push_back(open_loop_of(experiment));
        return;
    }
    if (is_sweep(experiment)) {
        charts.push_back(swept(experiment, "rate", "requests per second", "rps", 1, false));
        charts.push_back(swept(experiment, "p99", "p99 ms", "p99_ms", 1, false));
        if (text(experiment["sweep"], "parameter") == "connections") {
            charts.push_back(
                swept(experiment, "rss", "RSS kB per connection", "rss_bytes_peak", 1e-3, true));
        }
        return;
    }
    std::size_t timelines = 0;
    for (const json& row : list(experiment, "rows")) {
        if (has_timeline(experiment, row)) {
            charts.push_back(timeline_of(experiment, row));
            ++timelines;
        }
    }
    if (timelines < list(experiment, "rows").size()) {
        charts.push_back(bars_of(experiment, profile));
        charts.push_back(percentiles_of(experiment));
        charts.push_back(samples_chart(experiment, "threads", "threads", "threads", 1));
        charts.push_back(samples_chart(experiment, "rss_bytes", "memory", "RSS MB", 1e-6));
    }
}

json to_json(const Axis& axis) {
    return {{"title", axis.title}, {"log", axis.log}, {"categories", axis.categories}};
}

}  // namespace

std::string colour_of(const std::string& model) {
    static const std::map<std::string, std::string> colours{
        {"thread_pool", "#0072b2"},     {"stackful", "#009e73"}, {"stackless", "#e69f00"},
        {"sync_over_async", "#d55e00"}, {"raw", "#7f8790"},      {"other", "#cc79a7"}};
    const auto found = colours.find(model);
    return found == colours.end() ? colours.at("other") : found->second;
}

std::vector<Chart> charts_of(const json& results) {
    std::vector<Chart> charts;
    for (const json& experiment : list(results, "experiments")) {
        add_charts(experiment, text(results, "profile"), charts);
    }
    charts.push_back(prediction_of(results, "rate", "requests per second"));
    charts.push_back(prediction_of(results, "wall", "seconds"));
    for (Chart& one : charts) {
        std::erase_if(one.series, [](const Series& series) { return series.points.empty(); });
        count_variants(one.series);
        // The name of a mark stands left of it, so the leftmost line must be the shortest.
        std::ranges::sort(one.marks, {}, &Mark::x);
    }
    std::erase_if(charts, [](const Chart& one) { return one.series.empty(); });
    return charts;
}

json to_json(const Chart& chart) {
    json result = {{"kind", chart.kind == ChartKind::bars    ? "bars"
                            : chart.kind == ChartKind::lines ? "lines"
                                                             : "scatter"},
                   {"x", to_json(chart.x)},
                   {"y", to_json(chart.y)},
                   {"markers", chart.markers},
                   {"marks", json::array()},
                   {"series", json::array()}};
    if (chart.second) {
        result["second"] = to_json(*chart.second);
    }
    for (const Mark& mark : chart.marks) {
        result["marks"].push_back({{"label", mark.label}, {"x", mark.x}});
    }
    for (const Series& series : chart.series) {
        json one = {{"label", series.label},
                    {"model", series.model},
                    {"colour", colour_of(series.model)},
                    {"variant", series.variant},
                    {"verdict", series.verdict},
                    {"second", series.second_axis},
                    {"published", series.published},
                    {"points", json::array()}};
        for (const Point& point : series.points) {
            one["points"].push_back({{"x", point.x}, {"y", point.y}});
            if (point.hollow) {
                one["points"].back()["hollow"] = true;
            }
        }
        for (const auto& [key, value] : {std::pair("low", series.low),
                                         {"high", series.high},
                                         {"predicted", series.predicted}}) {
            if (value) {
                one[key] = *value;
            }
        }
        result["series"].push_back(std::move(one));
    }
    return result;
}

}  // namespace bench::report
