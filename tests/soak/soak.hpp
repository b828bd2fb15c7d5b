#pragma once

#include <chrono>
#include <string>

/// What the command line says beside the flags of every suite.
struct SoakOptions {
    std::string wrk = "/usr/bin/wrk";
    std::chrono::seconds duration{20};
};
SoakOptions& soak_options();
