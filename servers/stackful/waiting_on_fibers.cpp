// blocking/waiting.hpp on fibers: every wait parks the fiber and gives its carrier back, unless the
// fiber is pinned by a Monitor.

#include <boost/system/system_error.hpp>
#include <utility>

#include "blocking/waiting.hpp"
#include "stackful/runtime/mutex.hpp"
#include "stackful/runtime/pinning.hpp"
#include "stackful/runtime/runtime.hpp"
#include "stackful/runtime/stream.hpp"
#include "stackful/runtime/tasks.hpp"

namespace waiting {

namespace runtime = stackful::runtime;

// [sleep]
void sleep_for(std::chrono::milliseconds duration) {
    runtime::sleep_until(Clock::now() + duration);
}
// [/sleep]

void block_for(std::chrono::milliseconds duration) {
    runtime::block_for(duration);
}

void run_all(std::size_t count, const std::function<void()>& task) {
    runtime::run_all(count, task);
}

struct Mutex::State {
    runtime::Mutex mutex;
};
Mutex::~Mutex() {
    delete state_.load();
}
void Mutex::lock() {
    made_once(state_).mutex.lock();
}
void Mutex::unlock() {
    made_once(state_).mutex.unlock();
}

struct Monitor::State {
    runtime::Monitor monitor;
};
Monitor::~Monitor() {
    delete state_.load();
}
void Monitor::lock() {
    made_once(state_).monitor.lock();
}
void Monitor::unlock() {
    made_once(state_).monitor.unlock();
}

struct TcpStream::State {
    runtime::Stream stream;
};

TcpStream::TcpStream(TcpStream&& other) noexcept : state_(std::exchange(other.state_, nullptr)) {}
TcpStream& TcpStream::operator=(TcpStream&& other) noexcept {
    std::swap(state_, other.state_);
    return *this;
}
TcpStream::~TcpStream() {
    delete state_;
}

bool TcpStream::is_open() const {
    return state_ != nullptr && state_->stream.is_open();
}

void TcpStream::expires_at(Instant deadline) {
    if (state_ == nullptr) {
        state_ = new State;
    }
    state_->stream.expires_at(deadline);
}

bool TcpStream::is_quiet() {
    return state_ != nullptr && state_->stream.is_quiet();
}

void TcpStream::connect(const boost::asio::ip::tcp::endpoint& endpoint, error_code& error) {
    if (state_ == nullptr) {
        state_ = new State;
    }
    error = state_->stream.connect(endpoint);
}

std::size_t TcpStream::read_vectors(iovec* vectors, std::size_t count, error_code& error) {
    return state_->stream.read(vectors, count, error);
}

std::size_t TcpStream::write_vectors(iovec* vectors, std::size_t count, error_code& error) {
    return state_->stream.write(vectors, count, error);
}

void TcpStream::throw_if(const error_code& error) {
    if (error) {
        throw boost::system::system_error(error);
    }
}

}  // namespace waiting
