#pragma once

#include <boost/beast/http/basic_parser.hpp>
#include <optional>
#include <string>

#include "common/app/call.hpp"

namespace common::http {

/// Beast's request parser, keeping the few things a request means here and adding the checks in
/// which Beast is more lenient than RFC 9112. Not reusable: one parser, one request.
class RequestParser final : public boost::beast::http::basic_parser<true> {
  public:
    RequestParser();

    /// As `put`, but the limit on the header holds for the whole of it, however it is cut into
    /// pieces: Beast's begins anew with every call. And a line that ends with LF alone is refused
    /// at once, where Beast would wait for the CR LF that its sender has no mind to send. Returns
    /// the bytes used; the next call must begin with those that were not.
    std::size_t take(boost::asio::const_buffer bytes, boost::beast::error_code& error);

    /// What was read; valid once the parser is done, as long as the parser lives.
    app::Request request() const { return {method_, target_, body_}; }
    bool http_1_0() const { return version_ < 11; }
    bool head_only() const { return method_ == "HEAD"; }
    bool expects_continue() const { return expects_continue_; }
    /// The answer to bytes that made `put` fail with `error`.
    app::Answer refusal(const boost::system::error_code& error) const;

  private:
    using error_code = boost::beast::error_code;
    using string_view = boost::beast::string_view;

    void on_request_impl(boost::beast::http::verb, string_view method, string_view target,
                         int version, error_code& error) override;
    void on_field_impl(boost::beast::http::field name, string_view, string_view value,
                       error_code& error) override;
    void on_header_impl(error_code& error) override;
    std::size_t on_body_impl(string_view bytes, error_code& error) override;
    std::size_t on_chunk_body_impl(std::uint64_t remain, string_view bytes,
                                   error_code& error) override;
    void on_chunk_header_impl(std::uint64_t, string_view, error_code&) override {}
    void on_body_init_impl(const boost::optional<std::uint64_t>&, error_code&) override {}
    void on_finish_impl(error_code&) override {}
    void on_response_impl(int, string_view, int, error_code&) override {}

    std::size_t put_within_limits(boost::asio::const_buffer bytes, error_code& error);
    std::size_t put_body(boost::asio::const_buffer bytes, error_code& error);
    bool has_bare_line_feed(std::string_view unused);
    void refuse(int status, std::string_view text, error_code& error);
    void check_transfer_encoding(string_view value, error_code& error);

    std::string method_;
    std::string target_;
    std::string body_;
    std::optional<app::Answer> refusal_;
    int version_ = 11;  ///< ten times major plus minor, as Beast counts
    std::size_t header_bytes_ = 0;
    std::size_t looked_at_bytes_ = 0;  ///< of those not used so far, for a bare line feed
    unsigned hosts_ = 0;
    unsigned transfer_encodings_ = 0;
    bool expects_continue_ = false;
    bool in_trailer_ = false;
};

}  // namespace common::http
