#include "bench/generator.hpp"

#include <cstdlib>
#include <fstream>
#include <functional>
#include <future>
#include <sstream>

#include "bench/limits.hpp"
#include "bench/load/wrk.hpp"
#include "bench/sample/process.hpp"
#include "bench/statistics/statistics.hpp"

namespace bench {
namespace {

using target::Child;
using Clock = std::chrono::steady_clock;

std::string url_of(const Aim& aim) {
    return "http://" + aim.address.text() + aim.request.path;
}

template <class PercentileMs>
Percentiles percentiles(std::uint64_t samples, double mean_ms, PercentileMs percentile_ms) {
    const auto shown = [&](double percent) {
        return statistics::may_show(percent, samples) ? std::optional(percentile_ms(percent))
                                                      : std::nullopt;
    };
    Percentiles result{shown(50), shown(75), shown(90), shown(99), shown(99.9), {}, {}};
    if (samples > 0) {
        result.max_ms = percentile_ms(100);
        result.mean_ms = mean_ms;
    }
    return result;
}

Percentiles percentiles_of(const statistics::Histogram& histogram) {
    return percentiles(
        statistics::count(histogram), statistics::mean_us(histogram) / 1000,
        [&](double percent) { return statistics::percentile_us(histogram, percent) / 1000; });
}

/// `sorted` are seconds.
Percentiles percentiles_of(const std::vector<double>& sorted, double mean_s) {
    return percentiles(sorted.size(), mean_s * 1000, [&](double percent) {
        return statistics::percentile(sorted, percent) * 1000;
    });
}

class Wrk final : public Generator {
  public:
    Wrk(Child child, int connections) : child_(std::move(child)), connections_(connections) {}

    bool has_ended() const override { return child_.has_ended(); }
    std::optional<double> cpu_s() const override { return sample::cpu_s(child_.pid()); }

    void report(Run& run) override {
        child_.stop();
        const auto parsed =
            load::parse_wrk(child_.output(), static_cast<std::uint64_t>(connections_));
        if (!parsed) {
            run.problems.push_back(parsed.error);
            return;
        }
        const load::WrkReport& wrk = *parsed.value;
        run.measured = true;
        validity::Facts& facts = run.facts;
        facts.duration_s = wrk.duration_s;
        facts.requests = wrk.requests;
        facts.status_errors = wrk.status_errors;
        facts.socket_errors = wrk.socket_errors();
        facts.bytes = wrk.bytes;
        facts.raw_samples = statistics::count(wrk.raw);
        if (!wrk.raw.empty()) {
            facts.mean_latency_s = statistics::mean_us(wrk.raw) / 1e6;
            facts.min_latency_s = static_cast<double>(wrk.raw.begin()->first) / 1e6;
        }
        facts.in_flight_at_end = connections_;
        run.raw = percentiles_of(wrk.raw);
        run.corrected = percentiles_of(wrk.corrected);
    }

  private:
    Child child_;
    int connections_;
};

class H2load final : public Generator {
  public:
    using Parse = std::function<load::H2loadReport(std::vector<load::Timed>)>;
    H2load(Child child, std::filesystem::path log, Parse parse)
        : child_(std::move(child)), log_(std::move(log)), parse_(std::move(parse)) {}

    bool has_ended() const override { return child_.has_ended(); }
    std::optional<double> cpu_s() const override { return sample::cpu_s(child_.pid()); }

    void report(Run& run) override {
        child_.stop();
        std::ifstream stream(log_);
        std::ostringstream text;
        text << stream.rdbuf();
        auto log = load::parse_log(text.str());
        if (!log || log.value->empty()) {
            run.problems.push_back(log ? "h2load logged no request" : log.error);
            return;
        }
        const load::H2loadReport h2load = parse_(std::move(*log.value));
        run.measured = true;
        validity::Facts& facts = run.facts;
        facts.duration_s = h2load.duration_s;
        facts.requests = h2load.requests;
        facts.status_errors = h2load.status_errors;
        facts.socket_errors = h2load.lost;
        facts.in_flight_at_end = 0;
        const auto& latencies = h2load.latencies_s;
        double sum_s = 0;
        for (const double latency : latencies) {
            sum_s += latency;
        }
        if (!latencies.empty()) {
            facts.mean_latency_s = sum_s / static_cast<double>(latencies.size());
            facts.min_latency_s = latencies.front();
        }
        run.wall_s = h2load.duration_s;
        run.raw = percentiles_of(latencies, facts.mean_latency_s.value_or(0));
    }

  private:
    Child child_;
    std::filesystem::path log_;
    Parse parse_;
};

class Single final : public Generator {
  public:
    Single(target::Address address, Request request, std::chrono::milliseconds limit)
        : answer_(std::async(std::launch::async, [=] {
              const auto start = Clock::now();
              auto answer = target::ask(address, request, limit);
              return std::pair(std::move(answer),
                               std::chrono::duration<double>(Clock::now() - start).count());
          })) {}

    bool has_ended() const override {
        return answer_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
    }
    std::optional<double> cpu_s() const override { return std::nullopt; }

    void report(Run& run) override {
        if (!has_ended()) {
            run.problems.push_back("the request was not answered in time");
            return;
        }
        const auto [answer, seconds] = answer_.get();
        if (!answer) {
            run.problems.push_back(answer.error);
            return;
        }
        run.measured = true;
        run.wall_s = seconds;
        run.facts.duration_s = seconds;
        run.facts.requests = 1;
        run.facts.status_errors = answer.value->status == 200 ? 0 : 1;
        run.facts.mean_latency_s = run.facts.min_latency_s = seconds;
        run.facts.in_flight_at_end = 0;
    }

  private:
    std::future<std::pair<Result<target::Answer>, double>> answer_;
};

std::unique_ptr<Generator> start_h2load(const Aim& aim, const std::vector<std::string>& arguments,
                                        const std::filesystem::path& log, H2load::Parse parse,
                                        std::chrono::milliseconds patience, std::string& problem) {
    std::error_code ignored;
    std::filesystem::remove(log, ignored);  // h2load appends
    auto child = Child::start(aim.places.h2load, arguments, aim.places.raw / aim.file,
                              aim.places.pinning.load);
    if (!child) {
        problem = child.error;
        return nullptr;
    }
    auto generator = std::make_unique<H2load>(std::move(*child), log, std::move(parse));
    generator->patience = patience;
    return generator;
}

/// h2load sends the body of a file.
std::filesystem::path body_file(const Aim& aim) {
    if (aim.request.body.empty()) {
        return {};
    }
    const auto file = aim.places.raw / (aim.file + ".body");
    std::ofstream(file) << aim.request.body;
    return file;
}

}  // namespace

std::unique_ptr<Generator> start_wrk(const Aim& aim, const Load& load,
                                     std::chrono::milliseconds duration, std::string& problem) {
    ::setenv("WAITBENCH_BODY", aim.request.body.c_str(), 1);
    auto child = Child::start(
        aim.places.wrk, load::wrk_arguments(load, duration, aim.places.wrk_script, url_of(aim)),
        aim.places.raw / aim.file, aim.places.pinning.load);
    if (!child) {
        problem = child.error;
        return nullptr;
    }
    auto generator = std::make_unique<Wrk>(std::move(*child), load.connections);
    generator->patience = duration + limits::kLoadOverrun;
    return generator;
}

std::unique_ptr<Generator> start_burst(const Aim& aim, int requests, int connections,
                                       std::string& problem) {
    const auto log = aim.places.raw / (aim.file + ".log");
    const auto wanted = static_cast<std::uint64_t>(requests);
    return start_h2load(
        aim, load::burst_arguments(requests, connections, log, body_file(aim), url_of(aim)), log,
        [wanted](std::vector<load::Timed> timed) { return load::burst_report(timed, wanted); },
        limits::kLongestBurst, problem);
}

std::unique_ptr<Generator> start_open(const Aim& aim, const load::OpenLoop& loop,
                                      std::string& problem) {
    const auto log = aim.places.raw / (aim.file + ".log");
    const double duration_s = loop.requests / loop.offered_rps();
    return start_h2load(
        aim, load::open_arguments(loop, log, body_file(aim), url_of(aim)), log,
        [loop](std::vector<load::Timed> timed) {
            return load::open_report(std::move(timed), loop.offered_rps(),
                                     static_cast<std::uint64_t>(loop.requests));
        },
        std::chrono::milliseconds(static_cast<long>(duration_s * 1000)) + limits::kLoadOverrun,
        problem);
}

std::unique_ptr<Generator> start_single(const Aim& aim, std::chrono::milliseconds patience) {
    auto generator = std::make_unique<Single>(aim.address, aim.request, patience);
    generator->patience = patience + limits::kLoadOverrun;
    return generator;
}

}  // namespace bench
