#include "bench/report/html.hpp"

#include <algorithm>
#include <map>

#include "bench/report/content.hpp"

namespace bench::report {
namespace {

using nlohmann::json;

std::string escaped(const std::string& text) {
    std::string result;
    for (const char byte : text) {
        switch (byte) {
            case '&':
                result += "&amp;";
                break;
            case '<':
                result += "&lt;";
                break;
            case '>':
                result += "&gt;";
                break;
            case '"':
                result += "&quot;";
                break;
            case '\'':
                result += "&#39;";
                break;
            default:
                result += byte;
        }
    }
    return result;
}

/// A flag is not broken at its dashes: words that begin with one stay whole.
std::string unbroken(const std::string& text) {
    std::string result;
    std::size_t at = 0;
    while (at < text.size()) {
        const std::size_t end = std::min(text.find(' ', at), text.size());
        const std::string word = escaped(text.substr(at, end - at));
        result += word.starts_with("--") ? "<span class=\"flag\">" + word + "</span>" : word;
        result += end < text.size() ? " " : "";
        at = end + 1;
    }
    return result;
}

/// JSON inside a script element: without `<` nothing in it can end the element.
std::string embedded(const json& value) {
    std::string result;
    for (const char byte : value.dump(-1, ' ', false, json::error_handler_t::replace)) {
        byte == '<' ? result += "\\u003c" : result += byte;
    }
    return result;
}

/// "does not hold" as the class "does-not-hold"; only letters survive.
std::string class_of(const std::string& verdict) {
    std::string result;
    for (const char byte : verdict) {
        result += (byte >= 'a' && byte <= 'z') ? byte : '-';
    }
    return result;
}

const char* name_of(LineKind kind) {
    return kind == LineKind::published ? "published"
           : kind == LineKind::ceiling ? "ceiling"
                                       : "measured";
}

std::string cell(const Column& column, const std::string& content, bool first) {
    const std::string label = " data-label=\"" + escaped(column.header) + "\"";
    if (first) {
        return "<th scope=\"row\">" + unbroken(content) + "</th>";
    }
    if (column.kind == ColumnKind::verdict && !content.empty() && content != kNothing) {
        return "<td" + label + "><span class=\"verdict " + class_of(content) + "\">" +
               escaped(content) + "</span></td>";
    }
    return "<td" + label + (column.kind == ColumnKind::number ? " class=\"number\">" : ">") +
           escaped(content) + "</td>";
}

/// A wide table scrolls inside its own box, which the keyboard reaches, so the page never does.
/// `kind` is "wide", or "prose" for tables of sentences, which a phone stacks.
std::string html_table(const Table& table, const std::string& kind) {
    if (table.lines.empty()) {
        return {};
    }
    std::string result = "<div class=\"box\" role=\"region\" tabindex=\"0\" aria-label=\"" +
                         escaped(table.caption) + "\">\n<table class=\"" + kind +
                         "\">\n<caption><span>" + escaped(table.caption) +
                         "</span></caption>\n<thead><tr>";
    for (const Column& column : table.columns) {
        result += std::string("<th scope=\"col\"") +
                  (column.kind == ColumnKind::number ? " class=\"number\">" : ">") +
                  escaped(column.header) + "</th>";
    }
    result += "</tr></thead>\n<tbody>\n";
    for (const Line& line : table.lines) {
        result += std::string("<tr class=\"") + name_of(line.kind) + "\">";
        for (std::size_t i = 0; i < line.cells.size(); ++i) {
            result += cell(table.columns[i], line.cells[i], i == 0);
        }
        result += "</tr>\n";
    }
    return result + "</tbody>\n</table>\n</div>\n";
}

std::string folded_html(const Table& table) {
    return table.lines.empty() ? ""
                               : "<details>\n<summary>" + escaped(table.caption) + "</summary>\n" +
                                     html_table(table, "wide") + "</details>\n";
}

std::string paragraph_html(const std::vector<std::string>& sentences) {
    std::string result;
    for (const std::string& sentence : sentences) {
        result += (result.empty() ? "" : " ") + escaped(sentence);
    }
    return "<p>" + result + "</p>\n";
}

std::string figure_html(const Chart& chart) {
    const std::string title = "<b>" + escaped(chart.title) + "</b>";
    return "<figure data-chart=\"" + escaped(chart.id) + "\"><figcaption>" + title +
           "</figcaption><div class=\"plot\"><canvas role=\"img\" aria-label=\"Chart: " +
           escaped(chart.title) + ". The tables have its figures.\"></canvas></div>" +
           (chart.note.empty() ? "" : "<p class=\"note\">" + escaped(chart.note) + "</p>") +
           "</figure>\n";
}

/// The charts of one experiment but for the one that the first screen shows.
std::string figures_html(const std::string& experiment, const std::vector<Chart>& charts,
                         const Chart* shown) {
    std::string wide, grid;
    int cells = 0;
    for (const Chart& chart : charts) {
        if (chart.experiment == experiment && &chart != shown) {
            const bool is_wide = chart.kind == ChartKind::bars;
            (is_wide ? wide : grid) += figure_html(chart);
            cells += is_wide ? 0 : 1;
        }
    }
    return wide + (grid.empty() ? ""
                                : "<div class=\"grid" +
                                      std::string(cells % 3 == 0 ? " three"
                                                  : cells == 1   ? " one"
                                                                 : "") +
                                      "\">\n" + grid + "</div>\n");
}

std::string remarks_html(const json& experiment) {
    std::string items;
    for (const json& remark : list(experiment, "remarks")) {
        items += remark.is_string() ? "<li>" + escaped(remark.get<std::string>()) + "</li>\n" : "";
    }
    return items.empty() ? "" : "<ul class=\"remarks\">\n" + items + "</ul>\n";
}

std::string section_html(const json& experiment, const std::vector<Chart>& charts,
                         const Chart* shown) {
    const std::string id = text(experiment, "id");
    const Table rows = rows_table(experiment);
    std::string result = "<section id=\"" + escaped("experiment-" + id) + "\">\n<h2>" +
                         escaped(text(experiment, "title")) + "</h2>\n";
    result += paragraph_html(method(experiment));
    // A sweep has dozens of rows, which its charts say better.
    const bool is_folded = experiment.contains("sweep");
    result += is_folded ? "" : html_table(rows, "wide");
    result += remarks_html(experiment);
    result += figures_html(id, charts, shown);
    result += is_folded ? folded_html(rows) : "";
    result += html_table(claims_table(experiment), "prose");
    result += html_table(gates_table(experiment), "prose");
    result += folded_html(exemptions_table(experiment));
    return result + folded_html(details_table(experiment)) + "</section>\n";
}

std::string links_html(const json& results) {
    std::string result;
    for (const json& experiment : list(results, "experiments")) {
        const std::string id = escaped(text(experiment, "id"));
        result += "<a href=\"#experiment-" + id + "\">" + id + "</a>\n";
    }
    return result;
}

std::string verdicts_html(const json& results) {
    std::string items;
    for (const std::string& sentence : verdicts(results)) {
        items += "<li>" + escaped(sentence) + "</li>\n";
    }
    return items;
}

/// Replaces each {{name}} of the page once; what is put in is not looked at again.
std::string filled(const std::string& page, const std::map<std::string, std::string>& parts) {
    std::string result;
    std::size_t at = 0;
    while (true) {
        const std::size_t open = page.find("{{", at), close = page.find("}}", open);
        if (close == std::string::npos) {
            return result + page.substr(at);
        }
        const auto part = parts.find(page.substr(open + 2, close - open - 2));
        result += page.substr(at, open - at) + (part == parts.end() ? "" : part->second);
        at = close + 2;
    }
}

}  // namespace

std::string html(const json& results, const std::vector<Chart>& charts, const Page& page) {
    const json* first = headline_experiment(results);
    const std::string first_id = first == nullptr ? "" : text(*first, "id");
    const auto main_chart = std::ranges::find_if(
        charts, [&](const Chart& chart) { return chart.experiment == first_id; });
    const Chart* shown = main_chart == charts.end() ? nullptr : &*main_chart;

    std::string sections;
    for (const json& experiment : list(results, "experiments")) {
        sections += section_html(experiment, charts, shown);
    }
    const std::string overall = figures_html("", charts, shown);
    if (!overall.empty()) {
        sections +=
            "<section>\n<h2>Prediction against measurement</h2>\n" + overall + "</section>\n";
    }
    json data = json::object();
    for (const Chart& chart : charts) {
        data[chart.id] = to_json(chart);
    }
    const bool has_charts = !page.chart_js.empty();
    return filled(
        page.page,
        {{"style", page.style},
         {"headline", unbroken(headline(results))},
         {"occasion", escaped(occasion(results))},
         {"verdicts", verdicts_html(results)},
         {"links", links_html(results)},
         {"main-table", first == nullptr ? "" : html_table(headline_table(*first), "wide")},
         {"main-chart", shown == nullptr ? "" : figure_html(*shown)},
         {"no-charts", has_charts ? ""
                                  : "<p>Chart.js was not found when this report was written, so it "
                                    "has tables only.</p>\n"},
         {"sections", sections},
         {"scope", paragraph_html(scope())},
         {"command", escaped(command_line(results))},
         {"environment", html_table(environment_table(results), "prose")},
         {"data", embedded(data)},
         {"chart-js", page.chart_js},
         {"script", has_charts ? page.script : ""},
         {"charts-class", has_charts ? "" : "no-charts"}});
}

}  // namespace bench::report
