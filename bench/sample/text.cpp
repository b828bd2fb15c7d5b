#include "bench/sample/text.hpp"

#include <charconv>
#include <fstream>
#include <sstream>

namespace bench::sample {

std::string contents(const std::filesystem::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
}

std::string first_line(const std::filesystem::path& file) {
    const std::string text = contents(file);
    return text.substr(0, text.find('\n'));
}

std::optional<std::uint64_t> number(const std::string& text) {
    std::uint64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() ? std::optional(value) : std::nullopt;
}

std::optional<std::uint64_t> number_behind(const std::string& name, const std::string& text) {
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t blank = line.find_first_of(" \t");
        if (line.substr(0, blank) == name && blank != std::string::npos) {
            const std::size_t digits = line.find_first_not_of(" \t", blank);
            return digits == std::string::npos ? std::nullopt : number(line.substr(digits));
        }
    }
    return std::nullopt;
}

}  // namespace bench::sample
