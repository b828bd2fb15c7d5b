#include "blocking/downstream.hpp"
#include "common/http/connector.hpp"
#include "common/options.hpp"
#include "thread_pool/worker_pool.hpp"

using namespace common;

int main(int argc, char** argv) {
    CommandLine line("server_thread_pool", "Blocking handlers on a fixed pool of OS threads");
    SharedOptions options;
    unsigned threads = 200;
    unsigned connector_threads = 1;
    line.add_number("--threads", threads, 1u, 32'767u, "Worker threads");
    line.add_connector_threads(connector_threads);
    line.add_shared_options(options, 8080);
    if (const auto status = line.parse(argc, argv)) {
        return *status;
    }
    return line.guarded([&] {
        http::Context context{.model = "thread_pool",
                              .deadlines = options.deadlines,
                              .cpu_work_size = app::CpuWorkSize(options.cpu_iterations)};
        net::Control control(line.control_options(options), context);
        blocking::Downstream downstream(options.downstream, options.deadlines.downstream);
        thread_pool::WorkerPool pool(threads, downstream, context);
        context.append_model_metrics = [&pool](std::string& text) {
            metrics::append(text, "waitbench_pool_queue_length", "gauge",
                            "Jobs that no worker has taken yet.",
                            static_cast<double>(pool.queued()));
        };
        http::Connector connector(context, pool, connector_threads);
        return control.run(connector);
    });
}
