#include <iostream>

#include "common/http/connector.hpp"
#include "common/net/socket.hpp"
#include "common/options.hpp"
#include "stackful/front_ends.hpp"
#include "stackful/runtime/runtime.hpp"
#include "stackful/service.hpp"

using namespace common;
namespace runtime = stackful::runtime;

namespace {

/// What the model's own flags say.
struct ModelOptions {
    runtime::Options runtime{.carriers = net::usable_cpus()};
    std::string front_end = "fiber";
    std::string guard = "auto";
    std::string hand_off = "on";
    unsigned connector_threads = 1;

    void add_to(CommandLine& line) {
        line.add_number<std::size_t>("--carriers", runtime.carriers, 1, limits::kMaxCarriers,
                                     "Schedulers, and threads that run fibers to begin with");
        line.add_number<std::size_t>("--max-carriers", runtime.max_carriers, 1,
                                     limits::kHighestMaxCarriers,
                                     "Threads at most, those that pinned fibers block included");
        line.add_choice("--front-end", front_end, {"fiber", "connector"},
                        "A fiber per connection, or one per request behind the connector");
        line.add_connector_threads(connector_threads);
        line.add_size("--stack-size", runtime.stack_bytes, "Stack of one fiber");
        line.add_choice("--guard", guard, {"auto", "madvise", "mprotect"},
                        "How the guard below each stack is made");
        line.add_switch("--trace-pinned", runtime.trace_pinned,
                        "Log each place where a pinned fiber blocks, once, with its stack");
        line.add_choice("--hand-off", hand_off, {"on", "off"},
                        "Whether a carrier that blocks gives its scheduler to another");
    }

    /// Completes `runtime`; returns what is wrong, or nothing.
    std::string finish() {
        runtime.hand_off = hand_off == "on";
        runtime.guard = guard == "madvise"    ? runtime::Guard::madvise
                        : guard == "mprotect" ? runtime::Guard::mprotect
                                              : runtime::Guard::automatic;
        if (runtime.max_carriers < runtime.carriers) {
            return "--max-carriers must not be less than --carriers";
        }
        if (runtime.trace_pinned && runtime.stack_bytes < limits::kLeastTracedStackBytes) {
            return "--trace-pinned needs a --stack-size of 32KiB or more";
        }
        if (runtime.stack_bytes < limits::kLeastStackBytes ||
            runtime.stack_bytes > limits::kMostStackBytes) {
            return "--stack-size must lie between 16KiB and 8MiB";
        }
        if (runtime.guard == runtime::Guard::madvise &&
            !runtime::StackPool::kernel_has_light_guards()) {
            return "--guard madvise needs Linux 6.13 or newer";
        }
        return {};
    }
};

void append_metrics(std::string& text, runtime::Runtime& fibers) {
    const auto gauge = [&text](std::string_view name, std::string_view help, std::size_t value) {
        metrics::append(text, name, "gauge", help, static_cast<double>(value));
    };
    const runtime::Counters counters = fibers.counters();
    gauge("waitbench_carriers", "Threads that run fibers.", counters.carriers);
    gauge("waitbench_spares", "Carriers without a scheduler that wait for one.", counters.spares);
    gauge("waitbench_orphans", "Schedulers without a carrier.", counters.orphans);
    gauge("waitbench_fibers", "Fibers that have not ended.", counters.fibers);
    gauge("waitbench_parked", "Fibers that wait without a carrier.", counters.parked);
    gauge("waitbench_pinned", "Pinned fibers that block their carrier.", counters.pinned);
    metrics::append(text, "waitbench_pinned_total", "counter",
                    "Waits that blocked a carrier because the fiber was pinned.",
                    static_cast<double>(counters.pinned_total));
}

int serve(const CommandLine& line, const SharedOptions& options, ModelOptions& model) {
    http::Context context{.model = "stackful",
                          .deadlines = options.deadlines,
                          .cpu_work_size = app::CpuWorkSize(options.cpu_iterations)};
    model.runtime.sweep_interval = context.deadlines.sweep_interval();
    net::Control control(line.control_options(options), context);
    runtime::Runtime fibers(model.runtime);
    context.append_model_metrics = [&fibers](std::string& text) { append_metrics(text, fibers); };
    stackful::Service service(fibers, options.downstream, options.deadlines.downstream, context);
    fibers.start();
    int status = 0;
    if (model.front_end == "connector") {
        stackful::FiberPerRequest executor(service);
        http::Connector connector(context, executor, model.connector_threads);
        status = control.run(connector);
        fibers.stop();
    } else {
        stackful::FiberPerConnection front_end(service);
        status = control.run(front_end);
        fibers.stop();
    }
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    CommandLine line("server_stackful", "Blocking handlers on fibers that park");
    SharedOptions options;
    ModelOptions model;
    model.add_to(line);
    line.add_shared_options(options, 8081);
    if (const auto status = line.parse(argc, argv)) {
        return *status;
    }
    if (const std::string wrong = model.finish(); !wrong.empty()) {
        std::cerr << "server_stackful: " << wrong << " (see --help)\n";
        return 2;
    }
    return line.guarded([&] { return serve(line, options, model); });
}
