#pragma once

#include <string>

/// What a row should reach, from arithmetic alone. Rates are requests per second.
namespace bench::predict {

/// A closed loop cannot be faster: every connection waits once per request (Little's law).
double arithmetic_ceiling(double connections, double wait_s);

/// A pool whose threads block for the wait: min(connections, threads) / wait.
double pool_rate(double connections, double threads, double wait_s);

/// Where everything shares the CPUs: CPUs / CPU seconds that one request costs all processes.
double cpu_bound(double cpus, double cpu_s_per_request);

/// Threads of .NET's pool after `seconds` in which every one of them blocked on a future:
/// `cpus` at the start, as many without delay, as many 25 ms apart, as many 50 ms apart, and so
/// on up to 250 ms apart, where it stays (design section 4; PortableThreadPool.Blocking of .NET 6).
double injected_threads(double cpus, double seconds);

/// Seconds until the pool has a thread for each of `requests` and one more, which then runs the
/// first completion: nothing is answered before.
double take_off_s(double cpus, double requests);

struct Prediction {
    double rate = 0;    ///< From the model's own rule; nothing that the row measured is in it.
    std::string limit;  ///< What limits the row here: "pool", "wait", "starved", or "CPU".
};

/// The model's rate, and what limits it: `limit`, unless the CPUs would be used up before; what a
/// request costs is measured. `cpu_s_per_request` 0 means that nothing is known of it.
Prediction with_limit(double model_rate, const std::string& limit, double cpus,
                      double cpu_s_per_request);

}  // namespace bench::predict
