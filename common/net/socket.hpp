#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

namespace common::net {

/// Closes a descriptor once. -1 means none.
class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int descriptor) : descriptor_(descriptor) {}
    Descriptor(Descriptor&& other) noexcept : descriptor_(other.release()) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset(other.release());
        return *this;
    }
    ~Descriptor() { reset(-1); }

    int get() const { return descriptor_; }
    int release() { return std::exchange(descriptor_, -1); }
    void reset(int descriptor);

  private:
    int descriptor_ = -1;
};

/// One accepted connection: its non-blocking socket, and its place in the count of open ones, which
/// it holds until it is destroyed, also when the descriptor has been handed on.
class Accepted {
  public:
    Accepted(Descriptor descriptor, std::atomic<std::size_t>& open)
        : descriptor_(std::move(descriptor)), open_(&open) {
        ++*open_;
    }
    Accepted(Accepted&& other) noexcept
        : descriptor_(std::move(other.descriptor_)), open_(std::exchange(other.open_, nullptr)) {}
    Accepted& operator=(Accepted&&) = delete;
    ~Accepted() {
        descriptor_.reset(-1);
        if (open_ != nullptr) {
            --*open_;
        }
    }

    int get() const { return descriptor_.get(); }
    /// Hands the descriptor on; the new owner closes it.
    int release() { return descriptor_.release(); }

  private:
    Descriptor descriptor_;
    std::atomic<std::size_t>* open_;
};

/// Raises the limit on open descriptors of this process as far as it may, and returns it.
std::size_t raise_descriptor_limit();
/// The CPUs that this process may run on (its affinity mask).
unsigned usable_cpus();
/// Bytes that the socket holds and nobody has received yet.
std::size_t unread_bytes(int descriptor);
/// Whether the kernel calls the socket writable: a good part of its buffer is free. A few bytes may
/// go through before that, but a peer that does not read must not live on them.
bool is_writable(int descriptor);
/// Whether the socket speaks IPv6.
bool is_ipv6(int descriptor);
/// Whether a kept connection may be used again: the peer has neither closed it nor sent anything.
bool is_quiet(int descriptor);

}  // namespace common::net
