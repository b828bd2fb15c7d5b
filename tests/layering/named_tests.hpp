#pragma once

#include <set>
#include <string>
#include <string_view>

#include "source_tree.hpp"

/// Every test that the sources define, as `Suite.Case`.
std::set<std::string> defined_tests(const SourceTree& tree);

/// Every name of that shape that stands between backticks in a page.
std::set<std::string> named_tests(std::string_view page);

/// Every path below tests/ that stands between backticks in a page.
std::set<std::string> named_paths(std::string_view page);
