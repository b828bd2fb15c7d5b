#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "common/app/call.hpp"
#include "common/http/session_loop.hpp"
#include "downstream_stub/delayed_answers.hpp"
#include "downstream_stub/fault.hpp"

namespace downstream_stub {

struct StubOptions {
    std::chrono::milliseconds delay{20};
    std::chrono::milliseconds jitter{0};  ///< up to this much is added, evenly spread
    std::size_t body_bytes = 140;
    std::vector<FaultRate> faults;
};

/// What every session of the stub's one loop shares.
struct Stub {
    const StubOptions& options;
    common::app::Answer answer;
    DelayedAnswers delayed;
    std::minstd_rand random;

    Stub(const StubOptions& stub_options, boost::asio::io_context& io);
    Fault draw_fault();
    std::chrono::nanoseconds draw_delay();
};

/// One connection of the stub: GET / is answered after the delay, or suffers its fault then;
/// /health and /metrics are answered at once.
class StubSession final : public common::http::AsyncSession {
  public:
    StubSession(common::http::SessionLoop& loop, Stub& stub, common::net::Accepted accepted)
        : AsyncSession(loop, std::move(accepted)), stub_(stub) {}

    /// The delay is over.
    void answer();
    void abandon() override { finish(); }

  private:
    void handle() override;
    void delay_answer(Fault fault);
    void send_raw(std::string_view bytes);
    void close_unanswered(bool reset);

    Stub& stub_;
    Fault fault_ = Fault::none;
};

}  // namespace downstream_stub
