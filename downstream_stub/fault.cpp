#include "downstream_stub/fault.hpp"

#include <charconv>
#include <utility>

namespace downstream_stub {
namespace {

constexpr std::pair<std::string_view, Fault> kFaults[] = {
    {"reset", Fault::reset},     {"stall", Fault::stall},   {"truncate", Fault::truncate},
    {"garbage", Fault::garbage}, {"500", Fault::error_500}, {"close", Fault::close}};

/// Ten times 0.1 is a little more or less than 1.
constexpr double kRounding = 1e-9;

}  // namespace

std::optional<Fault> parse_fault(std::string_view name) {
    for (const auto& [known, fault] : kFaults) {
        if (known == name) {
            return fault;
        }
    }
    return std::nullopt;
}

namespace {

std::optional<FaultRate> parse_fault_rate(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    const auto fault = parse_fault(text.substr(0, colon));
    const std::string_view digits = text.substr(colon + 1);
    double rate = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), rate);
    if (!fault || status != std::errc() || end != digits.data() + digits.size() || !(rate >= 0) ||
        !(rate <= 1)) {
        return std::nullopt;
    }
    return FaultRate{*fault, rate};
}

}  // namespace

std::optional<std::vector<FaultRate>> parse_fault_rates(std::string_view text) {
    std::vector<FaultRate> rates;
    double sum = 0;
    for (;;) {
        const auto comma = text.find(',');
        const auto rate = parse_fault_rate(text.substr(0, comma));
        sum += rate ? rate->rate : 0;
        if (!rate || sum > 1 + kRounding) {
            return std::nullopt;
        }
        rates.push_back(*rate);
        if (comma == std::string_view::npos) {
            return rates;
        }
        text.remove_prefix(comma + 1);
    }
}

}  // namespace downstream_stub
