#include "named_tests.hpp"

#include <regex>

namespace {

std::set<std::string> matches(std::string_view text, const std::regex& shape) {
    std::set<std::string> all;
    for (std::cregex_iterator match(text.begin(), text.end(), shape), end; match != end; ++match) {
        all.insert((*match)[1].str());
    }
    return all;
}

}  // namespace

std::set<std::string> defined_tests(const SourceTree& tree) {
    static const std::regex kTest(R"(^TEST(?:_F|_P)?\(\s*(\w+),\s*(\w+)\))");
    std::set<std::string> all;
    for (const auto& [path, text] : tree) {
        if (!path.starts_with("tests/")) {
            continue;
        }
        for (const auto line : lines_of(text)) {
            std::cmatch match;
            if (std::regex_search(line.begin(), line.end(), match, kTest)) {
                all.insert(match[1].str() + "." + match[2].str());
            }
        }
    }
    return all;
}

std::set<std::string> named_tests(std::string_view page) {
    static const std::regex kName(R"(`([A-Z][A-Za-z0-9]+\.[A-Z][A-Za-z0-9]+)`)");
    return matches(page, kName);
}

std::set<std::string> named_paths(std::string_view page) {
    static const std::regex kPath(R"(`(tests/[A-Za-z0-9_./]+)`)");
    return matches(page, kPath);
}
