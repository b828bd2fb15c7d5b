// Writes the report of a results.json: what `waitbench report` does, on input that nobody measured.

#include <cstdio>
#include <fstream>

#include "bench/report/write_report.hpp"

int main(int argc, char** argv) {
    if (argc != 4) {
        std::fprintf(stderr, "usage: write_sample_report RESULTS_JSON PAGE_FOLDER OUT_FOLDER\n");
        return 2;
    }
    std::ifstream file(argv[1]);
    const auto results = nlohmann::json::parse(file, nullptr, false);
    if (results.is_discarded()) {
        std::fprintf(stderr, "%s is not JSON\n", argv[1]);
        return 1;
    }
    bench::report::ReportParts parts;
    parts.page = argv[2];
    const auto missing = bench::report::write_report(argv[3], results, parts);
    std::fprintf(stderr, "%s%s", missing ? missing.value->c_str() : missing.error.c_str(),
                 missing && missing.value->empty() ? "" : "\n");
    return missing && missing.value->empty() ? 0 : 1;
}
