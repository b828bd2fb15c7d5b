#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

/// Texts by path, the path relative to the root of the repository.
using SourceTree = std::map<std::string, std::string>;

/// All files below `root` with one of these endings, without build trees, results and `.git`.
SourceTree read_source_tree(const std::string& root, const std::vector<std::string>& endings);

/// The lines of a text, without their ends.
std::vector<std::string_view> lines_of(std::string_view text);
