#include "stackful/runtime/descriptor.hpp"

namespace stackful::runtime {

Descriptor* DescriptorTable::take() {
    const std::lock_guard lock(mutex_);
    std::uint32_t slot = 0;
    if (!free_.empty()) {
        slot = free_.back();
        free_.pop_back();
    } else {
        slot = used_slots_.load(std::memory_order_relaxed);
        if (slot == kChunk * kChunks) {
            return nullptr;
        }
        if (slot % kChunk == 0) {
            storage_.push_back(std::make_unique<Descriptor[]>(kChunk));
            chunks_[slot / kChunk].store(storage_.back().get(), std::memory_order_release);
        }
        at(slot).slot = slot;
        at(slot).deadline.store(INT64_MAX, std::memory_order_relaxed);
        used_slots_.store(slot + 1, std::memory_order_release);
    }
    in_use_.fetch_add(1);
    Descriptor& descriptor = at(slot);
    descriptor.read.reset();
    descriptor.write.reset();
    descriptor.deadline.store(INT64_MAX, std::memory_order_relaxed);
    descriptor.hung_up.store(false, std::memory_order_relaxed);
    descriptor.interrupted.store(false, std::memory_order_relaxed);
    return &descriptor;
}

void DescriptorTable::give_back(Descriptor& descriptor) {
    descriptor.generation.fetch_add(1, std::memory_order_acq_rel);
    const std::lock_guard lock(mutex_);
    in_use_.fetch_sub(1);
    free_.push_back(descriptor.slot);
}

Descriptor* DescriptorTable::find(std::uint64_t tag) const {
    const auto slot = static_cast<std::uint32_t>(tag);
    if (slot >= used_slots_.load(std::memory_order_acquire)) {
        return nullptr;
    }
    Descriptor& descriptor = at(slot);
    const auto generation = static_cast<std::uint32_t>(tag >> 32);
    return descriptor.generation.load(std::memory_order_acquire) == generation ? &descriptor
                                                                               : nullptr;
}

}  // namespace stackful::runtime
