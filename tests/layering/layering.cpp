#include "layering.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>
#include <set>

namespace {

constexpr std::size_t kColumns = 100;
/// More templates than this in one server would be template tricks.
constexpr int kTemplates = 3;

struct Include {
    std::string text;  ///< as written between the quotes or brackets
    std::string path;  ///< the file of the tree that it means; empty for any other
};

/// Where an include leads: beside the file, from the root, or from servers/.
std::string resolve(const SourceTree& tree, const std::string& from, const std::string& text) {
    const auto folder = std::filesystem::path(from).parent_path();
    for (const auto& path :
         {(folder / text).lexically_normal().string(), text, "servers/" + text}) {
        if (tree.contains(path)) {
            return path;
        }
    }
    return {};
}

std::vector<Include> includes_of(const SourceTree& tree, const std::string& path) {
    static const std::regex kInclude(R"(\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
    std::vector<Include> includes;
    for (const auto line : lines_of(tree.at(path))) {
        std::cmatch match;
        if (std::regex_match(line.begin(), line.end(), match, kInclude)) {
            includes.push_back({match[1], resolve(tree, path, match[1])});
        }
    }
    return includes;
}

/// The part of the house that a file belongs to: `common`, `servers/stackful`, `bench`, ...
std::string part_of(const std::string& path) {
    const auto first = path.substr(0, path.find('/'));
    if (first != "servers") {
        return first;
    }
    return path.substr(0, path.find('/', first.size() + 1));
}

bool may_include(const std::string& file, const std::string& header) {
    // A prediction of thread injection must hold the server's own rules, or it would test a copy.
    // They are values alone, so that sharing this one header couples nothing else.
    if (file.starts_with("bench/") && header == "servers/sync_over_async/injection_policy.hpp") {
        return true;
    }
    const std::string from = part_of(file);
    const std::string to = part_of(header);
    if (from == to || to == "common" || from == "tests") {
        return true;
    }
    return to == "servers/blocking" &&
           (from == "servers/thread_pool" || from == "servers/stackful");
}

/// Whether a header is one that values and ordinary functions have no use for.
bool does_io(const std::string& header) {
    static constexpr std::array kHeaders = {"unistd.h", "fstream",           "iostream", "cstdio",
                                            "poll.h",   "fcntl.h",           "thread",   "mutex",
                                            "future",   "condition_variable"};
    return header.starts_with("sys/") || header.starts_with("boost/asio") ||
           header.starts_with("boost/beast") || header.starts_with("spdlog/") ||
           std::find(kHeaders.begin(), kHeaders.end(), header) != kHeaders.end();
}

/// Follows the includes of a file of common/app/ as far as the tree goes.
void check_purity(const SourceTree& tree, const std::string& start, const std::string& path,
                  std::set<std::string>& seen, std::vector<std::string>& broken) {
    if (!seen.insert(path).second) {
        return;
    }
    for (const auto& [text, target] : includes_of(tree, path)) {
        if (does_io(text)) {
            broken.push_back(start + " reaches <" + text + "> through " + path);
        } else if (!target.empty()) {
            check_purity(tree, start, target, seen, broken);
        }
    }
}

std::size_t columns_of(std::string_view line) {
    return static_cast<std::size_t>(std::count_if(
        line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));  // UTF-8
}

bool is_code(const std::string& path) {
    return path.ends_with(".cpp") || path.ends_with(".hpp");
}

void check_lines(const std::string& path, const std::string& text,
                 std::vector<std::string>& broken) {
    static const std::regex kDefine(R"(\s*#\s*define\b.*)");
    std::size_t number = 0;
    for (const auto line : lines_of(text)) {
        const std::string where = path + ":" + std::to_string(++number);
        if (columns_of(line) > kColumns) {
            broken.push_back(where + " is longer than 100 columns");
        }
        if (path.starts_with("servers/") && std::regex_match(line.begin(), line.end(), kDefine)) {
            broken.push_back(where + " defines a macro");
        }
    }
}

/// The seam's own templates are its point: Beast reads and writes through them.
bool counts_templates(const std::string& path) {
    return path.starts_with("servers/") && path != "servers/blocking/waiting.hpp";
}

}  // namespace

std::vector<std::string> broken_rules(const SourceTree& tree) {
    std::vector<std::string> broken;
    std::map<std::string, int> templates;
    for (const auto& [path, text] : tree) {
        check_lines(path, text, broken);
        if (!is_code(path)) {
            continue;
        }
        for (const auto& include : includes_of(tree, path)) {
            if (!include.path.empty() && !may_include(path, include.path)) {
                broken.push_back(path + " includes " + include.path);
            }
        }
        if (path.starts_with("common/app/")) {
            std::set<std::string> seen;
            check_purity(tree, path, path, seen, broken);
        }
        if (counts_templates(path)) {
            static const std::regex kTemplate(R"(\btemplate\s*<)");
            templates[part_of(path)] += static_cast<int>(
                std::distance(std::sregex_iterator(text.begin(), text.end(), kTemplate), {}));
        }
    }
    for (const auto& [part, count] : templates) {
        if (count > kTemplates) {
            broken.push_back(part + " has " + std::to_string(count) + " templates");
        }
    }
    return broken;
}
