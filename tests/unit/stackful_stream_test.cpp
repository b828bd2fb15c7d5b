#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <boost/asio/error.hpp>
#include <string>
#include <thread>
#include <vector>

#include "stackful/runtime/pinning.hpp"
#include "stackful/runtime/stream.hpp"
#include "stackful_support.hpp"

using namespace stackful::runtime;
using namespace std::chrono_literals;
using boost::asio::ip::tcp;
using boost::system::error_code;
using stackful_test::Running;

namespace {

/// Two connected sockets, non-blocking.
struct Pair {
    Pair() { EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0); }
    int ends[2] = {-1, -1};
};

std::string read_some(Stream& stream, error_code& error, std::size_t capacity = 64) {
    std::string text(capacity, '\0');
    iovec vector{text.data(), text.size()};
    text.resize(stream.read(&vector, 1, error));
    return text;
}

void write_all(Stream& stream, std::string text, error_code& error) {
    std::size_t done = 0;
    while (!error && done < text.size()) {
        iovec vector{text.data() + done, text.size() - done};
        done += stream.write(&vector, 1, error);
    }
}

void echo_until_end(int socket) {
    Stream stream(socket);
    error_code error;
    while (!error) {
        const std::string text = read_some(stream, error);
        if (!error) {
            write_all(stream, text, error);
        }
    }
}

/// Listens on a free loopback port.
int listen_socket(tcp::endpoint& endpoint) {
    const int listener = ::socket(AF_INET, SOCK_STREAM, 0);
    endpoint = tcp::endpoint(boost::asio::ip::address_v4::loopback(), 0);
    EXPECT_EQ(::bind(listener, endpoint.data(), static_cast<socklen_t>(endpoint.size())), 0);
    socklen_t bytes = static_cast<socklen_t>(endpoint.capacity());
    ::getsockname(listener, endpoint.data(), &bytes);
    return listener;
}

// A client that pipelines must not keep its carrier's other connections waiting.
TEST(Stream, WritesThatNeverWaitLeaveTurnsToOthers) {
    Running running(1);
    Pair pair;
    std::atomic<bool> other_has_run = false;
    std::future<void> other;
    running.run([&] {
        Stream stream(pair.ends[0]);
        other = running.spawn(0, [&] { other_has_run = true; });
        error_code error;
        for (int n = 0; n < 64 && !error; ++n) {
            write_all(stream, "a", error);
        }
        EXPECT_FALSE(error);
        EXPECT_TRUE(other_has_run);
    });
    other.get();
    ::close(pair.ends[1]);
}

TEST(Stream, EchoesOverLoopback) {
    Running running(2);
    tcp::endpoint endpoint;
    const int listener = listen_socket(endpoint);
    ASSERT_EQ(::listen(listener, 64), 0);
    constexpr int kConnections = 50;
    std::vector<std::future<void>> clients;
    for (int i = 0; i < kConnections; ++i) {
        clients.push_back(running.spawn(static_cast<std::size_t>(i) % 2, [endpoint, i] {
            Stream stream;
            stream.expires_at(Clock::now() + 20s);
            ASSERT_FALSE(stream.connect(endpoint));
            error_code error;
            for (int turn = 0; turn < 20; ++turn) {
                const std::string text = "hello " + std::to_string(i * turn);
                write_all(stream, text, error);
                EXPECT_EQ(read_some(stream, error), text);
                ASSERT_FALSE(error) << error.message();
                EXPECT_TRUE(stream.is_quiet());
            }
        }));
    }
    for (int i = 0; i < kConnections; ++i) {
        const int socket = ::accept4(listener, nullptr, nullptr, SOCK_NONBLOCK);
        ASSERT_GE(socket, 0);
        running->spawn_on(static_cast<std::size_t>(i) % 2, [socket] { echo_until_end(socket); });
    }
    for (auto& client : clients) {
        client.get();
    }
    ::close(listener);
}

TEST(Stream, RefusedConnectIsAnError) {
    Running running(1);
    tcp::endpoint endpoint;
    const int listener = listen_socket(endpoint);  // bound, but not listening
    running.run([&] {
        Stream stream;
        EXPECT_EQ(stream.connect(endpoint), boost::asio::error::connection_refused);
        EXPECT_FALSE(stream.is_open());
    });
    ::close(listener);
}

TEST(Stream, EndsWithEofAndThenIsNotQuiet) {
    Running running(1);
    Pair pair;
    running.run([&] {
        Stream stream(pair.ends[0]);
        EXPECT_EQ(::write(pair.ends[1], "ab", 2), 2);
        ::close(pair.ends[1]);
        error_code error;
        EXPECT_EQ(read_some(stream, error), "ab");
        EXPECT_FALSE(error);
        EXPECT_EQ(read_some(stream, error), "");
        EXPECT_EQ(error, boost::asio::error::eof);
        EXPECT_FALSE(stream.is_quiet());
    });
}

TEST(Stream, ReadsOnWhenTheBufferWasFull) {
    Running running(1);
    Pair pair;
    running.run([&] {
        Stream stream(pair.ends[0]);
        EXPECT_EQ(::write(pair.ends[1], "abcd", 4), 4);
        error_code error;
        EXPECT_EQ(read_some(stream, error, 2), "ab");
        EXPECT_FALSE(stream.is_quiet());
        EXPECT_EQ(read_some(stream, error, 2), "cd");
        EXPECT_TRUE(stream.is_quiet());
    });
    ::close(pair.ends[1]);
}

TEST(Stream, TimesOutOnAnEmptySocketOnly) {
    Running running(Options{.carriers = 1, .sweep_interval = 5ms});
    Pair pair;
    running.run([&] {
        Stream stream(pair.ends[0]);
        const Instant start = Clock::now();
        stream.expires_at(start + 20ms);
        error_code error;
        read_some(stream, error);
        EXPECT_EQ(error, boost::asio::error::timed_out);
        EXPECT_GE(Clock::now() - start, 20ms);
        EXPECT_LT(Clock::now() - start, 10s);
        // The deadline has passed, but something is there: it is read.
        EXPECT_EQ(::write(pair.ends[1], "ab", 2), 2);
        EXPECT_EQ(read_some(stream, error), "ab");
    });
    ::close(pair.ends[1]);
}

TEST(Stream, AWriteToAFullSocketTimesOut) {
    Running running(Options{.carriers = 1, .sweep_interval = 5ms});
    Pair pair;
    running.run([&] {
        Stream stream(pair.ends[0]);
        stream.expires_at(Clock::now() + 20ms);
        error_code error;
        write_all(stream, std::string(8 << 20, 'x'), error);
        EXPECT_EQ(error, boost::asio::error::timed_out);
    });
    ::close(pair.ends[1]);
}

TEST(Stream, AWriteGoesOnWhenThePeerReads) {
    Running running(2);
    Pair pair;
    constexpr std::size_t kBytes = 4 << 20;
    auto writer = running.spawn(0, [&] {
        Stream stream(pair.ends[0]);
        error_code error;
        write_all(stream, std::string(kBytes, 'x'), error);
        EXPECT_FALSE(error);
    });
    running
        .spawn(1,
               [&] {
                   Stream stream(pair.ends[1]);
                   error_code error;
                   std::size_t got = 0;
                   while (!error) {
                       got += read_some(stream, error, 100'000).size();
                   }
                   EXPECT_EQ(error, boost::asio::error::eof);
                   EXPECT_EQ(got, kBytes);
               })
        .get();
    writer.get();
}

TEST(Stream, AFastSenderLeavesTheOthersTheirTurn) {
    Running running(1);
    Pair pair;
    std::atomic<bool> stop = false;
    std::thread sender([&] {
        const std::string text(4096, 'x');
        while (!stop) {
            [[maybe_unused]] const ssize_t sent = ::write(pair.ends[1], text.data(), text.size());
        }
        ::close(pair.ends[1]);
    });
    auto reader = running.spawn(0, [&] {
        Stream stream(pair.ends[0]);
        error_code error;
        while (!error) {
            read_some(stream, error, 1);
        }
    });
    running.run([] {});
    stop = true;
    sender.join();
    reader.get();
}

TEST(Stream, InterruptEndsOneReadOnly) {
    Running running(1);
    Pair pair;
    std::atomic<Stream*> shared = nullptr;
    auto reader = running.spawn(0, [&] {
        Stream stream(pair.ends[0]);
        shared = &stream;
        error_code error;
        read_some(stream, error);
        EXPECT_EQ(error, boost::asio::error::interrupted);
        EXPECT_EQ(read_some(stream, error), "ab");
    });
    while (shared == nullptr) {
        std::this_thread::sleep_for(1ms);
    }
    std::this_thread::sleep_for(10ms);
    shared.load()->interrupt();
    std::this_thread::sleep_for(10ms);
    EXPECT_EQ(::write(pair.ends[1], "ab", 2), 2);
    reader.get();
    ::close(pair.ends[1]);
}

TEST(Stream, AbandonEndsEveryWait) {
    Running running(2);
    Pair parked;
    Pair pinned;
    auto first = running.spawn(0, [&] {
        Stream stream(parked.ends[0]);
        error_code error;
        read_some(stream, error);
        EXPECT_EQ(error, boost::asio::error::operation_aborted);
    });
    auto second = running.spawn(1, [&] {
        Stream stream(pinned.ends[0]);
        Monitor monitor;
        const std::lock_guard lock(monitor);
        error_code error;
        read_some(stream, error);
        EXPECT_EQ(error, boost::asio::error::operation_aborted);
    });
    std::this_thread::sleep_for(20ms);
    running->abandon();
    first.get();
    second.get();
    ::close(parked.ends[1]);
    ::close(pinned.ends[1]);
}

}  // namespace
