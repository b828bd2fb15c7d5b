#pragma once

#include <string>
#include <vector>

#include "bench/result.hpp"

namespace bench::target {

struct Answer {
    unsigned status = 0;
    std::string body;
};

/// One GET to 127.0.0.1 on a connection of its own, bounded by limits::kRequest.
Result<Answer> get(int port, const std::string& path);

/// Seconds that each of `count` GETs took, one after the other on one connection.
Result<std::vector<double>> time_gets(int port, const std::string& path, int count);

}  // namespace bench::target
