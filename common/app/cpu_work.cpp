#include "common/app/cpu_work.hpp"

#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>
#include <stdexcept>
#include <string_view>

#include "common/limits.hpp"

namespace common::app {
namespace {

constexpr std::string_view kSeed = "waitbench";
constexpr std::size_t kDigestBytes = 32;
constexpr std::uint64_t kProbeIterations = 4096;
/// Many short tries, of which the upper quartile counts: what slows a try down is not the CPU's,
/// and the very fastest are luck.
constexpr std::size_t kCalibrationTries = 101;
constexpr int kTryDivisor = 10;

/// Fetched once: an implicit fetch at every digest would cost more than a short digest.
const EVP_MD* sha256() {
    static const std::unique_ptr<EVP_MD, decltype(&EVP_MD_free)> digest(
        EVP_MD_fetch(nullptr, "SHA256", nullptr), &EVP_MD_free);
    return digest.get();
}

std::chrono::nanoseconds thread_cpu_time() {
    timespec now{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

std::chrono::nanoseconds cpu_time_of(std::uint64_t iterations) {
    const auto start = thread_cpu_time();
    digest_chain(iterations);
    return thread_cpu_time() - start;
}

}  // namespace

std::string digest_chain(std::uint64_t iterations) {
    const std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context(EVP_MD_CTX_new(),
                                                                          &EVP_MD_CTX_free);
    std::array<unsigned char, kDigestBytes> digest{};
    const void* input = kSeed.data();
    std::size_t input_bytes = kSeed.size();
    for (std::uint64_t n = 0; n < iterations; ++n) {
        if (EVP_DigestInit_ex2(context.get(), sha256(), nullptr) != 1 ||
            EVP_DigestUpdate(context.get(), input, input_bytes) != 1 ||
            EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) != 1) {
            throw std::runtime_error("OpenSSL could not compute SHA-256");
        }
        input = digest.data();
        input_bytes = digest.size();
    }
    std::string hex;
    for (const unsigned char byte : digest) {
        constexpr std::string_view kHex = "0123456789abcdef";
        hex += {kHex[byte >> 4], kHex[byte & 15]};
    }
    return hex;
}

std::uint64_t calibrate_iterations() {
    using Nanoseconds = std::chrono::duration<double, std::nano>;
    const Nanoseconds wanted = limits::kCpuWork;
    std::uint64_t iterations = kProbeIterations;
    std::array<double, kCalibrationTries> iterations_per_ns{};
    for (double& rate : iterations_per_ns) {
        rate = static_cast<double>(iterations) / Nanoseconds(cpu_time_of(iterations)).count();
        iterations = std::max<std::uint64_t>(
            1, static_cast<std::uint64_t>(rate * wanted.count() / kTryDivisor));
    }
    std::nth_element(iterations_per_ns.begin(),
                     iterations_per_ns.begin() + kCalibrationTries * 3 / 4,
                     iterations_per_ns.end());
    const double upper_quartile = iterations_per_ns[kCalibrationTries * 3 / 4];
    return std::clamp<std::uint64_t>(static_cast<std::uint64_t>(upper_quartile * wanted.count()), 1,
                                     limits::kCpuIterations);
}

std::uint64_t CpuWorkSize::iterations() {
    const std::uint64_t known = iterations_;
    if (known == 0 && !asked_.exchange(true)) {
        start_();
    }
    return known;
}

}  // namespace common::app
