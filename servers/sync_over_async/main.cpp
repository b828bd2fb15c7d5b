#include <algorithm>
#include <charconv>
#include <iostream>
#include <optional>

#include "common/net/socket.hpp"
#include "common/options.hpp"
#include "sync_over_async/server.hpp"

using namespace common;
using sync_over_async::Injection;

namespace {

// What .NET defaults to; the count of a 16-bit field there.
constexpr unsigned kMostThreads = 32'767;

/// dotnet, none or fixed:DURATION; returns what is wrong with the text.
std::string accept_injection(const std::string& text,
                             sync_over_async::InjectionSettings& settings) {
    constexpr std::string_view kFixed = "fixed:";
    if (text.starts_with(kFixed)) {
        const auto delay = parse_duration(std::string_view(text).substr(kFixed.size()));
        settings.kind = Injection::fixed;
        settings.fixed_delay = delay.value_or(app::Milliseconds(0));
        return delay ? "" : "fixed needs a duration, such as fixed:500ms";
    }
    settings.kind = text == "none" ? Injection::none : Injection::dotnet;
    return text == "none" || text == "dotnet" ? "" : "must be dotnet, none or fixed:DURATION";
}

std::string accept_threads(const std::string& text, std::optional<unsigned>& threads) {
    unsigned number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end != text.data() + text.size() || number < 1 ||
        number > kMostThreads) {
        return "must be a whole number from 1 to " + std::to_string(kMostThreads);
    }
    threads = number;
    return {};
}

}  // namespace

int main(int argc, char** argv) {
    CommandLine line("server_sync_over_async",
                     "Asynchronous calls, blocked on by the pool that must complete them");
    SharedOptions options;
    sync_over_async::ServerOptions server_options;
    auto& injection = server_options.injection;
    injection.cpus = net::usable_cpus();
    std::optional<unsigned> min_threads;
    std::string completions = "fifo";
    line.add_text(
        "--injection", "dotnet",
        [&](const std::string& text) { return accept_injection(text, injection); },
        "How the pool grows while its threads block: dotnet, none, fixed:DURATION");
    line.add_choice("--completions", completions, {"fifo", "priority"},
                    "Where completions queue: behind the waiting requests, or ahead");
    line.add_number("--assume-cpus", injection.cpus, 1u, 1024u,
                    "CPUs that the growth reckons with");
    line.add_text(
        "--min-threads", "CPUs",
        [&](const std::string& text) { return accept_threads(text, min_threads); },
        "Threads that start without delay", "NUMBER");
    line.add_number("--max-threads", injection.max_threads, 1u, kMostThreads, "Never more threads");
    line.add_connector_threads(server_options.connector_threads);
    line.add_shared_options(options, 8083);
    if (const auto status = line.parse(argc, argv)) {
        return *status;
    }
    injection.min_threads = min_threads.value_or(std::min(injection.cpus, injection.max_threads));
    if (injection.min_threads > injection.max_threads) {
        std::cerr << "server_sync_over_async: --min-threads must not be more than --max-threads "
                     "(see --help)\n";
        return 2;
    }
    server_options.completions = completions == "priority"
                                     ? sync_over_async::GrowingPool::Lane::priority
                                     : sync_over_async::GrowingPool::Lane::ordinary;
    server_options.downstream = options.downstream;
    return line.guarded([&] {
        http::Context context{.model = "sync_over_async",
                              .deadlines = options.deadlines,
                              .cpu_work_size = app::CpuWorkSize(options.cpu_iterations)};
        net::Control control(line.control_options(options), context);
        sync_over_async::Server server(server_options, context);
        context.append_model_metrics = [&server](std::string& text) {
            server.append_metrics(text);
        };
        return control.run(server);
    });
}
