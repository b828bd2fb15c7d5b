#include "stackful/runtime/stack.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "common/limits.hpp"
#include "stackful/runtime/fiber.hpp"

namespace stackful::runtime {
namespace {

namespace limits = common::limits;

// Linux 6.13; Debian 12's headers do not name it yet.
constexpr int kMadviseGuardInstall = 102;
constexpr std::size_t kPageBytes = 4096;

std::byte* map(std::size_t bytes) {
    void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    return memory == MAP_FAILED ? nullptr : static_cast<std::byte*>(memory);
}

bool protect(std::byte* guard, Guard how) {
    if (how == Guard::madvise) {
        return ::madvise(guard, limits::kStackGuardBytes, kMadviseGuardInstall) == 0;
    }
    return ::mprotect(guard, limits::kStackGuardBytes, PROT_NONE) == 0;
}

std::size_t mapping_limit() {
    std::size_t count = 65'530;
    std::ifstream("/proc/sys/vm/max_map_count") >> count;
    return count;
}

}  // namespace

bool StackPool::kernel_has_light_guards() {
    std::byte* page = map(kPageBytes);
    if (page == nullptr) {
        return false;
    }
    const bool has = ::madvise(page, kPageBytes, kMadviseGuardInstall) == 0;
    ::munmap(page, kPageBytes);
    return has;
}

StackPool::StackPool(std::size_t stack_bytes, Guard guard)
    : stack_bytes_((stack_bytes + kPageBytes - 1) / kPageBytes * kPageBytes),
      guard_(guard != Guard::automatic   ? guard
             : kernel_has_light_guards() ? Guard::madvise
                                         : Guard::mprotect) {}

StackPool::~StackPool() {
    for (const std::vector<Stack>* list : {&warm_, &cold_}) {
        for (const Stack& stack : *list) {
            forget_switches(stack);
        }
    }
    for (std::byte* slab : slabs_) {
        ::munmap(slab, limits::kStacksPerSlab * (limits::kStackGuardBytes + stack_bytes_));
    }
}

std::size_t StackPool::capacity() const {
    if (guard_ == Guard::madvise) {
        return limits::kFibers;
    }
    const std::size_t mappings = mapping_limit();
    const std::size_t reserved = std::min(mappings, limits::kReservedMappings);
    return std::min(limits::kFibers, (mappings - reserved) / 2);
}

std::optional<Stack> StackPool::take() {
    const std::lock_guard lock(mutex_);
    for (std::vector<Stack>* list : {&warm_, &cold_}) {
        if (!list->empty()) {
            const Stack stack = list->back();
            list->pop_back();
            return stack;
        }
    }
    return cut();
}

std::optional<Stack> StackPool::cut() {
    if ((slabs_.empty() || cut_from_last_slab_ == limits::kStacksPerSlab) && !map_slab()) {
        return std::nullopt;
    }
    std::byte* guard =
        slabs_.back() + cut_from_last_slab_ * (limits::kStackGuardBytes + stack_bytes_);
    if (!protect(guard, guard_)) {
        return std::nullopt;
    }
    ++cut_from_last_slab_;
    return Stack{guard + limits::kStackGuardBytes, stack_bytes_, nullptr};
}

bool StackPool::map_slab() {
    const std::size_t bytes = limits::kStacksPerSlab * (limits::kStackGuardBytes + stack_bytes_);
    std::byte* slab = map(bytes);
    if (slab == nullptr) {
        return false;
    }
    // A huge page would give every sleeping fiber two megabytes instead of two pages.
    ::madvise(slab, bytes, MADV_NOHUGEPAGE);
    slabs_.push_back(slab);
    cut_from_last_slab_ = 0;
    return true;
}

void StackPool::give_back(Stack stack) {
    {
        const std::lock_guard lock(mutex_);
        if (warm_.size() < limits::kWarmStacks) {
            warm_.push_back(stack);
            return;
        }
    }
    ::madvise(stack.base, stack_bytes_, MADV_DONTNEED);
    const std::lock_guard lock(mutex_);
    cold_.push_back(stack);
}

}  // namespace stackful::runtime
