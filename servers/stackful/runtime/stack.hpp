#pragma once

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
    /// When many warm stacks lie here already, the oldest give their memory back to the kernel.
    void give_back(Stack stack);

    Guard guard() const { return guard_; }
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
    std::vector<Stack> cold_;
};

}  // namespace stackful::runtime
