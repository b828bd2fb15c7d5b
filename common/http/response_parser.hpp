#pragma once

#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/http/basic_parser.hpp>
#include <string>

#include "common/app/call.hpp"

namespace common::http {

/// Beast's response parser, keeping only what a downstream call needs: status and body. Works with
/// `beast::http::read` and `async_read` as any of Beast's parsers. One parser, one response.
class ResponseParser final : public boost::beast::http::basic_parser<false> {
  public:
    ResponseParser();

    /// The body of a 200, or what the client is told instead. Valid once the parser is done.
    app::DownstreamResult result() &&;
    /// Whether the connection may serve another call. Not after 1xx, which Beast takes for a whole
    /// answer: the real one follows it and would be read as the next call's.
    bool may_be_kept() const { return keep_alive() && status_ >= 200; }

  private:
    using error_code = boost::beast::error_code;
    using string_view = boost::beast::string_view;

    void on_response_impl(int status, string_view, int, error_code&) override { status_ = status; }
    std::size_t on_body_impl(string_view bytes, error_code& error) override;
    std::size_t on_chunk_body_impl(std::uint64_t, string_view bytes, error_code& error) override {
        return on_body_impl(bytes, error);
    }
    void on_request_impl(boost::beast::http::verb, string_view, string_view, int,
                         error_code&) override {}
    void on_field_impl(boost::beast::http::field, string_view name, string_view value,
                       error_code& error) override;
    void on_header_impl(error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    void on_finish_impl(error_code&) override {}

    int status_ = 0;
    std::size_t header_bytes_ = 0;
    std::string body_;
};

/// What a failed exchange with the downstream means.
app::DownstreamFailure failure_of(const boost::system::error_code& error);

/// Whether a failed exchange may be tried once more on a fresh connection: the connection was a
/// kept one, and the downstream closed it before a byte of the answer. GET is idempotent.
bool may_retry(const boost::system::error_code& error, bool kept, std::size_t received_bytes);

/// The request that every model sends to the downstream.
std::string downstream_request(const boost::asio::ip::tcp::endpoint& downstream);

}  // namespace common::http
