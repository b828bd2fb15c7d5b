#include "bench/runner.hpp"

#include <algorithm>
#include <chrono>
#include <thread>

#include "bench/interrupt.hpp"
#include "bench/limits.hpp"
#include "bench/load/wrk.hpp"
#include "bench/sample/connections.hpp"
#include "bench/sample/process.hpp"
#include "bench/statistics/statistics.hpp"
#include "bench/target/child.hpp"
#include "bench/target/client.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using target::Answer;
using target::Child;
using ReceivedBytes = std::optional<std::map<std::uint16_t, std::uint64_t>>;

/// A started program that printed its port.
struct Listening {
    Child child;
    int port = 0;
};

Result<Listening> start(const Places& places, std::vector<std::string> command,
                        const std::vector<std::string>& more, const std::string& file) {
    std::vector<std::string> arguments(command.begin() + 1, command.end());
    arguments.insert(arguments.end(), {"--port", "0"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto child = Child::start(places.program(command), arguments, places.raw / file);
    if (!child) {
        return Result<Listening>::failed(child.error);
    }
    const auto port = target::wait_for_port(*child);
    if (!port) {
        return Result<Listening>::failed(command.front() + ": " + port.error);
    }
    return Listening{std::move(*child), *port.value};
}

/// Empty when the answer is 200 with the expected body; otherwise what came instead.
std::string check(int port, const std::string& path, const std::optional<std::string>& body) {
    const auto answer = target::get(port, path);
    if (!answer) {
        return answer.error;
    }
    if (answer.value->status != 200) {
        return "GET " + path + ": status " + std::to_string(answer.value->status);
    }
    return !body || answer.value->body == *body ? "" : "GET " + path + ": an unexpected body";
}

std::string wait_for_answer(int port, const std::string& path,
                            const std::optional<std::string>& body) {
    const auto until = Clock::now() + limits::kStart;
    std::string problem = check(port, path, body);
    while (!problem.empty() && Clock::now() < until && !interrupted()) {
        std::this_thread::sleep_for(limits::kLook);
        problem = check(port, path, body);
    }
    return problem;
}

Result<Child> start_wrk(const Load& load, std::chrono::milliseconds duration, int port,
                        const std::string& path, const Places& places, const std::string& file) {
    const std::string url = "http://127.0.0.1:" + std::to_string(port) + path;
    return Child::start(places.wrk, load::wrk_arguments(load, duration, places.wrk_script, url),
                        places.raw / file);
}

/// Returns when wrk has ended, or was stopped because its time was over or Ctrl-C was pressed.
template <class EachInterval>
void wait_for_wrk(Child& wrk, std::chrono::milliseconds duration, EachInterval each_interval) {
    const auto start = Clock::now();
    auto next = start;
    while (!wrk.has_ended() && !interrupted() &&
           Clock::now() - start < duration + limits::kLoadOverrun) {
        if (Clock::now() >= next) {
            next += limits::kSampleInterval;
            each_interval(Clock::now() - start);
        }
        std::this_thread::sleep_for(limits::kLook);
    }
}

std::optional<Fairness> compare(const ReceivedBytes& earlier, const ReceivedBytes& later) {
    if (!earlier || !later || later->empty()) {
        return std::nullopt;
    }
    Fairness fairness;
    fairness.fewest_bytes = UINT64_MAX;
    for (const auto& [port, bytes] : *later) {
        const auto before = earlier->find(port);
        const std::uint64_t got = bytes - (before == earlier->end() ? 0 : before->second);
        ++fairness.connections;
        fairness.starved += got == 0;
        fairness.fewest_bytes = std::min(fairness.fewest_bytes, got);
        fairness.most_bytes = std::max(fairness.most_bytes, got);
    }
    return fairness;
}

Percentiles percentiles(const statistics::Histogram& histogram) {
    const auto ms = [&](double percent) {
        return statistics::percentile_us(histogram, percent) / 1000;
    };
    return {
        ms(50), ms(75), ms(90), ms(99), ms(99.9), ms(100), statistics::mean_us(histogram) / 1000};
}

void take_report(const load::WrkReport& report, Run& run) {
    run.measured = true;
    run.duration_s = report.duration_s;
    run.requests = report.requests;
    run.status_errors = report.status_errors;
    run.socket_errors = report.socket_errors();
    run.bytes = report.bytes;
    run.rate = report.rate();
    run.raw = percentiles(report.raw);
    run.corrected = percentiles(report.corrected);
    if (run.socket_errors > 0) {
        run.problems.push_back(std::to_string(run.socket_errors) + " socket errors");
    }
    if (run.status_errors > 0) {
        run.problems.push_back(std::to_string(run.status_errors) + " answers other than 2xx");
    }
}

/// The load itself: everything between the two readings of the CPU clocks.
void measure(const Experiment& experiment, const Row& row, const Places& places, Listening& stub,
             Listening& server, Run& run) {
    const auto duration = experiment.duration_of(row);
    const pid_t pid = server.child.pid();
    sample::reset_peak(pid);
    const std::uint64_t switches = sample::context_switches(pid);
    const double server_cpu_s = sample::cpu_s(pid);
    const double stub_cpu_s = sample::cpu_s(stub.child.pid());
    const auto start = Clock::now();
    const double busy_cpu_s = sample::busy_cpu_s();
    auto wrk =
        start_wrk(experiment.load, duration, server.port, row.path, places, run.files + "-wrk");
    if (!wrk) {
        run.problems.push_back(wrk.error);
        return;
    }
    std::vector<double> threads, rss_bytes;
    ReceivedBytes half_time, end;
    wait_for_wrk(*wrk, duration, [&](Clock::duration elapsed) {
        const sample::Status status = sample::status(pid);
        threads.push_back(status.threads);
        rss_bytes.push_back(static_cast<double>(status.rss_bytes));
        run.peak_rss_bytes = static_cast<double>(status.peak_rss_bytes);
        if (!half_time && elapsed > duration / 2) {
            half_time = sample::received_bytes(server.port);
        } else if (!end && elapsed > duration - limits::kBeforeEnd) {
            end = sample::received_bytes(server.port);
        }
    });
    run.wrk_cpu_s = sample::cpu_s(wrk->pid());
    run.server_cpu_s = sample::cpu_s(pid) - server_cpu_s;
    run.stub_cpu_s = sample::cpu_s(stub.child.pid()) - stub_cpu_s;
    run.other_cpus = std::max(0.0, sample::busy_cpu_s() - busy_cpu_s - run.wrk_cpu_s -
                                       run.server_cpu_s - run.stub_cpu_s) /
                     std::chrono::duration<double>(Clock::now() - start).count();
    run.context_switches = sample::context_switches(pid) - switches;
    run.threads = static_cast<int>(threads.empty() ? 0 : std::ranges::max(threads));
    run.median_threads = statistics::median(threads);
    run.median_rss_bytes = statistics::median(rss_bytes);
    run.fairness = compare(half_time, end);
    wrk->stop();
    const auto report =
        load::parse_wrk(wrk->output(), static_cast<std::uint64_t>(experiment.load.connections));
    if (report) {
        take_report(*report.value, run);
    } else {
        run.problems.push_back(report.error);
    }
}

void verify_and_measure(const Experiment& experiment, const Row& row, const Places& places,
                        const std::string& body, Listening& stub, Listening& server, Run& run) {
    // A cold server is asked for /health only: the first request to its pool starts the clock.
    const std::string path = row.cold ? "/health" : row.path;
    const auto expected = row.cold ? std::nullopt : std::optional(body);
    if (const auto problem = wait_for_answer(server.port, path, expected); !problem.empty()) {
        run.problems.push_back(problem);
        return;
    }
    if (!row.cold) {
        auto warm_up = start_wrk(experiment.load, experiment.load.warm_up, server.port, row.path,
                                 places, run.files + "-warm-up");
        if (!warm_up) {
            run.problems.push_back(warm_up.error);
            return;
        }
        wait_for_wrk(*warm_up, experiment.load.warm_up, [](Clock::duration) {});
    }
    if (!interrupted()) {
        measure(experiment, row, places, stub, server, run);
    }
    if (!interrupted()) {
        if (const auto problem = check(server.port, path, expected); !problem.empty()) {
            run.problems.push_back("after the load " + problem);
        }
    }
}

}  // namespace

Result<double> measure_stub(const Experiment& experiment, const Places& places) {
    auto stub = start(places, experiment.stub, {}, "stub-alone");
    if (!stub) {
        return Result<double>::failed(stub.error);
    }
    const auto seconds = target::time_gets(stub->port, "/", limits::kStubRequests);
    if (!seconds) {
        return Result<double>::failed(experiment.stub.front() + ": " + seconds.error);
    }
    return statistics::median(*seconds.value);
}

Run run_row(const Experiment& experiment, const Row& row, int round, const Places& places) {
    Run run;
    run.row = row.id;
    run.round = round;
    run.files = std::to_string(round) + "-" + row.id;
    auto stub = start(places, experiment.stub, {}, run.files + "-stub");
    if (!stub) {
        run.problems.push_back(stub.error);
        return run;
    }
    const auto answer = target::get(stub->port, "/");
    if (!answer) {
        run.problems.push_back(experiment.stub.front() + ": " + answer.error);
        return run;
    }
    auto server =
        start(places, row.command, {"--downstream", "127.0.0.1:" + std::to_string(stub->port)},
              run.files + "-server");
    if (!server) {
        run.problems.push_back(server.error);
        return run;
    }
    verify_and_measure(experiment, row, places, answer.value->body, *stub, *server, run);
    run.exit_status = server->child.stop();
    if (run.exit_status != 0 && !row.cold && !interrupted()) {
        run.problems.push_back("the server's exit status was " + std::to_string(run.exit_status));
    }
    return run;
}

bool is_supported(const Row& row, const Places& places) {
    // Any downstream will do: it is not called.
    const auto server =
        start(places, row.command, {"--downstream", "127.0.0.1:9"}, row.id + "-flags");
    return server || server.error.find("status 2:") == std::string::npos;
}

}  // namespace bench
