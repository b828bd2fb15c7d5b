#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/http/context.hpp"
#include "common/net/control.hpp"

namespace CLI {
class App;
}

namespace common {

/// `20ms`, `30s`, `2m`; a unit is required. Nothing when the text is no such duration.
std::optional<std::chrono::milliseconds> parse_duration(std::string_view text);
/// `64KiB`, `1MiB`, `512B`; a unit is required. Nothing when the text is no such size.
std::optional<std::size_t> parse_size(std::string_view text);
/// `127.0.0.1:9000`, `[::1]:9000`, `localhost:9000`.
std::optional<boost::asio::ip::tcp::endpoint> parse_endpoint(std::string_view text);

/// What every server takes from its command line.
struct SharedOptions {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;
    boost::asio::ip::tcp::endpoint downstream;
    http::Deadlines deadlines;
    std::chrono::milliseconds drain_timeout = limits::kDrainTimeout;
    std::size_t max_connections = 0;
    std::uint64_t cpu_iterations = 0;
    std::string log_level = "info";
};

/// One program's command line. The model's own flags are added first and so come first in --help;
/// `add_shared_options` then adds what all servers have in common, `add_listening_options` the part
/// that the stub has too.
class CommandLine {
  public:
    CommandLine(std::string program, std::string description);
    ~CommandLine();

    /// A number within bounds.
    template <class Number>
    void add_number(const std::string& flag, Number& value, Number low, Number high,
                    const std::string& help) {
        add_whole_number(
            flag, value, low, high,
            [&value](std::uint64_t number) { value = static_cast<Number>(number); }, help);
    }
    void add_duration(const std::string& flag, std::chrono::milliseconds& value,
                      const std::string& help);
    void add_size(const std::string& flag, std::size_t& value, const std::string& help);
    void add_choice(const std::string& flag, std::string& value,
                    const std::vector<std::string>& choices, const std::string& help);
    void add_switch(const std::string& flag, bool& value, const std::string& help);
    /// Any text that `accept` takes; it returns what is wrong with it, or nothing.
    void add_text(const std::string& flag, const std::string& default_text,
                  std::function<std::string(const std::string&)> accept, const std::string& help,
                  const std::string& type = "TEXT");

    void add_listening_options(SharedOptions& options, std::uint16_t default_port);
    void add_shared_options(SharedOptions& options, std::uint16_t default_port);
    void add_connector_threads(unsigned& threads);

    /// Reads the command line and sets up logging to standard error. Returns the exit status when
    /// the program has nothing more to do: 0 after --help or --version, 2 after one sentence about
    /// a wrong flag.
    std::optional<int> parse(int argc, char** argv);

    /// Runs `body` and turns what it throws into one sentence and exit status 1.
    int guarded(const std::function<int()>& body) const;

    net::ControlOptions control_options(const SharedOptions& options) const;

  private:
    void add_whole_number(const std::string& flag, std::uint64_t default_number, std::uint64_t low,
                          std::uint64_t high, std::function<void(std::uint64_t)> take,
                          const std::string& help);

    std::string program_;
    std::string group_ = "This program";
    std::string log_level_ = "info";
    std::unique_ptr<CLI::App> app_;
};

}  // namespace common
