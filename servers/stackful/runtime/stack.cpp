#include "stackful/runtime/stack.hpp"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
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

/// madvise() over many ranges with one system call, and so with one flush of the other cores'
/// address caches, where the kernel allows that of one's own process (Linux 6.13).
bool advise(const std::vector<iovec>& ranges, int advice) {
    // Debian 12's <sys/pidfd.h> is not fit for C++.
    static const auto self = static_cast<int>(::syscall(SYS_pidfd_open, ::getpid(), 0));
    std::size_t bytes = 0;
    for (const iovec& range : ranges) {
        bytes += range.iov_len;
    }
    if (::process_madvise(self, ranges.data(), ranges.size(), advice, 0) ==
        static_cast<ssize_t>(bytes)) {
        return true;
    }
    return std::all_of(ranges.begin(), ranges.end(), [advice](const iovec& range) {
        return ::madvise(range.iov_base, range.iov_len, advice) == 0;
    });
}

bool protect(const std::vector<iovec>& guards, Guard how) {
    if (how == Guard::madvise) {
        return advise(guards, kMadviseGuardInstall);
    }
    return std::all_of(guards.begin(), guards.end(), [](const iovec& guard) {
        return ::mprotect(guard.iov_base, guard.iov_len, PROT_NONE) == 0;
    });
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
        ::munmap(slab, slab_bytes());
    }
}

std::size_t StackPool::slab_bytes() const {
    return limits::kStacksPerSlab * (limits::kStackGuardBytes + stack_bytes_);
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
    if (warm_.empty() && cold_.empty() && !add_slab()) {
        return std::nullopt;
    }
    std::vector<Stack>& list = warm_.empty() ? cold_ : warm_;
    const Stack stack = list.back();
    list.pop_back();
    fewest_warm_ = std::min(fewest_warm_, warm_.size());
    warm_count_.store(warm_.size(), std::memory_order_relaxed);
    return stack;
}

bool StackPool::add_slab() {
    std::byte* slab = map(slab_bytes());
    if (slab == nullptr) {
        return false;
    }
    // A huge page would give every sleeping fiber two megabytes instead of two pages.
    ::madvise(slab, slab_bytes(), MADV_NOHUGEPAGE);
    std::vector<iovec> guards;
    for (std::size_t i = 0; i < limits::kStacksPerSlab; ++i) {
        guards.push_back(
            {slab + i * (limits::kStackGuardBytes + stack_bytes_), limits::kStackGuardBytes});
    }
    if (!protect(guards, guard_)) {
        ::munmap(slab, slab_bytes());
        return false;
    }
    slabs_.push_back(slab);
    for (const iovec& guard : guards) {
        cold_.push_back({static_cast<std::byte*>(guard.iov_base) + guard.iov_len, stack_bytes_});
    }
    return true;
}

void StackPool::give_back(Stack stack) {
    const std::lock_guard lock(mutex_);
    warm_.push_back(stack);
    warm_count_.store(warm_.size(), std::memory_order_relaxed);
}

bool StackPool::has_surplus() const {
    return warm_count_.load(std::memory_order_relaxed) > limits::kWarmStacks;
}

void StackPool::trim(std::chrono::steady_clock::time_point now) {
    std::vector<Stack> surplus;
    {
        const std::lock_guard lock(mutex_);
        if (now < trim_at_) {
            return;
        }
        trim_at_ = now + limits::kTrimInterval;
        const std::size_t unneeded = std::exchange(fewest_warm_, warm_.size());
        if (warm_.size() <= limits::kWarmStacks) {
            return;
        }
        const std::size_t count =
            std::min({warm_.size() - limits::kWarmStacks, unneeded, limits::kStacksTrimmedAtOnce});
        const auto end = warm_.begin() + static_cast<std::ptrdiff_t>(count);
        surplus.assign(warm_.begin(), end);
        warm_.erase(warm_.begin(), end);
        fewest_warm_ = warm_.size();
        warm_count_.store(warm_.size(), std::memory_order_relaxed);
    }
    std::vector<iovec> ranges;
    for (const Stack& each : surplus) {
        ranges.push_back({each.base, each.bytes});
    }
    advise(ranges, MADV_DONTNEED);
    const std::lock_guard lock(mutex_);
    cold_.insert(cold_.end(), surplus.begin(), surplus.end());
}

}  // namespace stackful::runtime
