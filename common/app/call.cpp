#include "common/app/call.hpp"

#include <array>
#include <nlohmann/json.hpp>

namespace common::app {
namespace {

constexpr std::array<std::string_view, kEndpoints> kEndpointNames = {
    "wait",   "echo",    "cpu",   "sleep",      "block", "tasks",
    "health", "metrics", "index", "downstream", "other"};

constexpr std::array kCallEndpoints = {Endpoint::wait,  Endpoint::echo,  Endpoint::cpu,
                                       Endpoint::sleep, Endpoint::block, Endpoint::tasks};
static_assert(kCallEndpoints.size() == std::variant_size_v<Call>);

/// A quoted JSON string; `text` is valid UTF-8, since the parser checked it or we wrote it.
std::string json_string(std::string_view text) {
    return nlohmann::json(text).dump();
}

Answer failure(DownstreamFailure why) {
    switch (why) {
        case DownstreamFailure::refused:
            return error(502, "the downstream refused the connection");
        case DownstreamFailure::lost:
            return error(502, "the downstream closed the connection");
        case DownstreamFailure::malformed:
            return error(502, "the downstream's answer is malformed");
        case DownstreamFailure::bad_status:
            return error(502, "the downstream answered with an error");
        case DownstreamFailure::timed_out:
            return error(504, "the downstream did not answer in time");
        case DownstreamFailure::exhausted:
            return error(503, "the server has no descriptor or port left for a downstream call");
        case DownstreamFailure::shutting_down:
            break;
    }
    return shutting_down();
}

}  // namespace

std::string_view name_of(Endpoint endpoint) {
    return kEndpointNames[static_cast<std::size_t>(endpoint)];
}

Endpoint endpoint_of(const Call& call) {
    return kCallEndpoints[call.index()];
}

bool waits(const Call& call) {
    if (const auto* echo = std::get_if<Echo>(&call)) {
        return echo->sleep || echo->block;
    }
    return !std::holds_alternative<Cpu>(call);
}

Answer answer_of(DownstreamResult result) {
    if (const auto* why = std::get_if<DownstreamFailure>(&result)) {
        return failure(*why);
    }
    return {.body = std::get<std::string>(std::move(result))};
}

Answer answer_of(const Echo& call) {
    return {.body = R"({"id":)" + std::to_string(call.id) + R"(,"name":)" + json_string(call.name) +
                    "}"};
}

Answer ok() {
    return {.content_type = "text/plain", .body = "ok"};
}

Answer digested(std::uint64_t iterations, std::string_view hex_digest) {
    return {.body = R"({"iterations":)" + std::to_string(iterations) + R"(,"digest":")" +
                    std::string(hex_digest) + R"("})"};
}

Answer tasks_done(const Tasks& call, Milliseconds elapsed) {
    return {.body = R"({"count":)" + std::to_string(call.count) + R"(,"sleep_ms":)" +
                    std::to_string(call.sleep.count()) + R"(,"elapsed_ms":)" +
                    std::to_string(elapsed.count()) + "}"};
}

Answer healthy(std::string_view model) {
    return {.body = R"({"status":"ok","model":)" + json_string(model) + "}"};
}

Answer index_page(std::string_view model) {
    return {.content_type = "text/plain", .body = "waitbench, model " + std::string(model) + R"(

GET  /wait                      calls the downstream; ?lock=none|monitor|cooperative
POST /echo                      {"id": integer, "name": string}; ?sleep_ms=N ?block_ms=N
GET  /cpu                       SHA-256 chain, 20 ms of CPU time; ?iterations=N
GET  /sleep?ms=N                waits as the model waits
GET  /block?ms=N                blocks the OS thread
GET  /tasks?count=N&sleep_ms=M  starts N tasks that sleep, waits for all
GET  /health                    is the server there, and which model is it
GET  /metrics                   Prometheus text
)"};
}

Answer error(int status, std::string_view text) {
    return {.status = status, .body = R"({"error":)" + json_string(text) + "}"};
}

Answer shutting_down() {
    return error(503, "the server is shutting down");
}

}  // namespace common::app
