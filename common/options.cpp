#include "common/options.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <CLI/CLI.hpp>

#include <array>
#include <cctype>
#include <charconv>
#include <iostream>
#include <system_error>

namespace common {
namespace {

using std::chrono::milliseconds;

struct Unit {
    std::string_view name;
    std::uint64_t factor;
};
constexpr std::array kDurationUnits = {Unit{"ms", 1}, Unit{"s", 1000}, Unit{"m", 60'000},
                                       Unit{"h", 3'600'000}};
constexpr std::array kSizeUnits = {Unit{"B", 1}, Unit{"KiB", 1024}, Unit{"MiB", 1024 * 1024},
                                   Unit{"GiB", 1024 * 1024 * 1024}};
constexpr std::uint64_t kLargest = std::uint64_t{1} << 40;

template <class Units>
std::optional<std::uint64_t> parse_with_unit(std::string_view text, const Units& units) {
    std::uint64_t number = 0;
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (status != std::errc() || end == text.data()) {
        return std::nullopt;
    }
    const std::string_view rest = text.substr(static_cast<std::size_t>(end - text.data()));
    for (const Unit& unit : units) {
        if (rest == unit.name && number <= kLargest / unit.factor) {
            return number * unit.factor;
        }
    }
    return std::nullopt;
}

/// With the largest unit that divides it, so that help shows 30s and not 30000ms.
template <class Units>
std::string format_with_unit(std::uint64_t number, const Units& units) {
    for (auto unit = units.rbegin(); unit != units.rend(); ++unit) {
        if (number >= unit->factor && number % unit->factor == 0) {
            return std::to_string(number / unit->factor) + std::string(unit->name);
        }
    }
    return std::to_string(number) + std::string(units.front().name);
}

boost::asio::ip::address parse_address(const std::string& text, boost::system::error_code& error) {
    return boost::asio::ip::make_address(text == "localhost" ? "127.0.0.1" : text, error);
}

std::string one_line(std::string text) {
    std::replace(text.begin(), text.end(), '\n', ' ');
    return text;
}

}  // namespace

std::optional<milliseconds> parse_duration(std::string_view text) {
    const auto number = parse_with_unit(text, kDurationUnits);
    return number ? std::optional(milliseconds(*number)) : std::nullopt;
}

std::optional<std::size_t> parse_size(std::string_view text) {
    return parse_with_unit(text, kSizeUnits);
}

std::optional<boost::asio::ip::tcp::endpoint> parse_endpoint(std::string_view text) {
    const auto colon = text.rfind(':');
    if (colon == std::string_view::npos) {
        return std::nullopt;
    }
    std::string host(text.substr(0, colon));
    const std::string_view digits = text.substr(colon + 1);
    if (host.starts_with('[') && host.ends_with(']')) {
        host = host.substr(1, host.size() - 2);
    }
    std::uint16_t port = 0;
    const auto [end, status] = std::from_chars(digits.data(), digits.data() + digits.size(), port);
    boost::system::error_code error;
    const auto address = parse_address(host, error);
    if (error || status != std::errc() || end != digits.data() + digits.size() || port == 0) {
        return std::nullopt;
    }
    return boost::asio::ip::tcp::endpoint(address, port);
}

CommandLine::CommandLine(std::string program, std::string description)
    : program_(std::move(program)),
      app_(std::make_unique<CLI::App>(std::move(description), program_)) {
    app_->set_help_flag();  // added last, by `parse`, so that the program's own flags come first
    app_->get_formatter()->column_width(36);
}

CommandLine::~CommandLine() = default;

void CommandLine::add_whole_number(const std::string& flag, std::uint64_t default_number,
                                   std::uint64_t low, std::uint64_t high,
                                   std::function<void(std::uint64_t)> take,
                                   const std::string& help) {
    const auto accept = [low, high,
                         take = std::move(take)](const std::string& text) -> std::string {
        std::uint64_t number = 0;
        const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
        if (status != std::errc() || end != text.data() + text.size() || number < low ||
            number > high) {
            return "must be a whole number from " + std::to_string(low) + " to " +
                   std::to_string(high);
        }
        take(number);
        return {};
    };
    add_text(flag, std::to_string(default_number), accept, help, "NUMBER");
}

void CommandLine::add_text(const std::string& flag, const std::string& default_text,
                           std::function<std::string(const std::string&)> accept,
                           const std::string& help, const std::string& type) {
    app_->add_option_function<std::string>(
            flag,
            [flag, accept = std::move(accept)](const std::string& text) {
                if (const std::string wrong = accept(text); !wrong.empty()) {
                    throw CLI::ValidationError(flag, wrong);
                }
            },
            help)
        ->default_str(default_text)
        ->type_name(type)
        ->group(group_);
}

void CommandLine::add_duration(const std::string& flag, milliseconds& value,
                               const std::string& help) {
    const auto accept = [&value](const std::string& text) -> std::string {
        const auto parsed = parse_duration(text);
        if (!parsed) {
            return "a duration needs a number and a unit (ms, s, m, h), such as 20ms or 30s";
        }
        value = *parsed;
        return {};
    };
    add_text(flag, format_with_unit(static_cast<std::uint64_t>(value.count()), kDurationUnits),
             accept, help, "DURATION");
}

void CommandLine::add_size(const std::string& flag, std::size_t& value, const std::string& help) {
    const auto accept = [&value](const std::string& text) -> std::string {
        const auto parsed = parse_size(text);
        if (!parsed) {
            return "a size needs a number and a unit (B, KiB, MiB, GiB), such as 64KiB";
        }
        value = *parsed;
        return {};
    };
    add_text(flag, format_with_unit(value, kSizeUnits), accept, help, "SIZE");
}

void CommandLine::add_choice(const std::string& flag, std::string& value,
                             const std::vector<std::string>& choices, const std::string& help) {
    app_->add_option(flag, value, help)
        ->check(CLI::IsMember(choices))
        ->capture_default_str()
        ->group(group_);
}

void CommandLine::add_switch(const std::string& flag, bool& value, const std::string& help) {
    app_->add_flag(flag, value, help)->group(group_);
}

void CommandLine::add_listening_options(SharedOptions& options, std::uint16_t default_port) {
    group_ = "Listening";
    options.port = default_port;
    const std::size_t descriptors = net::raise_descriptor_limit();
    options.max_connections = descriptors > limits::kReservedDescriptors + 2
                                  ? (descriptors - limits::kReservedDescriptors) / 2
                                  : 1;
    const auto accept_host = [&options](const std::string& text) -> std::string {
        boost::system::error_code error;
        parse_address(text, error);
        options.host = text == "localhost" ? "127.0.0.1" : text;
        return error ? "this is no IP address" : std::string();
    };
    add_text("--host", options.host, accept_host, "Address to listen on");
    add_number<std::uint16_t>("--port", options.port, 0, 65'535, "Port; 0 picks a free one");
    add_number<std::size_t>("--max-connections", options.max_connections, 1, 1'000'000,
                            "Further connections get 503");
    add_duration("--header-timeout", options.deadlines.header, "For a whole request header");
    add_duration("--body-timeout", options.deadlines.body, "For a whole request body");
    add_duration("--idle-timeout", options.deadlines.idle, "For a kept connection at rest");
    add_duration("--write-timeout", options.deadlines.write, "For a whole answer to leave");
    add_duration("--drain-timeout", options.drain_timeout, "For open requests after SIGTERM");
    log_level_ = options.log_level;
    add_choice("--log-level", log_level_, {"trace", "debug", "info", "warn", "error", "off"},
               "Least level that is logged to standard error");
}

void CommandLine::add_shared_options(SharedOptions& options, std::uint16_t default_port) {
    group_ = "All servers";
    options.downstream = {boost::asio::ip::address_v4::loopback(), 9000};
    const auto accept_downstream = [&options](const std::string& text) -> std::string {
        const auto endpoint = parse_endpoint(text);
        if (!endpoint) {
            return "this is no ADDRESS:PORT";
        }
        options.downstream = *endpoint;
        return {};
    };
    add_text("--downstream", "127.0.0.1:9000", accept_downstream, "What GET /wait calls");
    add_duration("--downstream-timeout", options.deadlines.downstream,
                 "For a whole downstream call, connect and retry included");
    add_number<std::uint64_t>("--cpu-iterations", options.cpu_iterations, 0, limits::kCpuIterations,
                              "Default of GET /cpu; 0 calibrates to 20 ms at first use");
    add_listening_options(options, default_port);
}

void CommandLine::add_connector_threads(unsigned& threads) {
    add_number("--connector-threads", threads, 1u, 64u, "Event loops that read and write");
}

std::optional<int> CommandLine::parse(int argc, char** argv) {
    app_->set_help_flag("-h,--help", "Print this and end")->group("Help");
    app_->set_version_flag("--version", program_ + " " WAITBENCH_VERSION " (" WAITBENCH_BUILD ")",
                           "Print version and build")
        ->group("Help");
    try {
        app_->parse(argc, argv);
    } catch (const CLI::ParseError& stop) {
        if (stop.get_exit_code() == 0) {
            return app_->exit(stop);
        }
        std::cerr << program_ << ": " << one_line(stop.what()) << " (see --help)\n";
        return 2;
    }
    spdlog::set_default_logger(spdlog::stderr_logger_mt(program_));
    spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %l: %v");
    spdlog::set_level(spdlog::level::from_str(log_level_));
    return std::nullopt;
}

int CommandLine::guarded(const std::function<int()>& body) const {
    try {
        return body();
    } catch (const std::system_error& error) {
        // What a thread that cannot be made throws says neither what nor why.
        const bool no_thread = error.code() == std::errc::resource_unavailable_try_again;
        std::cerr << program_ << ": " << (no_thread ? "cannot start all of its threads: " : "")
                  << one_line(error.what()) << "\n";
        return 1;
    } catch (const std::exception& error) {
        std::cerr << program_ << ": " << one_line(error.what()) << "\n";
        return 1;
    }
}

net::ControlOptions CommandLine::control_options(const SharedOptions& options) const {
    return {.program = program_,
            .endpoint = {boost::asio::ip::make_address(options.host), options.port},
            .max_connections = options.max_connections,
            .drain_timeout = options.drain_timeout};
}

}  // namespace common
