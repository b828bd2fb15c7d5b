#include "bench/predict/predict.hpp"

#include <algorithm>
#include <cmath>

#include "bench/statistics/statistics.hpp"

namespace bench::predict {

double arithmetic_ceiling(double connections, double wait_s) {
    return connections / wait_s;
}

double pool_rate(double connections, double servers, double wait_s) {
    return std::min(connections, servers) / wait_s;
}

double closed_latency_s(double connections, double rate) {
    return connections / rate;
}

double cpu_bound(double cpus, double cpu_s_per_request) {
    return cpus / cpu_s_per_request;
}

double waves(double count, double servers) {
    return std::ceil(count / servers);
}

double tasks_s(double count, double servers, double sleep_s) {
    return waves(count, servers) * sleep_s;
}

double burst_latency_s(const Burst& burst, double percent) {
    const double rank = statistics::nearest_rank(percent, burst.requests);
    const double work_s = burst.cpu_s_per_request / burst.cpus;
    return std::max(
        waves(rank, burst.servers) * burst.wait_s + std::min(rank, burst.servers) * work_s,
        burst.wait_s + rank * work_s);
}

Prediction with_limit(double model_rate, const std::string& limit, double cpus,
                      double cpu_s_per_request) {
    const bool cpus_limit =
        cpu_s_per_request > 0 && cpu_bound(cpus, cpu_s_per_request) < model_rate;
    return {model_rate, cpus_limit ? "CPU" : limit};
}

}  // namespace bench::predict
