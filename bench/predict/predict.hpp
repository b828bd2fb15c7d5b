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

/// Between which a request's latency lies in a closed loop whose queue is first in, first out and
/// whose waits are equal: floor and ceil of connections / servers, at least 1, x wait. Every server
/// answers once per wait, so a request starts when as many answers as were before it have gone. In
/// lockstep latencies are one or the other; spread over time all are near the mean.
struct LatencyBounds {
    double lowest_s = 0, highest_s = 0;
};
LatencyBounds closed_latency_bounds(double connections, double servers, double wait_s);

/// Where everything shares the CPUs: CPUs / CPU seconds that one request costs all processes.
double cpu_bound(double cpus, double cpu_s_per_request);

/// A number of waits at once, of which `servers` at a time go on: ceil(count / servers).
double waves(double count, double servers);

/// Seconds that `count` sleeping tasks take: waves x sleep.
double tasks_s(double count, double servers, double sleep_s);

/// Requests that all come at once and are served in the order in which they came.
struct Burst {
    double requests = 0;
    double servers = 0;
    double wait_s = 0;
    double cpu_s_per_request = 0;  ///< Of all processes that share the CPUs; 0 when not known.
    double cpus = 1;
};

/// Seconds until `percent` of the burst is answered: with r = ceil(percent / 100 x requests),
/// ceil(r / servers) x wait + r x CPU per request / CPUs. So 100 is the whole burst, and the k-th
/// wave of a burst that costs no CPU takes k x wait. Work and waits of different requests overlap,
/// so where both matter this is an upper estimate: the truth lies between the larger term and the
/// sum. Threads that share the CPUs in slices all end near the end of their burst: there only 100
/// is predicted.
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
