#pragma once

#include <string>
#include <vector>

#include "source_tree.hpp"

/// Documentation quotes compiled code by tag. In the source a region stands between two lines
/// `// [tag]` and `// [/tag]` (in CMake `# [tag]` and `# [/tag]`); in Markdown the quotation is
/// the fenced block right after a line `<!-- quote: path#tag -->`. The two must be equal but for
/// indentation that all lines share.
/// Returns one sentence for every quotation that is stale, unfinished, or of nothing.
/// `found` becomes the number of quotations seen.
std::vector<std::string> stale_quotations(const SourceTree& tree, int& found);
