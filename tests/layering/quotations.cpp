#include "quotations.hpp"

#include <algorithm>
#include <optional>
#include <regex>

namespace {

std::string_view trimmed(std::string_view text) {
    const auto start = text.find_first_not_of(' ');
    return start == text.npos ? std::string_view()
                              : text.substr(start, text.find_last_not_of(' ') - start + 1);
}

/// The lines without the indentation that they share; empty lines have none to share.
std::string without_shared_indentation(const std::vector<std::string_view>& lines) {
    std::size_t shared = std::string::npos;
    for (const auto line : lines) {
        if (!trimmed(line).empty()) {
            shared = std::min(shared, line.find_first_not_of(' '));
        }
    }
    std::string text;
    for (const auto line : lines) {
        text += trimmed(line).empty() ? std::string_view() : line.substr(shared);
        text += '\n';
    }
    return text;
}

/// Whether a line is this mark, in a comment of C++ or of CMake.
bool is_mark(std::string_view line, const std::string& mark) {
    return trimmed(line) == "// [" + mark + "]" || trimmed(line) == "# [" + mark + "]";
}

/// The region of this tag; nothing if it does not stand there exactly once.
std::optional<std::string> region(const std::string& source, const std::string& tag) {
    std::vector<std::string_view> inside;
    int opened = 0;
    int closed = 0;
    for (const auto line : lines_of(source)) {
        if (is_mark(line, tag)) {
            ++opened;
        } else if (is_mark(line, "/" + tag)) {
            ++closed;
        } else if (opened == 1 && closed == 0 && !trimmed(line).starts_with("// [") &&
                   !trimmed(line).starts_with("# [")) {
            inside.push_back(line);
        }
    }
    if (opened != 1 || closed != 1 || inside.empty()) {
        return std::nullopt;
    }
    return without_shared_indentation(inside);
}

/// The fenced block that starts at `lines[start]`; nothing if there is none or it never ends.
std::optional<std::string> fenced_block(const std::vector<std::string_view>& lines,
                                        std::size_t start) {
    if (start >= lines.size() || !lines[start].starts_with("```")) {
        return std::nullopt;
    }
    std::vector<std::string_view> inside;
    for (std::size_t i = start + 1; i < lines.size(); ++i) {
        if (lines[i] == "```") {
            return without_shared_indentation(inside);
        }
        inside.push_back(lines[i]);
    }
    return std::nullopt;
}

}  // namespace

std::vector<std::string> stale_quotations(const SourceTree& tree, int& found) {
    static const std::regex kQuote(R"(\s*<!--\s*quote:\s*([^#\s]+)#([^\s]+)\s*-->\s*)");
    std::vector<std::string> stale;
    found = 0;
    for (const auto& [path, text] : tree) {
        if (!path.ends_with(".md")) {
            continue;
        }
        const auto lines = lines_of(text);
        for (std::size_t i = 0; i < lines.size(); ++i) {
            const std::string where = path + ":" + std::to_string(i + 1);
            std::cmatch match;
            if (!std::regex_match(lines[i].begin(), lines[i].end(), match, kQuote)) {
                if (lines[i].find("<!-- quote") != std::string_view::npos) {
                    stale.push_back(where + " is no <!-- quote: path#tag -->");
                }
                continue;
            }
            ++found;
            const auto source = tree.find(match[1]);
            const auto quoted = fenced_block(lines, i + 1);
            const auto code =
                source == tree.end() ? std::nullopt : region(source->second, match[2]);
            if (!code) {
                stale.push_back(where + " quotes " + match[1].str() + "#" + match[2].str() +
                                ", which does not stand there once, opened and closed");
            } else if (!quoted) {
                stale.push_back(where + " is not followed by a fenced block");
            } else if (*quoted != *code) {
                stale.push_back(where + " is stale; the code says:\n" + *code);
            }
        }
    }
    return stale;
}
