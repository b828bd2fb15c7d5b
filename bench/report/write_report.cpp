#include "bench/report/write_report.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <fstream>
#include <iterator>

#include "bench/report/charts.hpp"
#include "bench/report/html.hpp"
#include "bench/report/markdown.hpp"
#include "bench/report/results_json.hpp"

namespace bench::report {
namespace {

namespace fs = std::filesystem;

/// gnuplot draws a chart in a fraction of a second; `timeout` of the coreutils ends it after this.
constexpr const char* kGnuplotSeconds = "20";

std::string contents(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

/// Runs gnuplot on a script in `folder`, its output thrown away. Returns whether it succeeded.
bool run_gnuplot(const fs::path& folder, const std::string& gnuplot, const std::string& script) {
    const char* const arguments[] = {"timeout", kGnuplotSeconds, gnuplot.c_str(), script.c_str(),
                                     nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
    for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    }
    pid_t child = 0;
    const int failed = posix_spawnp(&child, arguments[0], &actions, nullptr,
                                    const_cast<char* const*>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    while (failed == 0 && waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return failed == 0 && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool draw(const fs::path& folder, const std::string& gnuplot, const Chart& chart) {
    const fs::path script = folder / (chart.id + ".gnuplot");
    const fs::path aside = folder / (chart.id + ".svg.part");
    std::error_code error;
    bool drawn = write_file(script, gnuplot_script(chart)) &&
                 run_gnuplot(folder, gnuplot, script.filename());
    if (drawn) {
        fs::rename(aside, folder / (chart.id + ".svg"), error);
        drawn = !error;
    }
    fs::remove(aside, error);
    fs::remove(script, error);
    return drawn;
}

/// Charts that were drawn into `folder`, which is made. The first failure ends it: what fails
/// once, mostly because gnuplot is missing, would fail again.
std::vector<Chart> draw_all(const fs::path& folder, const std::string& gnuplot,
                            const std::vector<Chart>& charts, std::string& missing) {
    std::vector<Chart> drawn;
    std::error_code error;
    fs::create_directories(folder, error);
    for (const Chart& chart : charts) {
        if (!chart.svg) {
            continue;
        }
        if (!draw(folder, gnuplot, chart)) {
            missing += "gnuplot could not draw " + (folder / (chart.id + ".svg")).string() +
                       " (is gnuplot-nox installed?), so charts are missing from report.md. ";
            break;
        }
        drawn.push_back(chart);
    }
    return drawn;
}

Result<std::string> write(const fs::path& folder, const nlohmann::json& results,
                          const ReportParts& parts) {
    using Failed = Result<std::string>;
    const Page page{contents(parts.page / "page.html"), contents(parts.page / "style.css"),
                    contents(parts.page / "script.js"), contents(parts.chart_js)};
    if (page.page.empty() || page.style.empty() || page.script.empty()) {
        return Failed::failed("No report: the page's files in " + parts.page.string() +
                              " cannot be read.");
    }
    std::string missing;
    if (page.chart_js.empty()) {
        missing += "Chart.js cannot be read from " + parts.chart_js.string() +
                   " (is libjs-chart.js installed?), so report.html has no charts. ";
    }
    const std::vector<Chart> charts = charts_of(results);
    const std::vector<Chart> drawn = draw_all(folder / "charts", parts.gnuplot, charts, missing);
    for (const auto& [name, text] : {std::pair("report.md", markdown(results, drawn)),
                                     std::pair("report.html", html(results, charts, page))}) {
        if (!write_file(folder / name, text)) {
            return Failed::failed("No report: " + (folder / name).string() + " cannot be written.");
        }
    }
    return missing.empty() ? missing : missing.substr(0, missing.size() - 1);
}

}  // namespace

Result<std::string> write_report(const fs::path& folder, const nlohmann::json& results,
                                 const ReportParts& parts) {
    try {
        return write(folder, results, parts);
    } catch (const nlohmann::json::exception& error) {
        return Result<std::string>::failed(
            std::string("No report: the results are not as their schema says: ") + error.what());
    }
}

}  // namespace bench::report
