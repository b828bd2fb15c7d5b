#include <gtest/gtest.h>

#include <fstream>
#include <iterator>

#include "bench/report/charts.hpp"
#include "bench/report/content.hpp"
#include "bench/report/html.hpp"
#include "bench/report/markdown.hpp"
#include "bench/report/write_report.hpp"

using namespace bench;
using namespace bench::report;
using nlohmann::json;

namespace {

namespace fs = std::filesystem;

const fs::path kPage = fs::path(BENCH_FOLDER) / "report" / "page";

std::string contents_of(const fs::path& file) {
    std::ifstream stream(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(stream), {}};
}

json sample() {
    return json::parse(
        contents_of(fs::path(BENCH_FOLDER) / ".." / "tests" / "bench" / "sample_results.json"));
}

json small_results() {
    return json::parse(R"({
        "schema": 2, "complete": true, "argv": ["waitbench", "run", "two words"], "seed": 7,
        "profile": "quick", "started": "2026-01-02T03:04:05Z",
        "environment": {"cpu": "CPU", "cpus": 2, "limits": {"descriptors": 1024}},
        "experiments": [{
            "id": "wait", "title": "GET /wait", "published_machine": "M",
            "load": {"kind": "closed", "tool": "wrk", "connections": 1000, "duration_s": 6,
                     "warm_up_s": 2, "runs": 3},
            "stub_median_s": 0.0203, "machine_ceiling_rps": 34167, "machine_ceiling_row": "raw-2",
            "figure": "rate",
            "rows": [
                {"id": "pool", "label": "thread_pool | 200", "command": ["server_thread_pool"],
                 "answered": true, "runs": 3, "rps": 9458, "rps_low": 9300, "rps_high": 9600,
                 "p50_ms": 105.25, "predicted": {"figure": "rate", "value": 9848},
                 "difference": -0.0396, "published": ["wait-1"], "verdict": "valid"},
                {"id": "cold", "label": "cold", "command": ["server_sync_over_async"],
                 "answered": false, "runs": 1, "rps": 0, "verdict": "suspect",
                 "gates": [{"id": "steal", "verdict": "suspect", "reason": "12 %"},
                           {"id": "errors", "verdict": "holds", "reason": "0"}]}],
            "published_rows": [{"id": "wait-1", "system": "Tomcat", "rps": 9850, "p99_ms": 142.7}],
            "claims": [{"id": "c", "says": "A pool is capped", "published": "9,850 of 10,000",
                        "ours": "9,458 of 9,848", "verdict": "holds", "reason": ""}],
            "remarks": ["A remark."], "runs": []}]})");
}

json with_rows(const char* rows) {
    json results = small_results();
    results["experiments"][0]["rows"] = json::parse(rows);
    return results;
}

Page page() {
    return {contents_of(kPage / "page.html"), contents_of(kPage / "style.css"),
            contents_of(kPage / "script.js"), "var Chart;"};
}

/// A folder of its own that goes with the test.
struct Folder {
    fs::path path = fs::temp_directory_path() /
                    ("waitbench-report-" + std::to_string(::getpid()) + "-" +
                     ::testing::UnitTest::GetInstance()->current_test_info()->name());
    Folder() { fs::create_directories(path); }
    ~Folder() { fs::remove_all(path); }
};

const Chart* chart_named(const std::vector<Chart>& charts, const std::string& id) {
    for (const Chart& chart : charts) {
        if (chart.id == id) {
            return &chart;
        }
    }
    return nullptr;
}

TEST(ReportContent, ReadableFigures) {
    EXPECT_EQ(readable(0), "0");
    EXPECT_EQ(readable(0.931), "0.93");
    EXPECT_EQ(readable(9.99), "9.99");
    EXPECT_EQ(readable(9.999), "10.0");
    EXPECT_EQ(readable(33.64), "33.6");
    EXPECT_EQ(readable(99.96), "100");
    EXPECT_EQ(readable(202), "202");
    EXPECT_EQ(readable(9458.4), "9,458");
    EXPECT_EQ(readable(1234567), "1,234,567");
    EXPECT_EQ(readable(-1234), "-1,234");
}

TEST(ReportMarkdown, ExactForASmallRun) {
    EXPECT_EQ(
        markdown(small_results(), {}),
        R"(# waitbench report

**On 1,000 connections thread_pool \| 200 answered 9,458 requests a second; cold (suspect) )"
        R"(answered nothing.**

2 CPUs, CPU, profile quick, 2026-01-02T03:04:05Z

1 published claim: 1 holds. 2 rows: 1 valid, 1 suspect.

It ranks models on this host only. Server, downstream and load generator share the host, )"
        R"(and on loopback a sender mostly pays for the receiver's softirq, so CPU per request )"
        R"(contains work for the peer. The stackless server stands on Asio and )"
        R"(the stackful one on )"
        R"(its own reactor, so a difference between the two contains the reactor.

## GET /wait

Closed loop: wrk on 1,000 connections; a connection sends its next request when its last )"
        R"(one was answered; 6 s after 2 s of warm-up; medians of 3 runs. The downstream answers )"
        R"(after 20.3 ms, its median with one connection and no load. Ceilings: )"
        R"(a raw epoll program )"
        R"((raw-2) reached 34,167 req/s on this machine. The published figures are from another )"
        R"(machine: M.

| row | req/s | lowest to highest run | predicted | difference | p50 ms | p99 ms | verdict |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | --- |
| thread_pool \| 200 | 9,458 | 9,300 to 9,600 | 9,848 | −4.0 % | 105 | – | valid |
| *as published: Tomcat* | *9,850* |  |  |  |  | *143* |  |
| cold | 0 | – | – | – | – | – | suspect |

- A remark.

What the source document claims:

| claim | published | here | verdict |
| --- | --- | --- | --- |
| A pool is capped | 9,850 of 10,000 | 9,458 of 9,848 | holds |

Gates that did not hold, and what went wrong in single runs:

| row | gate | verdict | reason |
| --- | --- | --- | --- |
| cold | steal | suspect | 12 % |

<details><summary>Latency and cost in full; CPU and context switches per request</summary>

| row | runs | lowest req/s | highest req/s | p50 ms |
| --- | ---: | ---: | ---: | ---: |
| thread_pool \| 200 | 3 | 9,300 | 9,600 | 105 |
| cold | 1 | – | – | – |

</details>

## Environment

    waitbench run 'two words'

| what | value |
| --- | --- |
| profile | quick |
| seed | 7 |
| started | 2026-01-02T03:04:05Z |
| cpu | CPU |
| cpus | 2 |
| limits, descriptors | 1024 |
)");
}

TEST(ReportHeadline, LeavesInvalidRowsAndCeilingsOut) {
    EXPECT_EQ(headline(with_rows(R"([
        {"id": "a", "rps": 30000, "verdict": "suspect"}, {"id": "b", "rps": 10000},
        {"id": "c", "rps": 90000, "verdict": "invalid"},
        {"id": "d", "rps": 5, "verdict": "not run"},
        {"id": "raw", "rps": 50000, "ceiling": true}])")),
              "On 1,000 connections a (suspect) answered 30,000 requests a second, 3.0 times as "
              "many as b (10,000).");
    EXPECT_EQ(headline(with_rows(R"([{"id": "a", "rps": 103}, {"id": "b", "rps": 100}])")),
              "On 1,000 connections a answered 103 requests a second, 3.0 % more than b (100).");
    EXPECT_EQ(headline(with_rows("[]")), "No row has a figure that may be compared.");
    EXPECT_EQ(headline(json::object()), "Nothing was measured.");
}

TEST(ReportHeadline, LessIsBetterForTimes) {
    json results = with_rows(R"([{"id": "a", "wall_s": 0.9}, {"id": "b", "wall_s": 0.3}])");
    results["experiments"][0]["figure"] = "wall";
    EXPECT_EQ(headline(results),
              "On 1,000 connections b was done after 0.30 s, 3.0 times as fast as a (0.90).");
}

TEST(ReportVerdicts, AnInterruptedRunSaysSo) {
    json results = small_results();
    results["complete"] = false;
    EXPECT_EQ(verdicts(results).front(),
              "The run was interrupted: this is what was measured until then.");
}

TEST(ReportVerdicts, OneThatWentOnWithSomethingElseSaysWithWhat) {
    json results = small_results();
    results["resumed_with"] = {{"commit", "b"}, {"kernel", "c"}};
    EXPECT_EQ(verdicts(results).front(),
              "The run was interrupted; what came afterwards was measured with another: commit, "
              "kernel.");
}

TEST(ReportHtml, HostileTextStaysText) {
    const std::string hostile = "<script>alert('1')</script><!--\"{{data}}";
    json results = small_results();
    json& experiment = results["experiments"][0];
    experiment["rows"][0]["label"] = hostile;
    experiment["title"] = hostile;
    experiment["id"] = "\"><img src=x>";
    experiment["claims"][0]["says"] = hostile;
    experiment["claims"][0]["verdict"] = "\" onclick=\"x";
    results["argv"].push_back(hostile);
    const std::string text = html(results, charts_of(results), page());
    EXPECT_EQ(text.find("<script>alert"), std::string::npos);
    EXPECT_EQ(text.find("<img"), std::string::npos);
    EXPECT_EQ(text.find("<!--"), std::string::npos);
    EXPECT_EQ(text.find("onclick=\"x\""), std::string::npos);
    EXPECT_NE(text.find("&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;"), std::string::npos);
    EXPECT_NE(text.find("{{data}}"), std::string::npos) << "What is put in is not filled again.";
}

TEST(ReportMarkdown, HostileTextStaysText) {
    json results = small_results();
    results["experiments"][0]["rows"][0]["label"] = "<script>|\n# no [x](y) `z` *b*";
    const std::string text = markdown(results, {});
    EXPECT_NE(text.find("| &lt;script>\\| # no \\[x\\](y) \\`z\\` \\*b\\* | 9,458 |"),
              std::string::npos);
}

TEST(Report, EveryClaimRowAndReasonOfTheSampleAppears) {
    const json results = sample();
    const std::string text = markdown(results, {});
    const std::string page_text = html(results, charts_of(results), page());
    int claims = 0;
    for (const json& experiment : results["experiments"]) {
        for (const json& claim : experiment["claims"]) {
            ++claims;
            for (const char* key : {"says", "ours", "reason"}) {
                EXPECT_NE(text.find(claim[key]), std::string::npos) << claim[key];
                EXPECT_NE(page_text.find(claim[key]), std::string::npos) << claim[key];
            }
        }
        for (const json& row : experiment["rows"]) {
            EXPECT_NE(text.find(row["label"]), std::string::npos) << row["label"];
            for (const json& gate : row["gates"]) {
                const bool expected = gate["verdict"] != "holds";
                EXPECT_TRUE(!expected || text.find(gate["reason"]) != std::string::npos);
                EXPECT_TRUE(!expected || page_text.find(gate["reason"]) != std::string::npos);
            }
        }
    }
    EXPECT_EQ(claims, 16);
    EXPECT_NE(text.find("16 published claims: 10 hold, 3 do not hold, 3 cannot be tested."),
              std::string::npos);
}

TEST(ReportCharts, PublishedMarksOnlyWhereTheLoadIsThePublishedOne) {
    json results = small_results();
    EXPECT_EQ(chart_named(charts_of(results), "wait-rate")->series[0].published,
              std::vector<double>{9850});
    results["profile"] = "fit";
    const auto charts = charts_of(results);
    EXPECT_TRUE(chart_named(charts, "wait-rate")->series[0].published.empty());
    EXPECT_NE(chart_named(charts, "wait-rate")->note.find("another load"), std::string::npos);
}

TEST(ReportCharts, AnswersOfEachIntervalFromACounter) {
    json results = small_results();
    results["experiments"][0]["runs"] = json::parse(R"([{"row": "cold", "measured": true,
        "samples": [{"t_s": 0.5, "threads": 4, "completed": 0},
                    {"t_s": 1.0, "threads": 6, "completed": 10},
                    {"t_s": 1.5, "threads": 7, "completed": 25}]}])");
    const auto charts = charts_of(results);
    const Chart* timeline = chart_named(charts, "wait-timeline-cold");
    ASSERT_NE(timeline, nullptr);
    EXPECT_EQ(timeline->series[0].points[2].y, 7);
    EXPECT_EQ(timeline->series[1].points[1].y, 10);
    EXPECT_EQ(timeline->series[1].points[2].y, 15);
}

TEST(ReportCharts, SweepAndOpenLoopOfTheSample) {
    const auto charts = charts_of(sample());
    const Chart* rate = chart_named(charts, "sweep-rate");
    ASSERT_NE(rate, nullptr);
    ASSERT_EQ(rate->series.size(), 4);
    EXPECT_EQ(rate->series[0].points.size(), 14);
    EXPECT_EQ(rate->series[3].points.size(), 9) << "Zero has no place on a logarithmic axis.";
    const Chart* open_loop = chart_named(charts, "rate-p99");
    ASSERT_NE(open_loop, nullptr);
    EXPECT_FALSE(open_loop->series[0].points.front().hollow);
    EXPECT_TRUE(open_loop->series[0].points.back().hollow);
}

TEST(ReportCharts, GnuplotGetsHostileTextInQuotes) {
    json results = small_results();
    results["experiments"][0]["title"] = "it's\n`date` \"x\"";
    const auto charts = charts_of(results);
    EXPECT_NE(gnuplot_script(charts[0]).find("set title 'it''s `date` \"x\"' "), std::string::npos);
}

TEST(WriteReport, WithoutGnuplotAndChartJsThereAreStillTables) {
    const Folder folder;
    const ReportParts parts{kPage, folder.path / "none.js", "no-such-gnuplot"};
    const auto missing = write_report(folder.path, small_results(), parts);
    ASSERT_TRUE(missing) << missing.error;
    EXPECT_NE(missing.value->find("report.html has no charts"), std::string::npos);
    EXPECT_NE(missing.value->find("is gnuplot-nox installed?"), std::string::npos);
    const std::string text = contents_of(folder.path / "report.html");
    EXPECT_NE(text.find("Chart.js was not found"), std::string::npos);
    EXPECT_NE(text.find("9,458"), std::string::npos);
    EXPECT_EQ(contents_of(folder.path / "report.md"), markdown(small_results(), {}));
}

TEST(WriteReport, SaysWhatIsWrong) {
    const Folder folder;
    EXPECT_EQ(write_report(folder.path, small_results(), {folder.path}).error,
              "No report: the page's files in " + folder.path.string() + " cannot be read.");
    json wrong = small_results();
    wrong["complete"] = "yes";
    EXPECT_TRUE(write_report(folder.path, wrong, {kPage, {}, "no-such-gnuplot"})
                    .error.starts_with("No report: the results are not as their schema says: "));
    EXPECT_FALSE(fs::exists(folder.path / "report.html"));
    fs::create_directories(folder.path / "report.md");
    EXPECT_EQ(write_report(folder.path, small_results(), {kPage, {}, "no-such-gnuplot"}).error,
              "No report: " + (folder.path / "report.md").string() + " cannot be written.");
}

}  // namespace
