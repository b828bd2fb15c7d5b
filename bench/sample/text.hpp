#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

/// How the small text files of /proc and /sys are read.
namespace bench::sample {

/// The whole file; empty when it is not there.
std::string contents(const std::filesystem::path& file);

/// Its first line without the line end; empty when it is not there.
std::string first_line(const std::filesystem::path& file);

/// The whole number that the text begins with; none when it begins with anything else.
std::optional<std::uint64_t> number(const std::string& text);

/// The number behind `name` and white space at the start of a line, as in "nr_throttled 7" or, with
/// the name "Pss:", in "Pss:   12 kB".
std::optional<std::uint64_t> number_behind(const std::string& name, const std::string& text);

}  // namespace bench::sample
