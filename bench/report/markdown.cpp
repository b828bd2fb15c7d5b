#include "bench/report/markdown.hpp"

#include "bench/report/content.hpp"

namespace bench::report {
namespace {

using nlohmann::json;

/// Text that comes from outside must not become a table's border, a link, a tag or emphasis.
std::string in_markdown(const std::string& text) {
    std::string result;
    for (const char byte : text) {
        switch (byte) {
            case '<':
                result += "&lt;";
                break;
            case '&':
                result += "&amp;";
                break;
            case '\n':
            case '\r':
                result += ' ';
                break;
            case '|':
            case '*':
            case '`':
            case '[':
            case ']':
            case '\\':
                result += '\\';
                [[fallthrough]];
            default:
                result += byte;
        }
    }
    return result;
}

std::string markdown_table(const Table& table) {
    if (table.lines.empty()) {
        return {};
    }
    std::string head = "|", rule = "|", body;
    for (const Column& column : table.columns) {
        head += " " + in_markdown(column.header) + " |";
        rule += column.kind == ColumnKind::number ? " ---: |" : " --- |";
    }
    for (const Line& line : table.lines) {
        body += "|";
        for (std::size_t i = 0; i < line.cells.size(); ++i) {
            const std::string cell = in_markdown(line.cells[i]);
            const bool slanted = line.kind == LineKind::published && !cell.empty();
            body += slanted ? " *" + cell + "* |" : " " + cell + " |";
        }
        body += "\n";
    }
    return head + "\n" + rule + "\n" + body + "\n";
}

std::string folded(const Table& table) {
    return table.lines.empty() ? ""
                               : "<details><summary>" + in_markdown(table.caption) +
                                     "</summary>\n\n" + markdown_table(table) + "</details>\n\n";
}

std::string captioned(const Table& table) {
    return table.lines.empty() ? "" : in_markdown(table.caption) + ":\n\n" + markdown_table(table);
}

std::string paragraph(const std::vector<std::string>& sentences) {
    std::string result;
    for (const std::string& sentence : sentences) {
        result += (result.empty() ? "" : " ") + in_markdown(sentence);
    }
    return result + "\n\n";
}

std::string images(const std::string& experiment, const std::vector<Chart>& drawn) {
    std::string result;
    for (const Chart& chart : drawn) {
        if (chart.experiment == experiment) {
            result += "![" + in_markdown(chart.title) + "](charts/" + chart.id + ".svg)\n\n";
            result += chart.note.empty() ? "" : in_markdown(chart.note) + "\n\n";
        }
    }
    return result;
}

std::string experiment_section(const json& experiment, const std::vector<Chart>& drawn) {
    std::string result = "## " + in_markdown(text(experiment, "title")) + "\n\n";
    result += paragraph(method(experiment));
    const Table rows = rows_table(experiment);
    // A sweep has dozens of rows, which its chart says better.
    result += experiment.contains("sweep")
                  ? images(text(experiment, "id"), drawn) + folded(rows)
                  : markdown_table(rows) + images(text(experiment, "id"), drawn);
    for (const json& remark : list(experiment, "remarks")) {
        if (remark.is_string()) {
            result += "- " + in_markdown(remark.get<std::string>()) + "\n";
        }
    }
    result += list(experiment, "remarks").empty() ? "" : "\n";
    return result + captioned(claims_table(experiment)) + captioned(gates_table(experiment)) +
           folded(exemptions_table(experiment)) + folded(details_table(experiment));
}

}  // namespace

std::string markdown(const json& results, const std::vector<Chart>& drawn) {
    std::string result = "# waitbench report\n\n**" + in_markdown(headline(results)) + "**\n\n";
    result += in_markdown(occasion(results)) + "\n\n";
    result += paragraph(verdicts(results)) + paragraph(scope());
    for (const json& experiment : list(results, "experiments")) {
        result += experiment_section(experiment, drawn);
    }
    const std::string overall = images("", drawn);
    result += overall.empty() ? "" : "## Prediction against measurement\n\n" + overall;
    result += "## Environment\n\n    " + command_line(results) + "\n\n";
    result += markdown_table(environment_table(results));
    result.pop_back();
    return result;
}

}  // namespace bench::report
