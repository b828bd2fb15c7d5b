#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <mutex>
#include <optional>
#include <vector>

namespace stackful::runtime {

/// A fiber's stack: `bytes` usable bytes from `base` up. A guard lies directly below `base`.
struct Stack {
    std::byte* base = nullptr;
    std::size_t bytes = 0;
    /// What thread sanitizer calls whoever runs here; kept with the stack, as it is slow to make.
    void* sanitizer_fiber = nullptr;
};

/// How a guard is made. `madvise` splits no mapping but needs Linux 6.13; `mprotect` works
/// everywhere but costs two mappings a stack, of which the kernel allows 65,530 in all.
enum class Guard { automatic, madvise, mprotect };

/// Stacks of one size, cut from slabs and used again. Any thread may call; a stack may be given
/// back on another thread than it was taken on. Slabs are unmapped with the pool.
class StackPool {
  public:
    /// Takes `automatic` to mean `madvise` where the kernel has it.
    StackPool(std::size_t stack_bytes, Guard guard);
    ~StackPool();
    StackPool(const StackPool&) = delete;
    StackPool& operator=(const StackPool&) = delete;

    /// Nothing when the kernel gives no more memory or mappings: never a stack without a guard.
    std::optional<Stack> take();
    void give_back(Stack stack);
    /// Whether so many free stacks hold memory that trim() has something to do.
    bool has_surplus() const;
    /// Once in every limits::kTrimInterval gives memory of stacks that were not needed during it
    /// back to the kernel, the oldest first. Not when they come back: tasks that end are mostly
    /// followed by more, and the kernel takes longer over a page than a task does over all.
    void trim(std::chrono::steady_clock::time_point now);

    std::size_t stack_bytes() const { return stack_bytes_; }

    /// Whether this kernel has guards that split no mapping.
    static bool kernel_has_light_guards();
    /// How many stacks the guard allows at once.
    std::size_t capacity() const;

  private:
    bool add_slab();
    std::size_t slab_bytes() const;

    const std::size_t stack_bytes_;
    const Guard guard_;
    std::mutex mutex_;
    std::vector<std::byte*> slabs_;
    std::vector<Stack> warm_;
    std::atomic<std::size_t> warm_count_ = 0;  ///< The same, for whoever only looks.
    std::size_t fewest_warm_ = 0;              ///< In this interval.
    std::chrono::steady_clock::time_point trim_at_{};
    std::vector<Stack> cold_;
};

}  // namespace stackful::runtime
