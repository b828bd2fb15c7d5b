#include "stackful/runtime/overflow.hpp"

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <mutex>

#include "common/limits.hpp"
#include "stackful/runtime/carrier.hpp"

namespace stackful::runtime {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitizerReports = true;
#else
constexpr bool kSanitizerReports = false;
#endif
constexpr std::size_t kSignalStackBytes = 64 * 1024;

// Written before the handler is installed; a handler must not format.
char message[160];

bool is_in_guard(const Fiber& fiber, const void* address) {
    const auto* byte = static_cast<const std::byte*>(address);
    return byte >= fiber.stack.base - common::limits::kStackGuardBytes && byte < fiber.stack.base;
}

void on_fault(int signal, siginfo_t* info, void*) {
    const Fiber* fiber = current_fiber();
    if (fiber != nullptr && is_in_guard(*fiber, info->si_addr)) {
        [[maybe_unused]] const ssize_t written =
            ::write(STDERR_FILENO, message, std::strlen(message));
    }
    // The fault happens again when the handler returns, and then ends the process as usual.
    std::signal(signal, SIG_DFL);
}

}  // namespace

void report_overflows(std::size_t stack_bytes) {
    if (kSanitizerReports) {
        return;
    }
    static std::once_flag once;
    std::call_once(once, [stack_bytes] {
        std::snprintf(message, sizeof message,
                      "fatal: a fiber stack has overflown its %zu bytes (see --stack-size)\n",
                      stack_bytes);
        struct sigaction action {};
        action.sa_sigaction = on_fault;
        action.sa_flags = SA_SIGINFO | SA_ONSTACK;
        ::sigaction(SIGSEGV, &action, nullptr);
        ::sigaction(SIGBUS, &action, nullptr);
    });
}

SignalStack::SignalStack() {
    if (kSanitizerReports) {
        return;
    }
    memory_ = std::make_unique<std::byte[]>(kSignalStackBytes);
    const stack_t stack{.ss_sp = memory_.get(), .ss_flags = 0, .ss_size = kSignalStackBytes};
    ::sigaltstack(&stack, nullptr);
}

SignalStack::~SignalStack() {
    if (memory_ != nullptr) {
        const stack_t none{.ss_sp = nullptr, .ss_flags = SS_DISABLE, .ss_size = 0};
        ::sigaltstack(&none, nullptr);
    }
}

}  // namespace stackful::runtime
