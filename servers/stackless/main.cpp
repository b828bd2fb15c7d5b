#include "common/net/socket.hpp"
#include "common/options.hpp"
#include "stackless/server.hpp"

using namespace common;

int main(int argc, char** argv) {
    CommandLine line("server_stackless", "C++20 coroutines on Asio, one io_context per thread");
    SharedOptions options;
    unsigned threads = net::usable_cpus();
    line.add_number("--threads", threads, 1u, 1024u, "Threads, each with its own io_context");
    line.add_shared_options(options, 8082);
    if (const auto status = line.parse(argc, argv)) {
        return *status;
    }
    return line.guarded([&] {
        http::Context context{.model = "stackless",
                              .deadlines = options.deadlines,
                              .cpu_work_size = app::CpuWorkSize(options.cpu_iterations)};
        context.append_model_metrics = [threads](std::string& text) {
            metrics::append(text, "waitbench_loops", "gauge",
                            "Event loops, each on its own thread.", threads);
        };
        net::Control control(line.control_options(options), context);
        stackless::Server server(threads, options.downstream, context);
        return control.run(server);
    });
}
