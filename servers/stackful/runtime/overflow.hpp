#pragma once

#include <cstddef>
#include <memory>

namespace stackful::runtime {

/// From now on a fiber that runs over the end of its stack into the guard ends the process with a
/// message that says so, instead of a bare segmentation fault. Does nothing under sanitizers, which
/// report faults themselves. Once per process; any thread.
void report_overflows(std::size_t stack_bytes);

/// Where the calling thread's signal handlers run, since an overflown stack has no room for one.
class SignalStack {
  public:
    SignalStack();
    ~SignalStack();
    SignalStack(const SignalStack&) = delete;
    SignalStack& operator=(const SignalStack&) = delete;

  private:
    std::unique_ptr<std::byte[]> memory_;
};

}  // namespace stackful::runtime
