#include "common/app/routing.hpp"

#include <algorithm>
#include <array>
#include <boost/url/parse.hpp>
#include <boost/url/url_view.hpp>
#include <cctype>
#include <charconv>
#include <initializer_list>

#include "common/app/echo_json.hpp"
#include "common/limits.hpp"

namespace common::app {
namespace {

/// The value of a parameter, or nothing, or the answer that refuses it.
template <class Value>
using Parsed = std::variant<std::optional<Value>, Answer>;

Answer bad_parameter(std::string_view name, std::string_view what) {
    return error(400, "parameter " + std::string(name) + " " + std::string(what));
}

/// The decoded value of the one parameter `name`.
Parsed<std::string> text_parameter(const boost::urls::url_view& url, std::string_view name) {
    std::optional<std::string> value;
    for (const auto& parameter : url.params()) {
        if (parameter.key != name) {
            continue;
        }
        if (value) {
            return bad_parameter(name, "is repeated");
        }
        if (parameter.value.empty()) {
            return bad_parameter(name, "is empty");
        }
        value = parameter.value;
    }
    return value;
}

struct Bounds {
    std::uint64_t low;
    std::uint64_t high;
};
constexpr Bounds kDuration{0, limits::kMilliseconds};

Parsed<std::uint64_t> number_parameter(const boost::urls::url_view& url, std::string_view name,
                                       Bounds bounds) {
    auto text = text_parameter(url, name);
    if (auto* refused = std::get_if<Answer>(&text)) {
        return std::move(*refused);
    }
    const auto& digits = std::get<0>(text);
    if (!digits) {
        return std::nullopt;
    }
    if (digits->find_first_not_of("0123456789") != std::string::npos) {
        return bad_parameter(name, "must be plain decimal digits");
    }
    std::uint64_t value = 0;
    const auto [end, status] =
        std::from_chars(digits->data(), digits->data() + digits->size(), value);
    if (status != std::errc() || value < bounds.low || value > bounds.high) {
        return bad_parameter(name, "must be from " + std::to_string(bounds.low) + " to " +
                                       std::to_string(bounds.high));
    }
    return value;
}

/// Reads the parameters of one request; keeps the first refusal.
class Parameters {
  public:
    explicit Parameters(const boost::urls::url_view& url) : url_(url) {}

    std::optional<std::uint64_t> optional(std::string_view name, Bounds bounds) {
        return take(number_parameter(url_, name, bounds));
    }
    std::uint64_t required(std::string_view name, Bounds bounds) {
        const auto value = optional(name, bounds);
        if (!value && !refusal_) {
            refusal_ = bad_parameter(name, "is missing");
        }
        return value.value_or(0);
    }
    std::optional<Milliseconds> optional_duration(std::string_view name) {
        const auto value = optional(name, kDuration);
        return value ? std::optional(Milliseconds(*value)) : std::nullopt;
    }
    Lock lock() {
        const auto value = take(text_parameter(url_, "lock"));
        if (!value || *value == "none") {
            return Lock::none;
        }
        if (*value == "monitor") {
            return Lock::monitor;
        }
        if (*value != "cooperative" && !refusal_) {
            refusal_ = bad_parameter("lock", "must be none, monitor or cooperative");
        }
        return Lock::cooperative;
    }
    /// The call, unless a parameter was refused.
    Route route_to(Call call) {
        return refusal_ ? Route(std::move(*refusal_)) : Route(std::move(call));
    }

  private:
    template <class Value>
    std::optional<Value> take(Parsed<Value> parsed) {
        if (auto* refused = std::get_if<Answer>(&parsed)) {
            if (!refusal_) {
                refusal_ = std::move(*refused);
            }
            return std::nullopt;
        }
        return std::get<0>(std::move(parsed));
    }

    const boost::urls::url_view& url_;
    std::optional<Answer> refusal_;
};

Route to_wait(const Request&, Parameters parameters) {
    const Lock lock = parameters.lock();
    return parameters.route_to(Wait{lock});
}

Route to_echo(const Request& request, Parameters parameters) {
    const auto sleep = parameters.optional_duration("sleep_ms");
    const auto block = parameters.optional_duration("block_ms");
    auto parsed = parse_echo(request.body);
    if (const auto* wrong = std::get_if<std::string>(&parsed)) {
        return error(400, *wrong);
    }
    Echo& echo = std::get<Echo>(parsed);
    echo.sleep = sleep;
    echo.block = block;
    return parameters.route_to(std::move(echo));
}

Route to_cpu(const Request&, Parameters parameters) {
    const auto iterations = parameters.optional("iterations", {1, limits::kCpuIterations});
    return parameters.route_to(Cpu{iterations});
}

Route to_sleep(const Request&, Parameters parameters) {
    const Milliseconds duration(parameters.required("ms", kDuration));
    return parameters.route_to(Sleep{duration});
}

Route to_block(const Request&, Parameters parameters) {
    const Milliseconds duration(parameters.required("ms", kDuration));
    return parameters.route_to(Block{duration});
}

Route to_tasks(const Request&, Parameters parameters) {
    const std::uint64_t count = parameters.required("count", {0, limits::kTasks});
    const Milliseconds sleep(parameters.required("sleep_ms", kDuration));
    return parameters.route_to(Tasks{count, sleep});
}

Route to_health(const Request&, Parameters) {
    return Health{};
}
Route to_metrics(const Request&, Parameters) {
    return Metrics{};
}
Route to_index(const Request&, Parameters) {
    return Index{};
}

struct Row {
    std::string_view path;
    bool is_post;
    Route (*to)(const Request&, Parameters);
};
constexpr std::array kRows = {
    Row{"/wait", false, to_wait},     Row{"/echo", true, to_echo},
    Row{"/cpu", false, to_cpu},       Row{"/sleep", false, to_sleep},
    Row{"/block", false, to_block},   Row{"/tasks", false, to_tasks},
    Row{"/health", false, to_health}, Row{"/metrics", false, to_metrics},
    Row{"/", false, to_index},
};

bool allows(const Row& row, std::string_view method) {
    return row.is_post ? method == "POST" : method == "GET" || method == "HEAD";
}

/// RFC 9112, 3.2: a path with a query, or a whole http address. Nothing where it is neither.
std::optional<boost::urls::url_view> parse_target(std::string_view target) {
    const boost::core::string_view text(target.data(), target.size());
    if (target.starts_with('/')) {
        const auto origin = boost::urls::parse_origin_form(text);
        return origin ? std::optional(*origin) : std::nullopt;
    }
    // Without an authority it is none of ours, and Boost.URL 1.81 asserts what some of them break.
    constexpr std::string_view kBeginning = "http://";
    const auto beginning = target.substr(0, kBeginning.size());
    if (!std::ranges::equal(beginning, kBeginning, {},
                            [](unsigned char c) { return static_cast<char>(std::tolower(c)); })) {
        return std::nullopt;
    }
    const auto absolute = boost::urls::parse_absolute_uri(text);
    return absolute && !absolute->host().empty() ? std::optional(*absolute) : std::nullopt;
}

}  // namespace

Route route(const Request& request) {
    const auto url = parse_target(request.target);
    if (!url) {
        return error(400, "the request target is malformed");
    }
    const auto path = url->encoded_path().empty() ? "/" : url->encoded_path();
    for (const Row& row : kRows) {
        if (path != boost::core::string_view(row.path)) {
            continue;
        }
        if (!allows(row, request.method)) {
            Answer refused = error(405, "this method is not allowed here");
            refused.allow = row.is_post ? "POST" : "GET, HEAD";
            return refused;
        }
        return row.to(request, Parameters(*url));
    }
    return error(404, "there is nothing at this path");
}

}  // namespace common::app
