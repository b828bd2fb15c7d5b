#include "common/http/connector.hpp"

#include <sys/socket.h>

#include <atomic>
#include <boost/asio/post.hpp>
#include <mutex>

#include "common/http/dispatch.hpp"
#include "common/http/response_head.hpp"
#include "common/http/session_loop.hpp"

namespace common::http {

/// A loop and the way back to it.
class ConnectorLoop {
  public:
    ConnectorLoop(Context& context, Executor& executor);

    SessionLoop& sessions() { return sessions_; }
    Executor& executor() { return executor_; }
    /// Any thread: one inbox, one wake-up a batch.
    void hand_back(std::shared_ptr<ConnectorSession> session);

  private:
    void take_inbox();

    Executor& executor_;
    std::mutex mutex_;
    std::vector<std::shared_ptr<ConnectorSession>> inbox_;
    SessionLoop sessions_;
};

class ConnectorSession final : public AsyncSession {
  public:
    ConnectorSession(ConnectorLoop& connector, net::Accepted accepted)
        : AsyncSession(connector.sessions(), std::move(accepted)), connector_(connector) {}

    void take_back();
    void abandon() override;

    // The worker's side.
    void begin(const app::Call& call);
    void respond(const app::Call& call, const app::Answer& answer);

  private:
    void handle() override;
    std::shared_ptr<ConnectorSession> self() {
        return std::static_pointer_cast<ConnectorSession>(shared_from_this());
    }

    ConnectorLoop& connector_;
    metrics::Phase phase_ = metrics::Phase::queued;
    bool head_only_ = false;
    bool cut_off_ = false;
    /// Whoever sets it first answers: the worker, or the loop when the drain is over.
    std::atomic<bool> answered_ = false;
};

void ConnectorSession::handle() {
    auto dispatched = dispatch(connection().request(), loop().context());
    if (auto* immediate = std::get_if<Immediate>(&dispatched)) {
        connection().answer(immediate->answer, immediate->endpoint);
        return;
    }
    hold();
    head_only_ = connection().request().method == "HEAD";
    answered_ = false;
    phase_ = metrics::Phase::queued;
    loop().context().metrics.enter(phase_);
    connector_.executor().execute(Exchange(self(), std::get<app::Call>(std::move(dispatched))));
}

void ConnectorSession::begin(const app::Call& call) {
    loop().context().metrics.leave(phase_);
    phase_ = phase_of(call);
    loop().context().metrics.enter(phase_);
}

void ConnectorSession::respond(const app::Call& call, const app::Answer& answer) {
    loop().context().metrics.leave(phase_);
    if (!answered_.exchange(true)) {
        connection().answer(answer, app::endpoint_of(call));
        const auto unsent = connection().unsent();
        const auto bytes = ::send(socket().native_handle(), unsent.data(), unsent.size(),
                                  MSG_NOSIGNAL | MSG_DONTWAIT);
        if (bytes > 0) {
            connection().sent(static_cast<std::size_t>(bytes));
        }
    }
    connector_.hand_back(self());
}

void ConnectorSession::take_back() {
    if (cut_off_) {
        finish();
    } else {
        release();
    }
}

void ConnectorSession::abandon() {
    if (held() && !answered_.exchange(true)) {
        cut_off_ = true;
        std::string text;
        append_response(text, app::shutting_down(), {.keep_alive = false, .head_only = head_only_});
        (void)!::send(socket().native_handle(), text.data(), text.size(),
                      MSG_NOSIGNAL | MSG_DONTWAIT);
        ::shutdown(socket().native_handle(), SHUT_WR);
        loop().context().metrics.count(app::Endpoint::other, app::shutting_down().status, {});
    }
}

ConnectorLoop::ConnectorLoop(Context& context, Executor& executor)
    : executor_(executor), sessions_(context, [this](SessionLoop&, net::Accepted accepted) {
          return std::make_shared<ConnectorSession>(*this, std::move(accepted));
      }) {}

void ConnectorLoop::hand_back(std::shared_ptr<ConnectorSession> session) {
    bool first;
    {
        const std::lock_guard lock(mutex_);
        first = inbox_.empty();
        inbox_.push_back(std::move(session));
    }
    if (first) {
        boost::asio::post(sessions_.io(), [this] { take_inbox(); });
    }
}

void ConnectorLoop::take_inbox() {
    std::vector<std::shared_ptr<ConnectorSession>> returned;
    {
        const std::lock_guard lock(mutex_);
        returned.swap(inbox_);
    }
    for (const auto& session : returned) {
        session->take_back();
    }
}

Exchange::Exchange(std::shared_ptr<ConnectorSession> session, app::Call call)
    : session_(std::move(session)), call_(std::move(call)) {}
Exchange::Exchange(Exchange&&) noexcept = default;
Exchange& Exchange::operator=(Exchange&&) noexcept = default;
Exchange::~Exchange() = default;

void Exchange::begin() {
    session_->begin(call_);
}

void Exchange::respond(const app::Answer& answer) {
    session_->respond(call_, answer);
    session_.reset();
}

Connector::Connector(Context& context, Executor& executor, unsigned threads) {
    for (unsigned n = 0; n < threads; ++n) {
        loops_.push_back(std::make_unique<ConnectorLoop>(context, executor));
    }
}

Connector::~Connector() = default;

void Connector::adopt(net::Accepted connection) {
    loops_[next_loop_++ % loops_.size()]->sessions().adopt(std::move(connection));
}

void Connector::drain() {
    for (const auto& loop : loops_) {
        loop->sessions().drain();
    }
}

void Connector::abandon() {
    for (const auto& loop : loops_) {
        loop->sessions().abandon();
    }
}

}  // namespace common::http
