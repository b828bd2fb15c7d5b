#include "bench/runner.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <limits>
#include <memory>
#include <thread>

#include "bench/generator.hpp"
#include "bench/interrupt.hpp"
#include "bench/limits.hpp"
#include "bench/profile.hpp"
#include "bench/sample/cgroup.hpp"
#include "bench/sample/connections.hpp"
#include "bench/sample/process.hpp"
#include "bench/statistics/statistics.hpp"

namespace bench {
namespace {

using Clock = std::chrono::steady_clock;
using target::Address;
using target::Answer;
using target::Server;
using ReceivedBytes = std::optional<std::map<std::uint16_t, std::uint64_t>>;

const Request kHealth{.path = "/health"};

/// What every program that is started here inherits.
std::uint64_t descriptor_limit() {
    rlimit limit{};
    ::getrlimit(RLIMIT_NOFILE, &limit);
    return limit.rlim_cur;
}

double seconds(Clock::duration duration) {
    return std::chrono::duration<double>(duration).count();
}

/// Empty when the answer is 200 with the expected body; otherwise what came instead.
std::string check(const Address& address, const Request& request,
                  const std::optional<std::string>& body) {
    const auto answer = target::ask(address, request);
    if (!answer) {
        return answer.error;
    }
    const std::string what = request.method + " " + request.path + ": ";
    if (answer.value->status != 200) {
        return what + "status " + std::to_string(answer.value->status);
    }
    return !body || answer.value->body == *body ? "" : what + "an unexpected body";
}

std::string wait_for_answer(const Address& address, const Request& request,
                            const std::optional<std::string>& body) {
    const auto until = Clock::now() + limits::kStart;
    std::string problem = check(address, request, body);
    while (!problem.empty() && Clock::now() < until && !interrupted()) {
        std::this_thread::sleep_for(limits::kLook);
        problem = check(address, request, body);
    }
    return problem;
}

/// What the machine's counters said at one instant.
struct MachineReading {
    std::optional<sample::TcpCounters> tcp = sample::tcp_counters();
    std::optional<sample::CpuTimes> cpu = sample::cpu_times();
    std::optional<std::uint64_t> throttled = sample::throttled_periods(sample::own_cgroup("cpu"));
    Clock::time_point at = Clock::now();
};

void take_machine(const MachineReading& before, const MachineReading& after, bool server_is_known,
                  double own_cpu_s, validity::Facts& facts) {
    if (before.tcp && after.tcp) {
        facts.tcp = *after.tcp - *before.tcp;
    }
    if (before.throttled && after.throttled) {
        facts.throttled_periods = *after.throttled - *before.throttled;
    }
    if (before.cpu && after.cpu) {
        facts.steal_s = after.cpu->steal_s - before.cpu->steal_s;
        const double busy_s = after.cpu->busy_s - before.cpu->busy_s;
        if (!server_is_known) {
            return;  // its own work would count as somebody else's
        }
        facts.other_cpus = std::max(0.0, busy_s - own_cpu_s) / seconds(after.at - before.at);
    }
}

/// Looks at the server at every interval of the load.
class Sampler {
  public:
    Sampler(const Server& server, const Row& row, std::chrono::milliseconds duration, Run& run)
        : server_(server), row_(row), duration_(duration), run_(run) {}

    void look(Clock::duration elapsed) {
        if (server_.pid() != 0) {
            const sample::Status status = sample::status(server_.pid());
            threads_.push_back(status.threads);
            rss_bytes_.push_back(static_cast<double>(status.rss_bytes));
            run_.peak_rss_bytes =
                std::max(run_.peak_rss_bytes, static_cast<double>(status.peak_rss_bytes));
            keep({seconds(elapsed), status.threads, status.rss_bytes, {}, {}});
        }
        if (row_.load.kind != LoadKind::closed) {
            return;
        }
        if (!half_time_ && elapsed > duration_ / 2) {
            half_time_ = sample::received_bytes(server_.address.port);
        } else if (!end_ && elapsed > duration_ - limits::kBeforeEnd) {
            end_ = sample::received_bytes(server_.address.port);
        }
    }

    void finish() {
        run_.threads = static_cast<int>(threads_.empty() ? 0 : std::ranges::max(threads_));
        run_.median_threads = statistics::median(threads_);
        run_.median_rss_bytes = statistics::median(rss_bytes_);
        if (!half_time_ || !end_ || end_->empty()) {
            return;
        }
        int starved = 0;
        for (const auto& [port, bytes] : *end_) {
            const auto before = half_time_->find(port);
            starved += bytes == (before == half_time_->end() ? 0 : before->second);
        }
        run_.facts.counted_connections = static_cast<int>(end_->size());
        run_.facts.starved_connections = starved;
    }

  private:
    /// A sample for the report; of a watched row with what its /metrics say.
    void keep(Sample sample) {
        const double interval_s = row_.watch ? limits::kWatchIntervalS : limits::kKeptIntervalS;
        if (sample.t_s < next_kept_s_) {
            return;
        }
        next_kept_s_ += interval_s;
        if (row_.watch) {
            const auto metrics = target::ask(server_.address, {.path = "/metrics"});
            if (metrics) {
                const auto& text = metrics.value->body;
                const auto whole = [](std::optional<double> value) {
                    return static_cast<std::uint64_t>(value.value_or(0));
                };
                sample.completed =
                    whole(target::metric(text, "waitbench_requests_total", "endpoint=\"wait\""));
                sample.blocked = whole(target::metric(text, "waitbench_pool_blocked", ""));
                if (const auto threads = target::metric(text, "waitbench_pool_threads", "")) {
                    sample.threads = static_cast<int>(*threads);
                }
                if (!run_.take_off_s && *sample.completed > 0) {
                    run_.take_off_s = sample.t_s;
                }
            }
        }
        run_.samples.push_back(sample);
    }

    const Server& server_;
    const Row& row_;
    const std::chrono::milliseconds duration_;
    Run& run_;
    std::vector<double> threads_, rss_bytes_;
    ReceivedBytes half_time_, end_;
    double next_kept_s_ = 0;
};

/// One run, step by step.
class RowRun {
  public:
    RowRun(const Experiment& experiment, const Row& row, const Circumstances& circumstances,
           Session& session)
        : experiment_(experiment), row_(row), circumstances_(circumstances), session_(session) {
        run_.row = row.id;
        run_.round = circumstances.round;
        run_.files = experiment.id + "-" + std::to_string(circumstances.round) + "-" + row.id;
        request_ = row.request;
        request_.path = substituted(row, request_.path, session.places.cpus);
        request_.body = substituted(row, request_.body, session.places.cpus);
        state_intentions();
    }

    Run go() {
        if (row_.load.kind == LoadKind::startup) {
            measure_start();
        } else if (start()) {
            if (verify() && warm_up() && !interrupted()) {
                measure();
                verify_again();
            }
            stop();
        }
        if (run_.measured) {
            run_.gates = validity::judge(run_.facts);
        }
        return std::move(run_);
    }

  private:
    /// True when there is none.
    bool note(const std::string& problem) {
        if (!problem.empty()) {
            run_.problems.push_back(problem);
        }
        return problem.empty();
    }

    void state_intentions() {
        validity::Facts& facts = run_.facts;
        const Load& load = row_.load;
        facts.loop = load.kind == LoadKind::closed ? validity::Loop::closed
                     : load.kind == LoadKind::open ? validity::Loop::open
                                                   : validity::Loop::burst;
        facts.connections = load.connections;
        facts.generator_threads = load.threads;
        facts.wait_s = row_.wait_s;
        facts.calls_stub = !experiment_.stub.empty();
        facts.stub_delay_s = facts.calls_stub ? experiment_.wait_s : 0;
        facts.cold = row_.cold;
        facts.microsecond_scale = row_.wait_s == 0 && row_.predict.rule != Rule::cpu;
        if (facts.calls_stub && circumstances_.stub_median_s > 0) {
            facts.stub_median_s = circumstances_.stub_median_s;
        }
        facts.cpus = sample::cpu_allowance();
        if (load.kind != LoadKind::open) {  // which opens its connections one after the other
            facts.listen_backlog = sample::listen_backlog_limit();
        }
        if (load.kind == LoadKind::closed) {
            facts.wrk_timeout_s = seconds(load.duration + limits::kLoadTimeoutMargin);
        }
    }

    bool start() {
        if (!experiment_.stub.empty()) {
            auto stub = target::start_stub(session_.places, experiment_, run_.files + "-stub");
            if (!note(stub.error)) {
                return false;
            }
            stub_ = std::move(*stub);
            const auto answer = target::ask(stub_->address, {.path = "/"});
            if (!note(answer.error)) {
                return false;
            }
            body_ = answer.value->body;
            stub_requests_before_ = target::counted_requests(stub_->address, "downstream");
        }
        std::vector<std::string> flags;
        if (session_.cpu_iterations > 0 && !row_.ceiling) {
            flags = {"--cpu-iterations", std::to_string(session_.cpu_iterations)};
            run_.cpu_iterations = session_.cpu_iterations;
        }
        auto server = target::start_row(session_.places, row_, stub_ ? stub_->address : Address{},
                                        flags, run_.files + "-server");
        if (!note(server.error)) {
            return false;
        }
        server_ = std::move(*server);
        run_.facts.build_type = build_type();
        return true;
    }

    /// None for programs that are not ours, or do not say.
    std::optional<std::string> build_type() {
        if (!server_->is_ours || row_.ceiling) {
            return std::nullopt;
        }
        const std::string& program = row_.command.front();
        const auto known = session_.build_types.find(program);
        if (known != session_.build_types.end()) {
            return known->second;
        }
        auto child = target::Child::start(session_.places.programs / program, {"--version"},
                                          session_.places.raw / (program + "-version"));
        const auto until = Clock::now() + limits::kRequest;
        while (child && !child->has_ended() && Clock::now() < until) {
            std::this_thread::sleep_for(limits::kLook);
        }
        const auto type = child ? sample::parse_build_type(child->output()) : std::nullopt;
        session_.build_types[program] = type;
        return type;
    }

    /// A cold server is asked for /health only: the first request to its pool starts the clock.
    bool verify() {
        probe_ = row_.cold ? kHealth : request_;
        if (row_.load.kind == LoadKind::single) {
            probe_ = kHealth;
        }
        if (probe_.path == kHealth.path && request_.path != kHealth.path) {
            body_.reset();
        }
        if (!note(wait_for_answer(server_->address, probe_, body_))) {
            return false;
        }
        const auto answer = target::ask(server_->address, probe_);
        if (answer && probe_.path == request_.path) {
            body_ = answer.value->body;  // without a stub the first answer is what is expected
            run_.facts.bytes_per_answer = static_cast<double>(answer.value->bytes);
        }
        if (server_->child) {
            run_.facts.sanitizer = sample::sanitizer(server_->pid());
            rlimit_facts();
        }
        return true;
    }

    void rlimit_facts() {
        run_.facts.descriptor_limit = descriptor_limit();
        run_.facts.descriptors_needed =
            2 * static_cast<std::uint64_t>(row_.load.connections) + limits::kOtherDescriptors;
        if (const auto ports = sample::ephemeral_ports()) {
            run_.facts.ports_available = ports->available();
        }
    }

    Aim aim(const std::string& what) const {
        return {session_.places, server_->address, request_, run_.files + "-" + what};
    }

    bool warm_up() {
        const Load& load = row_.load;
        std::string problem;
        std::unique_ptr<Generator> generator;
        if (row_.cold) {
            return true;
        }
        if (load.kind == LoadKind::burst && load.warm_up_requests > 0) {
            generator = start_burst(aim("warm-up"), load.warm_up_requests,
                                    std::min(load.connections, load.warm_up_requests), problem);
        } else if (load.warm_up.count() > 0) {
            generator = start_wrk(aim("warm-up"), load, load.warm_up, problem);
        }
        if (generator != nullptr) {
            wait_for(*generator, [](Clock::duration) {});
            Run discarded;
            generator->report(discarded);
            settle();
        }
        return note(problem);
    }

    /// Lets a server of ours finish what a load that has gone left behind in its queues.
    void settle() {
        if (!server_->is_ours || row_.ceiling || row_.cold) {
            return;
        }
        const auto until = Clock::now() + limits::kSettleAtMost;
        for (int quiet = 0;
             quiet < limits::kQuietLooks && Clock::now() < until && !interrupted();) {
            std::this_thread::sleep_for(limits::kQuietLook);
            const auto metrics = target::ask(server_->address, {.path = "/metrics"});
            const bool is_quiet =
                metrics && target::metric(metrics.value->body, "waitbench_in_flight", "") == 0.0;
            quiet = is_quiet ? quiet + 1 : 0;
        }
    }

    /// Returns when the generator has ended, or its time is over, or Ctrl-C was pressed.
    template <class EachInterval>
    void wait_for(const Generator& generator, EachInterval each_interval) {
        const auto start = Clock::now();
        auto next = start;
        while (!generator.has_ended() && !interrupted() &&
               Clock::now() - start < generator.patience) {
            if (Clock::now() >= next) {
                next += limits::kSampleInterval;
                each_interval(Clock::now() - start);
            }
            std::this_thread::sleep_for(limits::kLook);
        }
    }

    std::unique_ptr<Generator> start_generator() {
        const Load& load = row_.load;
        std::string problem;
        std::unique_ptr<Generator> generator;
        switch (load.kind) {
            case LoadKind::closed:
                generator = start_wrk(aim("wrk"), load, load.duration, problem);
                break;
            case LoadKind::burst:
                generator = start_burst(aim("h2load"), load.requests, load.connections, problem);
                break;
            case LoadKind::open:
                run_.offered_rps = circumstances_.offered.offered_rps();
                generator = start_open(aim("h2load"), circumstances_.offered, problem);
                break;
            case LoadKind::single:
            case LoadKind::startup:
                generator = start_single(aim("single"),
                                         2 * time_of_run(experiment_, row_, session_.places.cpus) +
                                             limits::kLoadOverrun);
                break;
        }
        note(problem);
        return generator;
    }

    void measure() {
        const double canary_before_s = sample::spin_canary_s(limits::kCanaries);
        const pid_t pid = server_->pid();
        std::uint64_t switches = 0;
        if (pid != 0) {
            sample::reset_peak(pid);
            switches = sample::context_switches(pid);
        }
        const double server_cpu_s = pid != 0 ? sample::cpu_s(pid) : 0;
        const double stub_cpu_s = stub_ ? sample::cpu_s(stub_->pid()) : 0;
        const MachineReading before;
        generator_ = start_generator();
        if (generator_ == nullptr) {
            return;
        }
        Generator* const generator = generator_.get();
        Sampler sampler(*server_, row_, row_.load.duration, run_);
        wait_for(*generator, [&](Clock::duration elapsed) { sampler.look(elapsed); });
        const MachineReading after;
        run_.load_cpu_s = generator->cpu_s().value_or(0);
        run_.server_cpu_s = pid != 0 ? sample::cpu_s(pid) - server_cpu_s : 0;
        run_.stub_cpu_s = stub_ ? sample::cpu_s(stub_->pid()) - stub_cpu_s : 0;
        if (pid != 0) {
            // Threads that have ended took theirs with them.
            const std::uint64_t now = sample::context_switches(pid);
            run_.context_switches = now - std::min(now, switches);
        }
        sampler.finish();
        generator->report(run_);
        run_.facts.generator_cpu_s =
            generator->cpu_s() ? std::optional(run_.load_cpu_s) : std::nullopt;
        take_machine(before, after, pid != 0, run_.load_cpu_s + run_.server_cpu_s + run_.stub_cpu_s,
                     run_.facts);
        const double canary_after_s = sample::spin_canary_s(limits::kCanaries);
        session_.canary_s = std::min({session_.canary_s, canary_before_s, canary_after_s});
        run_.canary_s = std::max(canary_before_s, canary_after_s);
        run_.facts.canary_slowdown = run_.canary_s / session_.canary_s;
    }

    void verify_again() {
        if (interrupted()) {
            return;
        }
        settle();
        const std::string wrong = check(server_->address, probe_, body_);
        run_.facts.wrong_answer = wrong.empty() ? "" : "after the load " + wrong;
        std::this_thread::sleep_for(limits::kSettle);
        if (stub_ && server_->is_ours && !row_.ceiling) {
            run_.facts.server_requests = target::counted_requests(server_->address, "wait");
            const auto stub = target::counted_requests(stub_->address, "downstream");
            if (stub && stub_requests_before_) {
                run_.facts.stub_requests = *stub - *stub_requests_before_;
            }
        }
        if (server_->pid() != 0) {
            run_.pss_bytes = sample::pss_bytes(server_->pid());
        }
    }

    void stop() {
        if (!server_->child) {
            return;
        }
        const bool died = server_->child->has_ended();
        const int status = server_->child->stop();
        if (server_->is_ours) {
            run_.facts.exit_status = status;  // others may end as they like when they are told to
        }
        if (died && !interrupted()) {
            note("the server ended by itself with status " + std::to_string(status));
        }
    }

    /// From starting the program to its first answer.
    void measure_start() {
        const auto begin = Clock::now();
        auto server = target::start_at_once(session_.places, row_, run_.files + "-server");
        if (!note(server.error)) {
            return;
        }
        server_ = std::move(*server);
        std::string problem = "it never answered";
        while (!problem.empty() && Clock::now() - begin < limits::kStart && !interrupted()) {
            std::this_thread::sleep_for(limits::kStartLook);
            problem = check(server_->address, request_, std::nullopt);
        }
        const double first_s = seconds(Clock::now() - begin);
        if (note(problem)) {
            run_.measured = true;
            run_.first_response_s = first_s;
            run_.facts.duration_s = first_s;
            run_.facts.requests = 1;
            run_.facts.microsecond_scale = true;
            run_.facts.sanitizer = sample::sanitizer(server_->pid());
            const sample::Status status = sample::status(server_->pid());
            run_.threads = status.threads;
            run_.peak_rss_bytes = static_cast<double>(status.peak_rss_bytes);
            run_.server_cpu_s = sample::cpu_s(server_->pid());
        }
        stop();
    }

    const Experiment& experiment_;
    const Row& row_;
    const Circumstances& circumstances_;
    Session& session_;
    Run run_;
    Request request_, probe_;
    std::optional<std::string> body_;
    /// Before the server, so that it goes after it: a request that is out ends with the server.
    std::unique_ptr<Generator> generator_;
    std::optional<Server> stub_, server_;
    std::optional<std::uint64_t> stub_requests_before_;
};

/// What stands for the machine where the experiment names no raw epoll program.
Row raw_row(const Experiment& experiment) {
    Row row;
    row.id = "raw";
    row.command = {experiment.stub.empty() ? "raw_epoll_echo" : "raw_epoll_relay"};
    row.request.path = "/";
    row.load.connections = experiment.load.connections;
    row.ceiling = true;
    return row;
}

}  // namespace

Result<double> measure_stub(const Experiment& experiment, const Session& session) {
    auto stub = target::start_stub(session.places, experiment, experiment.id + "-stub");
    if (!stub) {
        return Result<double>::failed(stub.error);
    }
    double lowest_s = std::numeric_limits<double>::infinity();
    for (int n = 0; n < limits::kStubTries; ++n) {
        const auto times = target::time_gets(stub->address, "/", limits::kStubRequests);
        if (!times) {
            return Result<double>::failed(experiment.stub.front() + ": " + times.error);
        }
        lowest_s = std::min(lowest_s, statistics::median(*times.value));
    }
    return lowest_s;
}

Result<std::uint64_t> calibrate_cpu_work(const Session& session) {
    auto server = target::start_ours(session.places, {"server_thread_pool"}, {}, "calibration",
                                     session.places.pinning.server);
    if (!server) {
        return Result<std::uint64_t>::failed(server.error);
    }
    // The other CPUs are kept busy, as they are during the measurement.
    std::vector<std::jthread> busy;
    for (int n = 1; n < session.places.cpus; ++n) {
        busy.emplace_back([](const std::stop_token& stop) {
            while (!stop.stop_requested()) {
                sample::spin_canary_s();
            }
        });
    }
    const auto answer = target::ask(server->address, {.path = "/cpu"}, limits::kStart);
    const auto json =
        answer ? nlohmann::json::parse(answer.value->body, nullptr, false) : nlohmann::json();
    if (!json.contains("iterations")) {
        return Result<std::uint64_t>::failed("GET /cpu could not be calibrated: " + answer.error);
    }
    return json["iterations"].get<std::uint64_t>();
}

Result<double> measure_ceiling(const Experiment& experiment, Session& session) {
    std::vector<Row> rows = experiment.rows;
    std::erase_if(rows,
                  [](const Row& row) { return !row.ceiling || row.load.kind != LoadKind::closed; });
    if (rows.empty() && experiment.wait_s > 0) {
        rows.push_back(raw_row(experiment));
    }
    double best = 0;
    for (Row& row : rows) {
        row.load.duration = limits::kCeilingRun;
        row.load.warm_up = std::chrono::milliseconds(0);
        const Run run = run_row(experiment, row, {.round = 0}, session);
        if (!run.measured) {
            return Result<double>::failed(run.problems.empty() ? "interrupted"
                                                               : run.problems.front());
        }
        best = std::max(best, run.rate());
    }
    return best;
}

Run run_row(const Experiment& experiment, const Row& row, const Circumstances& circumstances,
            Session& session) {
    return RowRun(experiment, row, circumstances, session).go();
}

}  // namespace bench
