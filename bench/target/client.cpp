#include "bench/target/client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <charconv>
#include <chrono>

namespace bench::target {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;
using Clock = std::chrono::steady_clock;

/// Asynchronous calls, because only those know a deadline, run one at a time to their end.
class Client {
  public:
    explicit Client(std::chrono::milliseconds patience) : patience_(patience) {}

    error_code connect(const Address& address) {
        error_code error;
        const auto host = asio::ip::make_address_v4(address.host, error);
        if (error) {
            return error;
        }
        stream_.expires_after(patience_);
        return run([&](auto done) {
            stream_.async_connect({host, static_cast<asio::ip::port_type>(address.port)},
                                  [done](error_code failed) { done(failed); });
        });
    }

    error_code ask(const Request& asked, Answer& answer) {
        http::request<http::string_body> request(http::string_to_verb(asked.method), asked.path,
                                                 11);
        request.set(http::field::host, "127.0.0.1");
        request.body() = asked.body;
        request.prepare_payload();
        http::response_parser<http::string_body> parser;
        parser.body_limit(limits::kAnswerBytes);
        stream_.expires_after(patience_);
        std::size_t bytes = 0;
        const auto with_bytes = [&bytes](auto done) {
            return [done, &bytes](error_code error, std::size_t transferred) {
                bytes = transferred;
                done(error);
            };
        };
        if (const auto error =
                run([&](auto done) { http::async_write(stream_, request, with_bytes(done)); })) {
            return error;
        }
        const auto error =
            run([&](auto done) { http::async_read(stream_, buffer_, parser, with_bytes(done)); });
        answer = {parser.get().result_int(), parser.get().body(), bytes};
        return error;
    }

  private:
    template <class Start>
    error_code run(Start start) {
        error_code result;
        io_.restart();
        start([&result](error_code error) { result = error; });
        io_.run();
        return result;
    }

    const std::chrono::milliseconds patience_;
    asio::io_context io_;
    boost::beast::tcp_stream stream_{io_};
    boost::beast::flat_buffer buffer_;
};

}  // namespace

std::optional<Address> parse_url(const std::string& url) {
    const std::string scheme = "http://";
    if (!url.starts_with(scheme)) {
        return std::nullopt;
    }
    const std::string authority =
        url.substr(scheme.size(), url.find('/', scheme.size()) - scheme.size());
    const auto colon = authority.find(':');
    Address address{authority.substr(0, colon), 80};
    if (colon != std::string::npos) {
        const std::string port = authority.substr(colon + 1);
        const auto [end, error] =
            std::from_chars(port.data(), port.data() + port.size(), address.port);
        if (error != std::errc() || end != port.data() + port.size()) {
            return std::nullopt;
        }
    }
    if (address.host == "localhost") {
        address.host = "127.0.0.1";
    }
    error_code error;
    asio::ip::make_address_v4(address.host, error);
    const bool has_port = address.port > 0 && address.port < 65'536;
    return error || !has_port ? std::nullopt : std::optional(address);
}

Result<Answer> ask(const Address& address, const Request& request,
                   std::chrono::milliseconds patience) {
    Client client(patience);
    Answer answer;
    error_code error = client.connect(address);
    if (!error) {
        error = client.ask(request, answer);
    }
    if (error) {
        return Result<Answer>::failed(request.method + " " + request.path + ": " + error.message());
    }
    return answer;
}

Result<std::vector<double>> time_gets(const Address& address, const std::string& path, int count) {
    Client client(limits::kRequest);
    error_code error = client.connect(address);
    std::vector<double> seconds;
    for (int i = 0; i < count && !error; ++i) {
        Answer answer;
        const auto start = Clock::now();
        error = client.ask({.path = path}, answer);
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    if (error) {
        return Result<std::vector<double>>::failed("GET " + path + ": " + error.message());
    }
    return seconds;
}

int unused_port() {
    asio::io_context io;
    asio::ip::tcp::acceptor acceptor(io);
    error_code error;
    acceptor.open(asio::ip::tcp::v4(), error);
    if (!error) {
        acceptor.bind({asio::ip::address_v4::loopback(), 0}, error);
    }
    const auto endpoint = error ? asio::ip::tcp::endpoint() : acceptor.local_endpoint(error);
    return error ? 0 : endpoint.port();
}

}  // namespace bench::target
