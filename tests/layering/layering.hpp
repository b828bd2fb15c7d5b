#pragma once

#include <string>
#include <vector>

#include "source_tree.hpp"

/// One sentence for every place that breaks a rule of the house:
/// - common/ includes only common/; servers and the stub include common/ and themselves; no server
///   includes another; servers/blocking/ is for the two servers that share it; bench/ includes no
///   server (but for the one header of rules that its prediction shares) and not the stub, and
///   nobody includes bench/.
/// - common/app/ reaches neither Asio nor Beast, by whatever path, and does no I/O.
/// - servers/ define no macros, and next to no templates.
/// - no line is longer than 100 columns.
std::vector<std::string> broken_rules(const SourceTree& tree);
