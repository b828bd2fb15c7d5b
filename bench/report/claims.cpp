#include "bench/report/claims.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "bench/predict/predict.hpp"
#include "bench/report/content.hpp"
#include "bench/result.hpp"

namespace bench::report {
namespace {

using nlohmann::json;

constexpr const char* kPublished = "published";

/// What a condition refers to.
struct ClaimValue {
    double number = 0;
    std::string unit = {};  ///< "s", "ms", "bytes" or nothing.
    bool is_lower_bound = false;
};
using MaybeValue = Result<ClaimValue>;

const json* entry_of(const json& array, const std::string& id) {
    const auto found =
        std::ranges::find_if(array, [&](const json& entry) { return text(entry, "id") == id; });
    return found == array.end() ? nullptr : &*found;
}

std::string unit_of(const std::string& member) {
    return member.ends_with("_ms")                                    ? "ms"
           : member.starts_with("rss_bytes") || member == "pss_bytes" ? "bytes"
           : member.ends_with("_s") && member != "threads_per_s"      ? "s"
                                                                      : "";
}

/// Three digits also of what is small: 0.938, 0.0041, 4.41, 9,458.
std::string plain(double value) {
    if (std::abs(value) >= 9.995 || value == std::round(value)) {
        return readable(value);
    }
    char digits[32];
    std::snprintf(digits, sizeof digits, "%.3g", value);
    return digits;
}

std::string shown(const ClaimValue& value) {
    const std::string prefix = value.is_lower_bound ? "no answer in " : "";
    if (value.unit == "bytes") {
        return prefix + plain(value.number / 1e6) + " MB";
    }
    if (value.unit == "s" && value.number < 1) {
        return prefix + plain(value.number * 1000) + " ms";
    }
    return prefix + plain(value.number) + (value.unit.empty() ? "" : " " + value.unit);
}

/// Over all runs of the row, so that one that was cut short counts for as long as it lasted.
MaybeValue threads_per_s(const json& experiment, const std::string& row) {
    double threads = 0, seconds = 0;
    for (const json& run : list(experiment, "runs")) {
        const json& samples = list(run, "samples");
        if (text(run, "row") != row || samples.size() < 2) {
            continue;
        }
        const json &first = samples.front(), &last = samples.back();
        threads += number(last, "threads").value_or(0) - number(first, "threads").value_or(0);
        seconds += number(last, "t_s").value_or(0) - number(first, "t_s").value_or(0);
    }
    return seconds > 0 ? MaybeValue({threads / seconds})
                       : MaybeValue::failed("the threads of " + row + " were not sampled");
}

/// Whoever got no answer waited at least as long as the run lasted.
MaybeValue longer_than_the_run(const json& experiment, const std::string& row) {
    double seconds = 0;
    for (const json& run : list(experiment, "runs")) {
        if (text(run, "row") == row) {
            seconds = std::max(seconds, number(run, "duration_s").value_or(0));
        }
    }
    return seconds > 0 ? MaybeValue({seconds * 1000, "ms", true})
                       : MaybeValue::failed(row + " answered nothing");
}

MaybeValue predicted(const json& row) {
    const auto prediction = row.find("predicted");
    const auto value = prediction == row.end() ? std::nullopt : number(*prediction, "value");
    if (!value) {
        return MaybeValue::failed("nothing is predicted for " + text(row, "id"));
    }
    return ClaimValue{*value, text(*prediction, "figure") == "rate" ? "" : "s"};
}

/// Why a row's figures mean nothing; empty when they do.
std::string unusable(const json& row) {
    const std::string verdict = text(row, "verdict");
    if (verdict != "invalid" && verdict != "not run") {
        return {};
    }
    std::string why = text(row, "id") + (verdict == "invalid" ? " is invalid" : " was not run");
    for (const json& gate : list(row, "gates")) {
        if (text(gate, "verdict") == "invalid") {
            return why + ": " + text(gate, "reason");
        }
    }
    return why;
}

MaybeValue member_of(const json& experiment, const json& row, const std::string& member) {
    const std::string id = text(row, "id");
    if (const std::string why = unusable(row); !why.empty()) {
        return MaybeValue::failed(why);
    }
    if (member == "predicted") {
        return predicted(row);
    }
    if (member == "threads_per_s") {
        return threads_per_s(experiment, id);
    }
    if (unit_of(member) == "ms" && !row.value("answered", true)) {
        return longer_than_the_run(experiment, id);
    }
    if (member == "little_ms") {
        const double connections = number(row, "connections").value_or(0);
        const double rate = number(row, "rps").value_or(0);
        return connections > 0 && rate > 0
                   ? MaybeValue({predict::closed_latency_s(connections, rate) * 1000, "ms"})
                   : MaybeValue::failed(id + " has no rate and connections");
    }
    const auto value = number(row, member.c_str());
    return value ? MaybeValue({*value, unit_of(member)})
                 : MaybeValue::failed(id + " has no " + member);
}

/// A row that a reference names ("wait/stackful.rps"), and where it stands.
struct Named {
    const json* experiment;
    const json* row = nullptr;
    std::string member = {}, problem = {};  ///< Why there is no row.
};

/// A row id may have points in it ("stackful@0.1"), a member has none.
Named find_row(std::string row_id, const json& experiment, const json& all_experiments) {
    Named named{&experiment};
    const std::size_t point = std::min(row_id.rfind('.'), row_id.size());
    named.member = row_id.substr(std::min(point + 1, row_id.size()));
    row_id.resize(point);
    const char* rows = "rows";
    if (const std::size_t slash = row_id.find('/'); slash != std::string::npos) {
        const std::string where = row_id.substr(0, slash);
        row_id.erase(0, slash + 1);
        if (where == kPublished) {
            rows = "published_rows";
        } else if (named.experiment = entry_of(all_experiments, where);
                   named.experiment == nullptr) {
            named.problem = "the experiment " + where + " was not run with this one";
            return named;
        }
    }
    named.row = entry_of(list(*named.experiment, rows), row_id);
    named.problem = named.row == nullptr ? row_id + " was not run" : "";
    return named;
}

MaybeValue value_of(const json& reference, const json& experiment, const json& all_experiments) {
    if (reference.is_number()) {
        return ClaimValue{reference.get<double>()};
    }
    const std::string name = reference.get<std::string>();
    if (name == "arithmetic_ceiling_rps") {
        const auto value = number(experiment, name.c_str());
        return value ? MaybeValue({*value}) : MaybeValue::failed("there is no arithmetic ceiling");
    }
    const Named named = find_row(name, experiment, all_experiments);
    return named.row != nullptr ? member_of(*named.experiment, *named.row, named.member)
                                : MaybeValue::failed(named.problem);
}

std::string reference_text(const json& reference) {
    return reference.is_number() ? plain(reference.get<double>()) : reference.get<std::string>();
}

std::string quotient_text(const json& condition) {
    return reference_text(condition.at("value")) +
           (condition.contains("over") ? " / " + reference_text(condition["over"]) : "");
}

std::string bounds_text(const json& condition) {
    const auto low = number(condition, "at_least"), high = number(condition, "at_most");
    return low && high ? "between " + plain(*low) + " and " + plain(*high)
           : low       ? "at least " + plain(*low)
                       : "at most " + plain(high.value_or(0));
}

struct Decision {
    std::string ours;
    std::string missing;   ///< Why it cannot be tested; empty when it can.
    std::string violated;  ///< Why it does not hold; empty when it does.
};

Decision decide(const json& condition, const ClaimValue& value, double compared,
                const std::string& ours) {
    const auto low = number(condition, "at_least"), high = number(condition, "at_most");
    const bool too_low = low && compared < *low, too_high = high && compared > *high;
    if (value.is_lower_bound && !too_high && (too_low || high)) {
        return {ours, "all that is known of " + quotient_text(condition) + ": " + ours, {}};
    }
    if (!too_low && !too_high) {
        return {ours, {}, {}};
    }
    const ClaimValue quotient{compared, condition.contains("over") ? "" : value.unit};
    return {
        ours,
        {},
        quotient_text(condition) + " is " + shown(quotient) + ", not " + bounds_text(condition)};
}

Decision decide(const json& condition, const json& experiment, const json& all_experiments) {
    MaybeValue value = value_of(condition.at("value"), experiment, all_experiments);
    if (!value) {
        return {kNothing, value.error, {}};
    }
    if (!condition.contains("over")) {
        return decide(condition, *value, value->number, shown(*value));
    }
    MaybeValue over = value_of(condition["over"], experiment, all_experiments);
    if (!over) {
        return {shown(*value), over.error, {}};
    }
    if (over->is_lower_bound || over->number <= 0) {
        return {shown(*value),
                reference_text(condition["over"]) + " is nothing to compare with: " + shown(*over),
                {}};
    }
    const double quotient = value->number / over->number;
    return decide(condition, *value, quotient,
                  shown(*value) + " of " + shown(*over) + " (" + plain(quotient) + ")");
}

/// Says what limits a row that is to show its model's limit; empty when nothing else does.
std::string limited_otherwise(const json& claim, const json& experiment,
                              const json& all_experiments) {
    std::string result;
    for (const json& id : list(claim, "cpu_must_not_limit")) {
        const json* row =
            find_row(id.get<std::string>() + ".limited_by", experiment, all_experiments).row;
        const std::string by = row == nullptr ? "" : text(*row, "limited_by");
        const std::string who = by == "CPU"    ? "the CPUs limit "
                                : by == "stub" ? "the stub limits "
                                : by == "load" ? "the load generator limits "
                                               : "";
        if (!who.empty()) {
            result += (result.empty() ? "on this machine " : "; ") + who + id.get<std::string>();
        }
    }
    return result;
}

/// The rows that the conditions of a claim name, each once, for which `is_so` holds.
template <class IsSo>
std::vector<std::string> rows_of_claim(const json& claim, const json& experiment,
                                       const json& all_experiments, IsSo is_so) {
    std::vector<std::string> names;
    for (const json& condition : list(claim, "when")) {
        for (const char* side : {"value", "over"}) {
            if (!condition.contains(side) || !condition[side].is_string()) {
                continue;
            }
            const Named named =
                find_row(condition[side].get<std::string>(), experiment, all_experiments);
            if (named.row == nullptr || !is_so(*named.row)) {
                continue;
            }
            const std::string where =
                named.experiment == &experiment ? "" : text(*named.experiment, "id") + "/";
            const std::string name = where + text(*named.row, "id");
            if (std::ranges::find(names, name) == names.end()) {
                names.push_back(name);
            }
        }
    }
    return names;
}

/// A verdict that rests on a suspect row says so.
std::string suspects(const json& claim, const json& experiment, const json& all_experiments) {
    std::string result;
    for (const std::string& name :
         rows_of_claim(claim, experiment, all_experiments,
                       [](const json& row) { return text(row, "verdict") == "suspect"; })) {
        result += (result.empty() ? "" : ", ") + name + " is suspect";
    }
    return result;
}

/// Where the load generator is the limit a server's own rate is not known, and two such servers
/// would look alike.
std::string limited_by_load(const json& claim, const json& experiment,
                            const json& all_experiments) {
    std::string result;
    for (const std::string& name :
         rows_of_claim(claim, experiment, all_experiments,
                       [](const json& row) { return text(row, "limited_by") == "load"; })) {
        result += (result.empty() ? "on this machine the load generator limits " : ", ") + name;
    }
    return result;
}

void append(std::string& all, const std::string& part, const char* between) {
    if (!part.empty()) {
        all += (all.empty() ? "" : between) + part;
    }
}

json judge(const json& claim, const json& experiment, const json& all_experiments,
           const json& published_claims) {
    const std::string id = text(claim, "id");
    const json* published = entry_of(published_claims, id);
    const json& source = published != nullptr ? *published : claim;
    std::string check, ours, missing = text(claim, "cannot_be_tested"), violated;
    for (const json& condition : list(claim, "when")) {
        append(check, quotient_text(condition) + " " + bounds_text(condition), " and ");
        const Decision decision = decide(condition, experiment, all_experiments);
        append(ours, decision.ours, "; ");
        append(violated, decision.violated, "; ");
        if (missing.empty()) {
            missing = decision.missing;
        }
    }
    if (missing.empty()) {
        missing = limited_otherwise(claim, experiment, all_experiments);
    }
    if (missing.empty()) {
        missing = limited_by_load(claim, experiment, all_experiments);
    }
    if (missing.empty() && check.empty()) {
        missing = "the experiment's file has no condition for it";
    }
    std::string reason = missing.empty() ? violated : missing;
    append(reason, suspects(claim, experiment, all_experiments), "; ");
    return {{"id", id},
            {"says", text(source, "says")},
            {"published", text(source, "published")},
            {"check", check},
            {"ours", ours},
            {"verdict", !missing.empty()   ? "cannot be tested"
                        : violated.empty() ? "holds"
                                           : "does not hold"},
            {"reason", reason}};
}

}  // namespace

json judge_claims(const json& claims_of_file, const json& experiment, const json& all_experiments,
                  const json& published_claims) {
    json result = json::array();
    for (const json& claim : claims_of_file) {
        result.push_back(judge(claim, experiment, all_experiments, published_claims));
    }
    return result;
}

}  // namespace bench::report
