#include "common/http/response_parser.hpp"

#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <sstream>

#include "common/limits.hpp"
#include "common/rare_warning.hpp"

namespace common::http {

namespace asio_error = boost::asio::error;
using app::DownstreamFailure;

ResponseParser::ResponseParser() {
    header_limit(limits::kDownstreamHeaderBytes);
    body_limit(limits::kDownstreamBodyBytes);
    eager(true);
}

/// Beast's own limit begins anew with every piece that comes.
void ResponseParser::on_field_impl(boost::beast::http::field, string_view name, string_view value,
                                   error_code& error) {
    constexpr std::size_t kPunctuation = 4;  // colon, space, end of line
    header_bytes_ += name.size() + value.size() + kPunctuation;
    if (header_bytes_ > limits::kDownstreamHeaderBytes) {
        error = boost::beast::http::error::header_limit;
    }
}

std::size_t ResponseParser::on_body_impl(string_view bytes, error_code&) {
    body_.append(bytes.data(), bytes.size());
    return bytes.size();
}

app::DownstreamResult ResponseParser::result() && {
    if (status_ < 200) {
        return DownstreamFailure::malformed;  // interim answers come only to those who ask
    }
    if (status_ != 200) {
        return DownstreamFailure::bad_status;
    }
    return std::move(body_);
}

DownstreamFailure failure_of(const boost::system::error_code& error) {
    namespace beast_http = boost::beast::http;
    namespace errc = boost::system::errc;
    if (error == asio_error::timed_out) {
        return DownstreamFailure::timed_out;
    }
    if (error == asio_error::operation_aborted) {
        return DownstreamFailure::shutting_down;
    }
    if (error == beast_http::error::end_of_stream || error == beast_http::error::partial_message ||
        error == asio_error::eof || error == asio_error::connection_reset ||
        error == asio_error::broken_pipe) {
        return DownstreamFailure::lost;
    }
    if (error == asio_error::no_descriptors || error == asio_error::no_buffer_space ||
        error == asio_error::no_memory || error == errc::address_not_available ||
        error == errc::too_many_files_open_in_system) {
        static RareWarning warning;
        warning("cannot call the downstream: " + error.message());
        return DownstreamFailure::exhausted;
    }
    if (error.category() == beast_http::make_error_code(beast_http::error::bad_value).category()) {
        return DownstreamFailure::malformed;
    }
    return DownstreamFailure::refused;
}

bool may_retry(const boost::system::error_code& error, bool kept, std::size_t received_bytes) {
    return kept && received_bytes == 0 && failure_of(error) == DownstreamFailure::lost;
}

std::string downstream_request(const boost::asio::ip::tcp::endpoint& downstream) {
    std::ostringstream text;
    text << "GET / HTTP/1.1\r\nHost: " << downstream << "\r\n\r\n";
    return std::move(text).str();
}

}  // namespace common::http
