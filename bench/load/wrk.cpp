#include "bench/load/wrk.hpp"

#include "bench/limits.hpp"

namespace bench::load {

std::vector<std::string> wrk_arguments(const Load& load, std::chrono::milliseconds duration,
                                       const std::filesystem::path& script,
                                       const std::string& url) {
    // wrk takes whole seconds only.
    const auto whole = std::chrono::ceil<std::chrono::seconds>(duration);
    return {"--threads",
            std::to_string(load.threads),
            "--connections",
            std::to_string(load.connections),
            "--duration",
            std::to_string(whole.count()) + "s",
            "--timeout",
            std::to_string((whole + limits::kLoadTimeoutMargin).count()) + "s",
            "--script",
            script.string(),
            url};
}

Result<WrkReport> parse_wrk(const std::string& output, std::uint64_t connections) {
    static const std::string sentinel = "\nWAITBENCH ";
    const std::size_t start = output.rfind(sentinel);
    if (start == std::string::npos) {
        return Result<WrkReport>::failed("wrk did not report");
    }
    const std::size_t first = start + sentinel.size();
    const auto json = nlohmann::json::parse(output.substr(first, output.find('\n', first) - first),
                                            nullptr, false);
    if (json.is_discarded()) {
        return Result<WrkReport>::failed("wrk's report was cut short");
    }
    WrkReport report;
    report.duration_s = json.at("duration_us").get<double>() / 1e6;
    report.requests = json.at("requests");
    report.bytes = json.at("bytes");
    report.connect_errors = json.at("connect_errors");
    report.read_errors = json.at("read_errors");
    report.write_errors = json.at("write_errors");
    report.timeouts = json.at("timeouts");
    report.status_errors = json.at("status_errors");
    for (const auto& cell : json.at("histogram")) {
        report.corrected[cell.at(0)] = cell.at(1);
    }
    report.raw = statistics::without_correction(report.corrected, json.at("duration_us"),
                                                report.requests, connections);
    return report;
}

}  // namespace bench::load
