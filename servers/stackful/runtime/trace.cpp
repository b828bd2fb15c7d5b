#include "stackful/runtime/trace.hpp"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "common/limits.hpp"

namespace stackful::runtime {
namespace {

std::string name_of(const void* address) {
    Dl_info info{};
    if (::dladdr(address, &info) == 0) {
        return fmt::format("{}", address);
    }
    if (info.dli_sname == nullptr) {
        // addr2line -e FILE OFFSET names it.
        return fmt::format("{}+{:#x}", info.dli_fname,
                           static_cast<const char*>(address) - static_cast<char*>(info.dli_fbase));
    }
    const std::unique_ptr<char, decltype(&std::free)> name(
        abi::__cxa_demangle(info.dli_sname, nullptr, nullptr, nullptr), &std::free);
    return name ? name.get() : info.dli_sname;
}

bool is_new(const std::vector<void*>& frames) {
    static std::mutex mutex;
    static std::set<std::vector<void*>> seen;
    const std::lock_guard lock(mutex);
    return seen.size() < common::limits::kTracedPlaces && seen.insert(frames).second;
}

}  // namespace

void prepare_trace() {
    std::array<void*, 1> frame;
    ::backtrace(frame.data(), 1);
}

void trace_pinned_wait() {
    std::array<void*, common::limits::kTracedFrames> addresses;
    const int count = ::backtrace(addresses.data(), addresses.size());
    // Without this function and its caller.
    constexpr int kOwnFrames = 2;
    const std::vector<void*> frames(addresses.begin() + std::min(kOwnFrames, count),
                                    addresses.begin() + count);
    if (!is_new(frames)) {
        return;
    }
    std::string text = "a pinned fiber blocks its carrier here:";
    for (void* frame : frames) {
        text += "\n    " + name_of(frame);
    }
    spdlog::warn(text);
}

}  // namespace stackful::runtime
