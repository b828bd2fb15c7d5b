#include "bench/target/server.hpp"

#include <sstream>

#include "bench/profile.hpp"

namespace bench::target {
namespace {

void replace(std::string& text, const std::string& name, const std::string& value) {
    for (auto at = text.find(name); at != std::string::npos;
         at = text.find(name, at + value.size())) {
        text.replace(at, name.size(), value);
    }
}

std::vector<std::string> words_of(const Row& row, int cpus) {
    std::vector<std::string> words;
    for (const auto& word : row.command) {
        words.push_back(substituted(row, word, cpus));
    }
    return words;
}

/// Of any language: told by placeholders where to listen and what to call.
Result<Server> start_foreign(const Places& places, std::vector<std::string> command,
                             const Address& downstream, const std::string& file) {
    const Address address{"127.0.0.1", unused_port()};
    for (auto& word : command) {
        replace(word, "{port}", std::to_string(address.port));
        replace(word, "{downstream}", downstream.text());
    }
    const bool has_path = command.front().find('/') != std::string::npos;
    const std::filesystem::path program =
        has_path ? std::filesystem::path(command.front()) : find_program(command.front());
    if (program.empty()) {
        return Result<Server>::failed("there is no program " + command.front());
    }
    auto child = Child::start(program, {command.begin() + 1, command.end()}, places.raw / file,
                              places.pinning.server);
    if (!child) {
        return Result<Server>::failed(child.error);
    }
    return Server{std::move(*child), address, false};
}

}  // namespace

bool is_ours(const Places& places, const std::vector<std::string>& command) {
    return command.front().find('/') == std::string::npos &&
           std::filesystem::exists(places.programs / command.front());
}

Result<Server> start_ours(const Places& places, const std::vector<std::string>& command,
                          const std::vector<std::string>& more, const std::string& file,
                          const Cpus& cpus) {
    std::vector<std::string> arguments(command.begin() + 1, command.end());
    arguments.insert(arguments.end(), {"--port", "0"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto child =
        Child::start(places.programs / command.front(), arguments, places.raw / file, cpus);
    if (!child) {
        return Result<Server>::failed(child.error);
    }
    const auto port = wait_for_port(*child);
    if (!port) {
        return Result<Server>::failed(command.front() + ": " + port.error);
    }
    return Server{std::move(*child), {"127.0.0.1", *port.value}, true};
}

Result<Server> start_stub(const Places& places, const Experiment& experiment,
                          const std::string& file) {
    return start_ours(places, experiment.stub, {}, file, places.pinning.stub);
}

Result<Server> start_row(const Places& places, const Row& row, const Address& downstream,
                         const std::vector<std::string>& more, const std::string& file) {
    if (!row.url.empty()) {
        const auto address = parse_url(row.url);
        if (!address) {
            return Result<Server>::failed(row.url + " is not http://ADDRESS:PORT");
        }
        return Server{std::nullopt, *address, false};
    }
    std::vector<std::string> command = words_of(row, places.cpus);
    if (!is_ours(places, command)) {
        return start_foreign(places, std::move(command), downstream, file);
    }
    std::vector<std::string> flags = more;
    if (downstream.port > 0) {
        flags.insert(flags.end(), {"--downstream", downstream.text()});
    }
    return start_ours(places, command, flags, file, places.pinning.server);
}

Result<Server> start_at_once(const Places& places, const Row& row, const std::string& file) {
    std::vector<std::string> command = words_of(row, places.cpus);
    const bool ours = is_ours(places, command);
    if (ours) {
        command.front() = places.programs / command.front();
        command.insert(command.end(), {"--port", "{port}"});
    }
    auto server = start_foreign(places, std::move(command), {}, file);
    if (server) {
        server->is_ours = ours;
    }
    return server;
}

std::optional<double> metric(const std::string& text, const std::string& name,
                             const std::string& labels) {
    std::optional<double> sum;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const auto end = line.find_first_of("{ ");
        if (line.starts_with('#') || line.substr(0, end) != name ||
            line.find(labels) == std::string::npos) {
            continue;
        }
        std::istringstream value(line.substr(line.rfind(' ') + 1));
        double number = 0;
        if (value >> number) {
            sum = sum.value_or(0) + number;
        }
    }
    return sum;
}

std::optional<std::uint64_t> counted_requests(const Address& address, const std::string& endpoint) {
    const auto answer = ask(address, {.path = "/metrics"});
    if (!answer || answer.value->status != 200) {
        return std::nullopt;
    }
    const auto& text = answer.value->body;
    const auto count = metric(text, "waitbench_requests_total", "endpoint=\"" + endpoint + "\"");
    const bool is_ours = text.find("waitbench_requests_total") != std::string::npos;
    return count || is_ours ? std::optional(static_cast<std::uint64_t>(count.value_or(0)))
                            : std::nullopt;
}

}  // namespace bench::target
