#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/result.hpp"
#include "bench/statistics/statistics.hpp"

/// Two reports of the same experiments, row by row: which rows differ, by how much, how surely.
/// Values only; docs/method.md says the rule and its chances.
namespace bench {

/// A ratio this near to 1 is no difference, however surely it is known: two reports of the same
/// thing can be that far apart, because machine and placement change between them.
inline constexpr double kSameWithin = 0.05;
inline constexpr double kConfidence = 0.99;

enum class Difference {
    differs,            ///< The whole interval of the ratio lies outside 1 +- kSameWithin.
    indistinguishable,  ///< It does not: equal, or too noisy to say.
    refused,            ///< No interval; the reason says why.
};

/// One figure of one row.
struct ComparedFigure {
    std::string name;  ///< "req/s", "wall s", "start ms" or "CPU µs": per request, the server's.
    Difference difference = Difference::refused;
    std::string reason;             ///< Of Difference::refused.
    double first = 0, second = 0;   ///< Medians over the measured runs; 0 without any.
    double ratio = 1;               ///< second / first.
    statistics::Interval interval;  ///< Of the ratio; not for Difference::refused.
};

struct ComparedRow {
    std::string experiment, id;
    std::vector<ComparedFigure> figures;
    /// Shown, not judged: a tail varies too much for as few runs as there are.
    double first_p99_ms = 0, second_p99_ms = 0;
    bool suspect = false;  ///< In either report.

    bool differs() const;
};

struct Comparison {
    std::vector<ComparedRow> rows;
    std::vector<std::string> only_in_first, only_in_second;  ///< "experiment/row".
    std::vector<std::string> remarks;  ///< What else differs between the reports, a sentence each.

    std::size_t differences() const;  ///< Rows that differ.
};

/// `first` and `second` are results.json documents of schema 2. Fails, with the sentence that says
/// why, when one of them is not.
Result<Comparison> compare(const nlohmann::json& first, const nlohmann::json& second);

/// The comparison for a terminal of 100 columns.
std::string comparison_text(const Comparison& comparison);

}  // namespace bench
