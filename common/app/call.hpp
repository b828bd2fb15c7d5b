#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

/// Plain values: what a request asks for, and what is answered. Nothing here waits.
namespace common::app {

/// A request as its bytes said it; valid as long as the connection's buffers.
struct Request {
    std::string_view method;
    std::string_view target;
    std::string_view body;
};

/// The label under which a request is counted.
enum class Endpoint {
    wait,
    echo,
    cpu,
    sleep,
    block,
    tasks,
    health,
    metrics,
    index,
    downstream,
    other
};
inline constexpr std::size_t kEndpoints = 11;
std::string_view name_of(Endpoint endpoint);

/// What a lock across the downstream call does to a fiber (see servers/blocking/waiting.hpp).
enum class Lock { none, monitor, cooperative };

using Milliseconds = std::chrono::milliseconds;

// The calls, one type an endpoint. Every value has passed its bounds (common/limits.hpp).
struct Wait {
    Lock lock = Lock::none;
};
struct Echo {
    std::int64_t id = 0;
    std::string name;
    std::optional<Milliseconds> sleep;
    std::optional<Milliseconds> block;
};
struct Cpu {
    std::optional<std::uint64_t> iterations;
};
struct Sleep {
    Milliseconds duration{};
};
struct Block {
    Milliseconds duration{};
};
struct Tasks {
    std::uint64_t count = 0;
    Milliseconds sleep{};
};
struct Health {};
struct Metrics {};
struct Index {};

/// A call that a model has to run.
using Call = std::variant<Wait, Echo, Cpu, Sleep, Block, Tasks>;
Endpoint endpoint_of(const Call& call);
/// Whether the call mostly waits (for a downstream, a timer, a blocking call) or mostly computes.
bool waits(const Call& call);

/// One answer. `content_type` and `allow` point to constants.
struct Answer {
    int status = 200;
    std::string_view content_type = "application/json";
    std::string body;
    std::string_view allow = {};
};

/// How a downstream call can fail; what the client is told is `answer_of`'s matter.
enum class DownstreamFailure {
    refused,
    lost,
    malformed,
    bad_status,
    timed_out,
    exhausted,  ///< our own descriptors or ports, so no fault of the downstream
    shutting_down,
};
/// The downstream's body, or why there is none.
using DownstreamResult = std::variant<std::string, DownstreamFailure>;

// Answers of the calls, the same bytes in every model.
Answer answer_of(DownstreamResult result);
Answer answer_of(const Echo& call);
Answer ok();
Answer digested(std::uint64_t iterations, std::string_view hex_digest);
Answer tasks_done(const Tasks& call, Milliseconds elapsed);
Answer healthy(std::string_view model);
Answer index_page(std::string_view model);
/// `{"error": text}`; text is one of ours and never echoes what the client sent.
Answer error(int status, std::string_view text);
/// What every request gets whose answer the end of the drain cut off.
Answer shutting_down();

}  // namespace common::app
