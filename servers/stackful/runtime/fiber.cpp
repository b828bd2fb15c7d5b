// This file is compiled without sanitizers (see CMakeLists.txt): Debian's Boost.Context does not
// announce its switches, so this code does, and between the announcement and the switch no
// instrumented function may be entered or left.
#include "stackful/runtime/fiber.hpp"

#include <boost/context/preallocated.hpp>
#include <utility>

#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
#include <sanitizer/common_interface_defs.h>
#elif defined(WAITBENCH_ANNOUNCE_TO_TSAN)
#include <sanitizer/tsan_interface.h>
#endif

namespace stackful::runtime {
namespace {

/// Boost gives the stack back through this; the carrier does it itself, when it has left it.
struct KeepStack {
    void deallocate(boost::context::stack_context&) noexcept {}
};

void announce_end([[maybe_unused]] Fiber& fiber) {
#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
    __sanitizer_start_switch_fiber(nullptr, fiber.carrier_stack, fiber.carrier_stack_bytes);
#elif defined(WAITBENCH_ANNOUNCE_TO_TSAN)
    __tsan_switch_to_fiber(fiber.sanitizer_carrier, 0);
#endif
}

/// The first function on a fiber's stack.
boost::context::fiber run_body(Fiber& fiber, boost::context::fiber&& carrier) {
    fiber.carrier_context = std::move(carrier);
#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
    __sanitizer_finish_switch_fiber(nullptr, &fiber.carrier_stack, &fiber.carrier_stack_bytes);
#endif
    fiber.body();
    announce_end(fiber);
    return std::move(fiber.carrier_context);
}

void create_context(Fiber& fiber) {
    boost::context::stack_context stack;
    stack.sp = fiber.stack.base + fiber.stack.bytes;
    stack.size = fiber.stack.bytes;
    const boost::context::preallocated place(stack.sp, stack.size, stack);
    fiber.context = boost::context::fiber(
        std::allocator_arg, place, KeepStack{},
        [&fiber](boost::context::fiber&& carrier) { return run_body(fiber, std::move(carrier)); });
#if defined(WAITBENCH_ANNOUNCE_TO_TSAN)
    if (fiber.stack.sanitizer_fiber == nullptr) {
        fiber.stack.sanitizer_fiber = __tsan_create_fiber(0);
    }
#endif
}

}  // namespace

void switch_to_fiber(Fiber& fiber) {
    if (!fiber.context) {
        create_context(fiber);
    }
#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, fiber.stack.base, fiber.stack.bytes);
#elif defined(WAITBENCH_ANNOUNCE_TO_TSAN)
    fiber.sanitizer_carrier = __tsan_get_current_fiber();
    __tsan_switch_to_fiber(fiber.stack.sanitizer_fiber, 0);
#endif
    fiber.context = std::move(fiber.context).resume();
#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack, nullptr, nullptr);
#endif
}

void switch_to_carrier(Fiber& fiber) {
#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
    void* fake_stack = nullptr;
    __sanitizer_start_switch_fiber(&fake_stack, fiber.carrier_stack, fiber.carrier_stack_bytes);
#elif defined(WAITBENCH_ANNOUNCE_TO_TSAN)
    __tsan_switch_to_fiber(fiber.sanitizer_carrier, 0);
#endif
    fiber.carrier_context = std::move(fiber.carrier_context).resume();
#if defined(WAITBENCH_ANNOUNCE_TO_ASAN)
    __sanitizer_finish_switch_fiber(fake_stack, &fiber.carrier_stack, &fiber.carrier_stack_bytes);
#endif
}

void forget_switches([[maybe_unused]] const Stack& stack) {
#if defined(WAITBENCH_ANNOUNCE_TO_TSAN)
    if (stack.sanitizer_fiber != nullptr) {
        __tsan_destroy_fiber(stack.sanitizer_fiber);
    }
#endif
}

}  // namespace stackful::runtime
