#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "stackful/runtime/fiber.hpp"
#include "stackful/runtime/readiness.hpp"

namespace stackful::runtime {

/// What a scheduler keeps of one registered socket. Recycled, never freed: another carrier may
/// still hold an event of the socket that was here before, so events carry the generation too.
struct Descriptor {
    Readiness read;
    Readiness write;
    /// Nanoseconds of the steady clock by which whoever waits here is woken.
    std::atomic<std::int64_t> deadline;
    std::atomic<std::uint32_t> generation;
    /// The peer has closed its side, or the connection is broken: a read need not wait.
    std::atomic<bool> hung_up;
    /// Somebody wants the next empty read to end (see Stream::interrupt).
    std::atomic<bool> interrupted;
    std::uint32_t slot = 0;
    int epoll = -1;

    /// What epoll hands back with an event.
    std::uint64_t tag() const {
        return std::uint64_t{generation.load(std::memory_order_relaxed)} << 32 | slot;
    }
};

/// All descriptors of one scheduler. Any thread may take and give back; the scheduler's holder
/// looks them up and sweeps them.
class DescriptorTable {
  public:
    /// Null when the table is full.
    Descriptor* take();
    void give_back(Descriptor& descriptor);

    /// The descriptor that an event belongs to; null if its socket has been closed since.
    Descriptor* find(std::uint64_t tag) const;

    /// Calls `visit` with every descriptor, used or not.
    template <class Visit>
    void for_each(Visit visit) {
        const std::uint32_t end = used_slots_.load(std::memory_order_acquire);
        for (std::uint32_t slot = 0; slot < end; ++slot) {
            visit(at(slot));
        }
    }
    bool is_empty() const { return in_use_.load() == 0; }

  private:
    static constexpr std::uint32_t kChunk = 1024;
    static constexpr std::uint32_t kChunks = 1024;
    Descriptor& at(std::uint32_t slot) const {
        return chunks_[slot / kChunk].load(std::memory_order_acquire)[slot % kChunk];
    }

    std::array<std::atomic<Descriptor*>, kChunks> chunks_{};
    std::atomic<std::uint32_t> used_slots_ = 0;
    std::atomic<std::uint32_t> in_use_ = 0;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Descriptor[]>> storage_;
    std::vector<std::uint32_t> free_;
};

}  // namespace stackful::runtime
