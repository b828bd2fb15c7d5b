#include "bench/report/table.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <sstream>
#include <vector>

#include "bench/report/content.hpp"

namespace bench::report {
namespace {

using nlohmann::json;

constexpr std::size_t kWidth = 118;
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

std::string cell(const std::optional<double>& value, int decimals, double factor = 1) {
    return value ? with_commas(*value * factor, decimals) : std::string(kNothing);
}

bool is_usable(const json& row) {
    const std::string verdict = text(row, "verdict");
    return verdict == "valid" || verdict == "suspect";
}

/// A row that is not to be believed is marked; why stands below the table.
std::string marked_label(const json& row) {
    const std::string verdict = text(row, "verdict");
    std::string label = (verdict == "valid"     ? ""
                         : verdict == "suspect" ? "? "
                                                : "! ") +
                        label_of(row);
    if (const auto offered = number(row, "offered_rps")) {
        label += ", " + with_commas(*offered) + " offered" +
                 (row.value("sustained", true) ? "" : ", not sustained");
    } else if (number(row, "point")) {
        const double connections = number(row, "connections").value_or(0);
        label +=
            ", " + with_commas(connections) + (connections == 1 ? " connection" : " connections");
    }
    return label;
}

/// Microseconds, with less detail the more there are.
std::string microseconds(const std::optional<double>& value) {
    constexpr double kMany = 1000;
    return cell(value, value && *value >= kMany ? 0 : 1);
}

std::string predicted(const json& row, const Figure& figure, int decimals) {
    const auto value = figure.predicted(row);
    const std::string limit = text(row, "limited_by");
    return value           ? with_commas(*value, decimals) + (limit.empty() ? "" : " " + limit)
           : limit.empty() ? kNothing
                           : limit;
}

std::string measured_line(const json& row, const Figure& figure) {
    const auto value = figure.of(row);
    if (!value) {
        return line(marked_label(row), {kNothing});
    }
    const int decimals = figure.name == "rate" ? 0 : 2;
    return line(
        marked_label(row),
        {with_commas(*value, decimals), cell(number(row, "p50_ms"), 1),
         cell(number(row, "p99_ms"), 1), cell(number(row, "os_threads_peak"), 0),
         cell(number(row, "rss_bytes_peak"), 1, 1e-6),
         microseconds(number(row, "server_cpu_us_per_request")), predicted(row, figure, decimals),
         number(row, "share_of_machine_ceiling") ? percent(*number(row, "share_of_machine_ceiling"))
                                                 : std::string(kNothing)});
}

std::string published_line(const json& row, const Figure& figure) {
    return line("  " + text(row, "system"),
                {cell(figure.of_published(row), figure.name == "rate" ? 0 : 2),
                 cell(number(row, "p50_ms"), 1), cell(number(row, "p99_ms"), 1),
                 cell(number(row, "os_threads"), 0), cell(number(row, "rss_mb"), 0)});
}

std::string load_sentence(const json& experiment, const json& environment) {
    const json load = experiment.value("load", json::object());
    const std::string kind = text(load, "kind");
    const double runs = number(load, "runs").value_or(1);
    const std::string times = with_commas(runs) + (runs == 1 ? " run" : " runs");
    std::string sentence;
    if (kind == "closed") {
        sentence = with_commas(number(load, "connections").value_or(0)) +
                   " connections, wrk with " + with_commas(number(load, "threads").value_or(1)) +
                   (number(load, "threads").value_or(1) == 1 ? " thread" : " threads") +
                   "; median of " + times + " of " +
                   with_commas(number(load, "duration_s").value_or(0)) + " s";
    } else if (kind == "open") {
        sentence = "h2load at a fixed rate, latency from the intended start; median of " + times +
                   " of " + with_commas(number(load, "duration_s").value_or(0)) + " s";
    } else if (kind == "burst") {
        sentence = with_commas(number(load, "requests").value_or(0)) + " requests by " +
                   with_commas(number(load, "connections").value_or(0)) +
                   " connections at once, h2load; median of " + times;
    } else {
        sentence = "Median of " + times;
    }
    const std::string pin = text(environment, "pin");
    const double cpus = number(environment, "cpus").value_or(1);
    return sentence + " on " + with_commas(cpus) + (cpus == 1 ? " CPU" : " CPUs") +
           (pin.empty() ? ", shared by server, stub and load generator."
                        : "; programs kept on CPUs " + pin + ".");
}

std::string ceilings(const json& experiment) {
    std::string sentence;
    if (const auto arithmetic = number(experiment, "arithmetic_ceiling_rps")) {
        sentence =
            "Ceilings: arithmetic, connections / wait = " + with_commas(*arithmetic) + " req/s";
    }
    if (const auto machine = number(experiment, "machine_ceiling_rps")) {
        sentence += (sentence.empty() ? "Ceiling: " : "; ") + std::string("this machine's, ") +
                    text(experiment, "machine_ceiling_row") + ", " + with_commas(*machine) +
                    " req/s";
    }
    const json gate = experiment.value("machine_ceiling_gate", json::object());
    return sentence.empty() ? ""
                            : wrap(sentence + "." +
                                   (text(gate, "verdict") == "suspect"
                                        ? " It is no ceiling here: " + text(gate, "reason")
                                        : ""));
}

/// The stub must be far from the bottleneck: compared where the server costs least.
std::string stub_cost(const json& experiment) {
    for (const json& row : list(experiment, "rows")) {
        if (text(row, "id") != text(experiment, "machine_ceiling_row") ||
            number(row, "stub_cpu_us_per_request").value_or(0) == 0) {
            continue;
        }
        const double stub = *number(row, "stub_cpu_us_per_request");
        const double relay = number(row, "server_cpu_us_per_request").value_or(0);
        return wrap(
            "CPU per request in the same run: stub " + with_commas(stub, 1) + " µs, raw relay " +
            with_commas(relay, 1) + " µs, load generator " +
            with_commas(number(row, "load_cpu_us_per_request").value_or(0), 1) + " µs" +
            (stub <= relay ? "." : ": the stub costs more than the relay, which it must not."));
    }
    return {};
}

std::string silence(const json& experiment) {
    std::string label, facts;
    for (const json& row : list(experiment, "rows")) {
        const auto take_off = number(row, "take_off_predicted_s");
        if (!take_off || row.value("answered", true) || !is_usable(row)) {
            continue;
        }
        label = label.empty() ? label_of(row) : label;
        facts += (facts.empty() ? "It had " : "; ") +
                 with_commas(number(row, "os_threads_peak").value_or(0)) +
                 " threads at the end, and " + with_commas(number(row, "connections").value_or(0)) +
                 " requests need about " + with_commas(*take_off) + " s";
    }
    return facts.empty()
               ? ""
               : wrap("Why " + label +
                      " shows 0: every thread of its pool is blocked on a call whose completion "
                      "needs a thread of the same pool, so nothing is answered before the pool has "
                      "more threads than requests in flight; .NET itself does the same. " +
                      facts + ".");
}

/// One sentence for each gate that did not hold, with the rows that it concerns.
std::string doubts(const json& experiment) {
    struct Doubt {
        std::string gate, first;
        std::size_t others = 0;
    };
    std::vector<Doubt> doubts;
    std::string sentences;
    for (const json& row : list(experiment, "rows")) {
        for (const json& gate : list(row, "gates")) {
            const std::string verdict = text(gate, "verdict");
            if (verdict != "suspect" && verdict != "invalid") {
                continue;
            }
            const std::string key = verdict + text(gate, "id");
            const auto known = std::ranges::find(doubts, key, &Doubt::gate);
            if (known == doubts.end()) {
                doubts.push_back(
                    {key, marked_label(row) + ": " + verdict + ", " + text(gate, "reason")});
            } else {
                ++known->others;
            }
        }
        for (const json& problem : list(row, "problems")) {
            sentences += wrap(marked_label(row) + ": " + problem.get<std::string>());
        }
    }
    for (const Doubt& doubt : doubts) {
        sentences += wrap(doubt.first + (doubt.others == 0 ? ""
                                                           : " The same gate, other figures: " +
                                                                 std::to_string(doubt.others) +
                                                                 " more of the rows."));
    }
    return sentences;
}

std::string validity(const json& experiment) {
    std::size_t valid = 0;
    const json& rows = list(experiment, "rows");
    for (const json& row : rows) {
        valid += text(row, "verdict") == "valid";
    }
    const bool all = valid == rows.size();
    return wrap("Validity: " + std::to_string(valid) + " of " + std::to_string(rows.size()) +
                " rows are valid: every gate of docs/gates.md held or was exempt, among them that "
                "every connection got answers and none an error" +
                (all ? "." : "; ? marks a suspect row and ! an invalid one."));
}

std::string claims(const json& experiment) {
    std::string sentences;
    for (const json& claim : list(experiment, "claims")) {
        const std::string ours = text(claim, "ours"), reason = text(claim, "reason");
        sentences += wrap("Claim \"" + text(claim, "says") + "\": " + text(claim, "verdict") +
                          (ours.empty() ? "" : ". Here " + ours) +
                          (reason.empty() ? "." : ": " + reason + "."));
    }
    return sentences;
}

const json* published_row(const json& experiment, const json& id) {
    for (const json& row : list(experiment, "published_rows")) {
        if (row.value("id", json()) == id) {
            return &row;
        }
    }
    return nullptr;
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

std::string table(const json& experiment, const json& environment, bool is_published_load) {
    const Figure figure = figure_of(experiment);
    std::string result = wrap(text(experiment, "title") + ".");
    std::string load = load_sentence(experiment, environment);
    if (is_published_load && !text(experiment, "published_machine").empty()) {
        load += " Indented: as published, on " + text(experiment, "published_machine") + ".";
    }
    result += wrap(load) + "\n" +
              line("", {figure.unit, "p50 ms", "p99 ms", "threads", "RSS MB", "CPU µs", "predicted",
                        "ceiling"}) +
              rule();
    for (const json& row : list(experiment, "rows")) {
        result += measured_line(row, figure);
        for (const json& id : list(row, "published")) {
            const json* published = published_row(experiment, id);
            if (published != nullptr && is_published_load) {
                result += published_line(*published, figure);
            }
        }
    }
    result += rule() + validity(experiment) + doubts(experiment) + silence(experiment) +
              ceilings(experiment);
    result += wrap(
        "Predicted: from the model's own rule (docs/method.md), then what limits the row here: the "
        "pool, the wait, or the CPUs, where server, stub and load generator use them up before. "
        "CPU µs: the server's, per request. Ceiling: share of this machine's.");
    result += stub_cost(experiment);
    for (const json& remark : list(experiment, "remarks")) {
        result += wrap(remark.get<std::string>());
    }
    return result + claims(experiment);
}

}  // namespace bench::report
