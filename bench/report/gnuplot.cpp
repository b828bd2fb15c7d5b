#include <algorithm>
#include <sstream>

#include "bench/report/charts.hpp"
#include "bench/report/content.hpp"

namespace bench::report {
namespace {

constexpr int kSvgWidth = 920, kSvgHeight = 460;
/// Of a chart of bars: what each bar adds, and what title and axes take.
constexpr int kBarHeight = 46, kBarsFrame = 130;
/// Of any chart: a line of text, and what lies above and below the plot of lines.
constexpr int kTextHeight = 18, kLinesFrame = 180;
constexpr const char* kInk = "#1f2328";
constexpr const char* kMuted = "#6a737d";

/// In single quotes gnuplot replaces nothing; a quote is doubled.
std::string in_quotes(const std::string& text) {
    std::string result = "'";
    for (const char byte : text) {
        if (byte == '\n' || byte == '\r') {
            result += ' ';
        } else {
            result.append(byte == '\'' ? 2 : 1, byte);
        }
    }
    return result + "'";
}

std::string with_verdict(const Series& series) {
    return series.verdict.empty() || series.verdict == "valid"
               ? series.label
               : series.label + " (" + series.verdict + ")";
}

double largest_x(const Chart& bars) {
    double largest = 0;
    for (const Series& series : bars.series) {
        largest = std::max(
            {largest, series.points[0].x, series.high.value_or(0), series.predicted.value_or(0)});
        for (const double published : series.published) {
            largest = std::max(largest, published);
        }
    }
    for (const Mark& mark : bars.marks) {
        largest = std::max(largest, mark.x);
    }
    return largest;
}

/// The point of a model, so that colour is not all that tells series apart.
int marker_of(const std::string& model) {
    return model == "thread_pool"       ? 5
           : model == "stackless"       ? 9
           : model == "sync_over_async" ? 13
                                        : 7;
}

/// Names of marks stand above the plot, one line each, and the title above them.
std::string frame(const Chart& chart, int height) {
    const auto marks = static_cast<double>(chart.marks.size());
    std::ostringstream out;
    out << "set terminal svg noenhanced size " << kSvgWidth << "," << height
        << " font 'Helvetica,Arial,sans-serif,14' background '#ffffff'\n"
        << "set output " << in_quotes(chart.id + ".svg.part") << "\n"
        << "set title " << in_quotes(chart.title) << " font ',17' offset 0," << marks << " tc rgb '"
        << kInk << "'\n"
        << "set tmargin " << 3.5 + marks << "\n"
        << "set border 3 lc rgb '" << kMuted << "'\n"
        << "set tics nomirror tc rgb '" << kInk << "'\n"
        << "set grid lc rgb '#e3e6ea' lt 1\n"
        << "set xlabel " << in_quotes(chart.x.title) << " tc rgb '" << kInk << "'\n"
        << "set decimalsign '.'\nset format x \"%.10g\"\nset format y \"%.10g\"\n";
    return out.str();
}

void add_marks(const Chart& chart, double plot_height, std::ostringstream& out) {
    for (std::size_t i = 0; i < chart.marks.size(); ++i) {
        const Mark& mark = chart.marks[i];
        const double top = 1 + kTextHeight * (static_cast<double>(i) + 0.6) / plot_height;
        out << "set arrow from first " << mark.x << ", graph 0 to first " << mark.x << ", graph "
            << top << " nohead dt 2 lw 1.5 lc rgb '" << kInk << "' front\nset label "
            << in_quotes(mark.label + " ") << " at first " << mark.x << ", graph " << top
            << " right tc rgb '" << kInk << "' font ',12' front\n";
    }
}

void draw_bar(const Series& series, double at, std::size_t object, std::ostringstream& out) {
    const double value = series.points[0].x;
    const bool hollow = series.verdict == "invalid";
    out << "set object " << object << " rectangle from 0, " << at - 0.1 << " to " << value << ", "
        << at + 0.3 << " fc rgb '" << colour_of(series.model) << "' fs "
        << (hollow ? "empty" : "solid") << " border lc rgb '" << colour_of(series.model)
        << "' lw 2\n"
        << "set label " << in_quotes(with_verdict(series) + "   " + readable(value)) << " at 0, "
        << at - 0.3 << " left offset 0.4,0 tc rgb '" << kInk << "' font ',13' front\n";
    if (series.low && series.high) {
        out << "set arrow from " << *series.low << ", " << at + 0.1 << " to " << *series.high
            << ", " << at + 0.1 << " nohead lw 2 lc rgb '" << kInk << "' front\n";
    }
    if (series.predicted) {
        out << "set arrow from " << *series.predicted << ", " << at - 0.16 << " to "
            << *series.predicted << ", " << at + 0.36 << " nohead lw 3 lc rgb '" << kInk
            << "' front\n";
    }
    for (const double published : series.published) {
        out << "set label '' at " << published << ", " << at + 0.1
            << " point pt 12 ps 1.2 lw 1.5 lc rgb '" << kMuted << "' front\n";
    }
}

std::string bars_script(const Chart& chart) {
    const auto bars = static_cast<int>(chart.series.size());
    std::ostringstream out;
    out << frame(
        chart, kBarsFrame + kBarHeight * bars + kTextHeight * static_cast<int>(chart.marks.size()));
    out << "unset ytics\nset border 1\nset grid noy\nunset key\n"
        << "set lmargin 3\nset rmargin 4\n";
    add_marks(chart, kBarHeight * bars, out);
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        draw_bar(chart.series[i], static_cast<double>(i), i + 1, out);
    }
    out << "set xrange [0:" << std::max(largest_x(chart) * 1.04, 1e-9) << "]\nset yrange ["
        << bars - 0.4 << ":-0.6]\nplot NaN notitle\n";
    return out.str();
}

void add_axes(const Chart& chart, std::ostringstream& out) {
    out << "set ylabel " << in_quotes(chart.y.title) << " tc rgb '" << kInk << "'\n"
        << "set bmargin 6\nset key at screen 0.5, 0.02 center bottom horizontal tc rgb '" << kInk
        << "'\n";
    if (chart.x.log) {
        out << "set logscale x 10\n";
    }
    out << (chart.y.log ? "set logscale y 10\n" : "set yrange [0:*]\n");
    if (chart.second) {
        out << "set border 11\nset y2tics\nset y2range [0:*]\nset y2label "
            << in_quotes(chart.second->title) << " tc rgb '" << kInk << "'\n";
    }
    add_marks(chart, kSvgHeight - kLinesFrame, out);
}

/// The data of a series as a block named `block`.
std::string data_block(const Series& series, const std::string& block) {
    std::ostringstream out;
    out << block << " << END\n";
    for (const Point& point : series.points) {
        out << point.x << " " << point.y << " " << (point.hollow ? 1 : 0) << "\n";
    }
    out << "END\n";
    return out.str();
}

std::string plot_of(const Chart& chart, const Series& series, const std::string& block) {
    const std::string colour = " lc rgb '" + colour_of(series.model) + "'";
    const std::string line = " lw 2 dt " + std::to_string(series.variant % 5 + 1) + colour;
    const std::string title = " title " + in_quotes(with_verdict(series));
    const int marker = marker_of(series.model);
    // gnuplot's outlined point comes before the filled one.
    const auto points = [&](const char* which, int type) {
        return block + " using 1:($3==" + which + "?$2:NaN) with points pt " +
               std::to_string(type) + " ps 0.9 lw 2" + colour;
    };
    if (chart.kind == ChartKind::scatter) {
        return points("0", marker) + title;
    }
    if (!chart.markers) {
        return block + " using 1:2 axes x1y" + (series.second_axis ? "2" : "1") + " with " +
               (series.second_axis ? "steps" : "lines") + line + title;
    }
    return block + " using 1:2 with lines" + line + " notitle, " + points("0", marker) + title +
           ", " + points("1", marker - 1) + " notitle";
}

std::string lines_script(const Chart& chart) {
    std::ostringstream out;
    out << frame(chart, kSvgHeight);
    add_axes(chart, out);
    std::string plots;
    if (chart.kind == ChartKind::scatter) {
        plots = "x with lines dt 2 lc rgb '" + std::string(kMuted) + "' title 'equal'";
    }
    for (std::size_t i = 0; i < chart.series.size(); ++i) {
        const std::string block = "$series" + std::to_string(i);
        out << data_block(chart.series[i], block);
        plots += (plots.empty() ? "" : ", ") + plot_of(chart, chart.series[i], block);
    }
    out << "plot " << plots << "\n";
    return out.str();
}

}  // namespace

std::string gnuplot_script(const Chart& chart) {
    return chart.kind == ChartKind::bars ? bars_script(chart) : lines_script(chart);
}

}  // namespace bench::report
