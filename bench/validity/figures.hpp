#pragma once

#include <array>
#include <cstdio>
#include <string>

/// How the sentences of this folder show figures.
namespace bench::validity {

inline std::string figure(double value, int decimals) {
    std::array<char, 64> buffer{};
    std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
    return buffer.data();
}

inline std::string percent(double share) {
    return figure(share * 100, 1) + " %";
}

}  // namespace bench::validity
