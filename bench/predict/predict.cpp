#include "bench/predict/predict.hpp"

#include <algorithm>

namespace bench::predict {
namespace {

constexpr double kDelayStepS = 0.025;
constexpr double kLongestDelayS = 0.25;

}  // namespace

double arithmetic_ceiling(double connections, double wait_s) {
    return connections / wait_s;
}

double pool_rate(double connections, double threads, double wait_s) {
    return std::min(connections, threads) / wait_s;
}

double cpu_bound(double cpus, double cpu_s_per_request) {
    return cpus / cpu_s_per_request;
}

double injected_threads(double cpus, double seconds) {
    double threads = 2 * cpus;
    for (double delay = kDelayStepS; delay < kLongestDelayS - kDelayStepS / 2;
         delay += kDelayStepS) {
        if (seconds < cpus * delay) {
            return threads + seconds / delay;
        }
        threads += cpus;
        seconds -= cpus * delay;
    }
    return threads + seconds / kLongestDelayS;
}

double take_off_s(double cpus, double requests) {
    double threads = 2 * cpus;
    double seconds = 0;
    double delay = kDelayStepS;
    while (threads < requests + 1) {
        const double started = std::min(cpus, requests + 1 - threads);
        threads += started;
        seconds += started * delay;
        delay = std::min(delay + kDelayStepS, kLongestDelayS);
    }
    return seconds;
}

Prediction with_limit(double model_rate, const std::string& limit, double cpus,
                      double cpu_s_per_request) {
    const bool cpus_limit =
        cpu_s_per_request > 0 && cpu_bound(cpus, cpu_s_per_request) < model_rate;
    return {model_rate, cpus_limit ? "CPU" : limit};
}

}  // namespace bench::predict
