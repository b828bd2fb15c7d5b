#include "downstream_stub/delayed_answers.hpp"

#include "downstream_stub/stub_session.hpp"

namespace downstream_stub {
namespace {

/// Instants are rounded up to this, so that a busy stub wakes once for several answers. It stays
/// well inside the half millisecond by which an answer may be late.
constexpr std::chrono::microseconds kSlot{100};

}  // namespace

void DelayedAnswers::add(std::shared_ptr<StubSession> session, Clock::duration delay) {
    const auto due = std::chrono::ceil<std::chrono::microseconds>(Clock::now() + delay);
    const auto past_slot = due.time_since_epoch() % kSlot;
    const auto rounded = past_slot.count() == 0 ? due : due + (kSlot - past_slot);
    const bool earliest = entries_.empty() || rounded < entries_.top().due;
    entries_.push({rounded, added_++, std::move(session)});
    if (earliest) {
        arm();
    }
}

void DelayedAnswers::arm() {
    timer_.expires_at(entries_.top().due);
    timer_.async_wait([this](const boost::system::error_code& error) {
        if (!error) {
            answer_due();
        }
    });
}

void DelayedAnswers::answer_due() {
    const auto now = Clock::now();
    while (!entries_.empty() && entries_.top().due <= now) {
        const std::shared_ptr<StubSession> session = entries_.top().session;
        entries_.pop();
        session->answer();
    }
    if (!entries_.empty()) {
        arm();
    }
}

}  // namespace downstream_stub
