#include "source_tree.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace fs = std::filesystem;

SourceTree read_source_tree(const std::string& root, const std::vector<std::string>& endings) {
    SourceTree tree;
    for (auto entry = fs::recursive_directory_iterator(root); entry != fs::end(entry); ++entry) {
        const std::string name = entry->path().filename();
        if (entry->is_directory() && (name == "build" || name == "results" || name == ".git") &&
            entry.depth() == 0) {
            entry.disable_recursion_pending();
        }
        const bool wanted = std::any_of(endings.begin(), endings.end(),
                                        [&](const auto& ending) { return name.ends_with(ending); });
        if (entry->is_regular_file() && wanted) {
            std::ifstream file(entry->path());
            tree[entry->path().lexically_relative(root)] = {std::istreambuf_iterator(file), {}};
        }
    }
    return tree;
}

std::vector<std::string_view> lines_of(std::string_view text) {
    std::vector<std::string_view> lines;
    while (!text.empty()) {
        const auto end = text.find('\n');
        lines.push_back(text.substr(0, end));
        text.remove_prefix(end == text.npos ? text.size() : end + 1);
    }
    return lines;
}
