#pragma once

#include <string>

/// What a row should reach, from arithmetic alone: the bounds of closed queueing networks. Rates
/// are requests per second. A "server" is what a request holds while it waits: a thread of a pool,
/// the carrier of a pinned fiber, the event loop that it blocks. Where it holds nothing there are
/// as many servers as requests. docs/method.md says every formula in words.
namespace bench::predict {

/// A closed loop cannot be faster: every connection waits once per request (Little's law).
double arithmetic_ceiling(double connections, double wait_s);

/// min(connections, servers) / wait.
double pool_rate(double connections, double servers, double wait_s);

/// Seconds that a request of a closed loop takes on average at this rate, its time in the queue
/// included: connections / rate (Little's law). Where completions are spread over time every
/// request takes about as long, so it predicts the median too.
double closed_latency_s(double connections, double rate);

/// Where everything shares the CPUs: CPUs / CPU seconds that one request costs all processes.
double cpu_bound(double cpus, double cpu_s_per_request);

/// A number of waits at once, of which `servers` at a time go on: ceil(count / servers).
double waves(double count, double servers);

/// Seconds that `count` sleeping tasks take: waves x sleep.
double tasks_s(double count, double servers, double sleep_s);

/// Requests that all come at once and are served in the order in which they came.
struct Burst {
    double requests = 0;
    double servers = 0;  ///< How many go on at a time.
    double wait_s = 0;
    double cpu_s_per_request = 0;  ///< Of all processes that share the CPUs; 0 when not known.
    double cpus = 1;
};

/// Seconds until `percent` of the burst is answered. With r = ceil(percent / 100 x requests) and
/// the work of a wave = min(r, servers) x CPU per request / CPUs, the larger of ceil(r / servers)
/// x wait + the work of one wave (that of the others is done while requests wait) and, where the
/// work takes longer than the waits, wait + r x CPU per request / CPUs. Threads that share the
/// CPUs in slices all end near the end of their burst: there only 100 is predicted.
double burst_latency_s(const Burst& burst, double percent);

struct Prediction {
    double rate = 0;    ///< From the model's own rule; nothing that the row measured is in it.
    std::string limit;  ///< What limits the row here: "pool", "wait", "starved", or "CPU".
};

/// The model's rate, and what limits it: `limit`, unless the CPUs would be used up before; what a
/// request costs is measured. `cpu_s_per_request` 0 means that nothing is known of it.
Prediction with_limit(double model_rate, const std::string& limit, double cpus,
                      double cpu_s_per_request);

}  // namespace bench::predict
