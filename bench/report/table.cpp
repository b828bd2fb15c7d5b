#include "bench/report/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

#include "bench/predict/simulation.hpp"

namespace bench::report {
namespace {

constexpr std::size_t kWidth = 118;
/// Above this share of the CPUs used by others the report says so.
constexpr double kDisturbed = 0.1;
constexpr std::size_t kLabelWidth = 48;
constexpr std::size_t kWidths[] = {7, 8, 8, 9, 8, 8, 13, 9};

/// Characters on the screen: UTF-8's continuation bytes take no room.
std::size_t columns(const std::string& text) {
    return static_cast<std::size_t>(
        std::ranges::count_if(text, [](char byte) { return (byte & 0xc0) != 0x80; }));
}

std::string line(const std::string& label, const std::vector<std::string>& cells) {
    std::string text = label;
    text.append(kLabelWidth - std::min(kLabelWidth, columns(label)), ' ');
    for (std::size_t i = 0; i < cells.size(); ++i) {
        text.append(kWidths[i] - std::min(kWidths[i], columns(cells[i])), ' ') += cells[i];
    }
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

std::string rule() {
    std::string text;
    for (std::size_t i = 0; i < kWidth; ++i) {
        text += "─";
    }
    return text + "\n";
}

/// Breaks a sentence at the table's width; the lines that follow are indented.
std::string wrap(const std::string& sentence) {
    std::istringstream words(sentence);
    std::string text, word;
    std::size_t used = 0;
    while (words >> word) {
        if (used > 0 && used + 1 + columns(word) > kWidth) {
            text += "\n  ";
            used = 2;
        } else if (used > 0) {
            text += ' ';
            ++used;
        }
        text += word;
        used += columns(word);
    }
    return text + "\n";
}

std::string percent(double share) {
    return with_commas(share * 100) + " %";
}

std::string label(const RowSummary& summary) {
    std::string text;
    for (const auto& word : summary.row.command) {
        text.append(text.empty() ? "" : " ").append(word);
    }
    if (text.starts_with("server_")) {
        text.erase(0, 7);
    }
    text.append(summary.row.cold ? " (cold start)" : "");
    return summary.problems.empty() ? text : text.insert(0, "! ");
}

std::string measured_line(const RowSummary& row, const Summary& summary) {
    if (row.runs == 0) {
        return line(label(row), {"–"});
    }
    const auto when_answered = [&](double value, int decimals) {
        return row.answered ? with_commas(value, decimals) : std::string("–");
    };
    return line(label(row),
                {with_commas(row.rate), when_answered(row.p50_ms, 1), when_answered(row.p99_ms, 1),
                 with_commas(row.threads), with_commas(row.peak_rss_bytes / 1e6, 1),
                 when_answered(row.server_cpu_s * 1e6, 1),
                 with_commas(row.prediction.rate) + " " + row.prediction.limit,
                 summary.machine_ceiling > 0 ? percent(row.rate / summary.machine_ceiling) : "–"});
}

std::string published_line(const PublishedRow& row) {
    const auto cell = [](const std::optional<double>& value, int decimals) {
        return value ? with_commas(*value, decimals) : std::string("–");
    };
    return line("  " + row.system, {cell(row.rate, 0), cell(row.p50_ms, 1), cell(row.p99_ms, 1),
                                    cell(row.os_threads, 0), cell(row.rss_mb, 0)});
}

std::string ceilings(const Experiment& experiment, const Summary& summary) {
    std::string text = "Ceilings: arithmetic, " + with_commas(experiment.load.connections) +
                       " connections / " + with_commas(summary.wait_s * 1000, 2) +
                       " ms = " + with_commas(summary.arithmetic_ceiling) + " req/s";
    if (summary.machine_ceiling > 0) {
        text += "; this machine's, the better raw epoll relay, " +
                with_commas(summary.machine_ceiling) + " req/s";
    }
    return wrap(text + ".");
}

/// The stub must be far from the bottleneck: compared where the server costs least.
std::string stub_cost(const Summary& summary) {
    for (const RowSummary& row : summary.rows) {
        if (row.row.id == summary.machine_ceiling_row) {
            const bool cheap = row.stub_cpu_s <= row.server_cpu_s;
            return wrap("CPU per request in the same run: stub " +
                        with_commas(row.stub_cpu_s * 1e6, 1) + " µs, raw relay " +
                        with_commas(row.server_cpu_s * 1e6, 1) + " µs, wrk " +
                        with_commas(row.wrk_cpu_s * 1e6, 1) + " µs" +
                        (cheap ? "." : ": the stub costs more than the relay, which it must not."));
        }
    }
    return {};
}

std::string starvation(const Summary& summary) {
    std::string starved, unknown;
    bool any = false;
    for (const RowSummary& row : summary.rows) {
        if (row.runs == 0 || !row.answered) {
            continue;
        }
        any = true;
        if (!row.starved) {
            unknown += (unknown.empty() ? "" : ", ") + label(row);
        } else if (*row.starved > 0) {
            starved +=
                (starved.empty() ? "" : ", ") + label(row) + " (" + with_commas(*row.starved) + ")";
        }
    }
    if (!any) {
        return {};
    }
    if (!unknown.empty()) {
        return wrap("Starved connections could not be counted for " + unknown + ".");
    }
    return wrap(starved.empty()
                    ? "Starved connections: none. In every row that answers, each connection got "
                      "answers in the second half of every run."
                    : "Starved connections (no answer in the second half of a run): " + starved +
                          ".");
}

std::string silence(const Experiment& experiment, const RowSummary& row, int cpus) {
    if (row.row.model != Model::injected || row.runs == 0 || row.answered) {
        return {};
    }
    const std::chrono::duration<double> duration = experiment.duration_of(row.row);
    const int connections = experiment.load.connections;
    const unsigned threads = static_cast<unsigned>(cpus);
    const auto take_off_s = predict::take_off_s({.cpus = threads, .min_threads = threads},
                                                static_cast<unsigned>(connections));
    return wrap("Why " + label(row) + " shows " + with_commas(row.rate) +
                ": every thread of its pool is blocked on a call whose completion needs a thread "
                "of the same pool, so nothing is answered before the pool has more threads than "
                "requests in flight; it had " +
                with_commas(row.threads) + " after " + with_commas(duration.count()) + " s, and " +
                with_commas(connections) + " requests need about " +
                with_commas(take_off_s.value_or(predict::kTakeOffHorizonS)) +
                " s (.NET itself does the same; the published figure does not follow from its "
                "rules).");
}

std::string problems(const Summary& summary) {
    std::string text;
    for (const RowSummary& row : summary.rows) {
        for (const auto& problem : row.problems) {
            text += wrap(label(row) + ": " + problem);
        }
    }
    return text;
}

}  // namespace

std::string with_commas(double value, int decimals) {
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, "%.*f", decimals, value);
    std::string text = buffer;
    const std::size_t point = std::min(text.find('.'), text.size());
    const std::size_t first = text.starts_with('-') ? 1 : 0;
    for (std::size_t i = point; i > first + 3; i -= 3) {
        text.insert(i - 3, 1, ',');
    }
    return text;
}

std::string table(const Experiment& experiment, const Summary& summary, bool published_load) {
    const Load& load = experiment.load;
    std::string text = wrap(experiment.title + ".");
    text += wrap(with_commas(load.connections) + " connections, wrk with " +
                 std::to_string(load.threads) + (load.threads == 1 ? " thread" : " threads") +
                 "; median of " + std::to_string(load.runs) +
                 (load.runs == 1 ? " run of " : " runs of ") +
                 with_commas(std::chrono::duration<double>(load.duration).count()) + " s on " +
                 std::to_string(summary.cpus) +
                 " CPUs shared with wrk and the stub. Indented: as published, on " +
                 experiment.published_machine + ".");
    text += "\n" + line("", {"req/s", "p50 ms", "p99 ms", "threads", "RSS MB", "CPU µs",
                             "predicted", "ceiling"});
    text += rule();
    for (const RowSummary& row : summary.rows) {
        text += measured_line(row, summary);
        if (published_load) {
            for (const PublishedRow& published : row.row.published) {
                text += published_line(published);
            }
        }
    }
    text += rule();
    if (summary.disturbance > kDisturbed) {
        text += wrap("The machine was not idle: something else used up to " +
                     percent(summary.disturbance) +
                     " of its CPUs during a run, so rates are too low; CPU µs suffer less.");
    }
    text += problems(summary);
    for (const RowSummary& row : summary.rows) {
        text += silence(experiment, row, summary.cpus);
    }
    text += ceilings(experiment, summary);
    text += wrap(
        "Predicted: min(connections, threads of the pool) / wait; then what limits the row here: "
        "the "
        "pool, the wait, or the CPUs, where server, stub and wrk together use them up before. CPU "
        "µs: the server's, per request. Ceiling: share of this machine's.");
    text += stub_cost(summary);
    text += starvation(summary);
    return text;
}

}  // namespace bench::report
