#pragma once

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/basic_stream_socket.hpp>
#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <chrono>

/// The names of asynchronous code. The executor is a concrete type everywhere: a type-erased one
/// would cost an indirect call and a reference count on every operation.
namespace stackless {

namespace asio = boost::asio;
using boost::system::error_code;
using Clock = std::chrono::steady_clock;
using Instant = Clock::time_point;

using Executor = asio::io_context::executor_type;
using Socket = asio::basic_stream_socket<asio::ip::tcp, Executor>;
using Timer = asio::basic_waitable_timer<Clock, asio::wait_traits<Clock>, Executor>;
template <class Value = void>
using Awaitable = asio::awaitable<Value, Executor>;

/// Makes `co_await` return an operation's error beside its result, instead of throwing it.
inline constexpr asio::as_tuple_t<asio::use_awaitable_t<Executor>> kErrorAsValue{
    asio::use_awaitable_t<Executor>()};

}  // namespace stackless
