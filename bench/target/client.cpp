#include "bench/target/client.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/core/tcp_stream.hpp>
#include <boost/beast/http.hpp>
#include <chrono>

#include "bench/limits.hpp"

namespace bench::target {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::beast::error_code;
using Clock = std::chrono::steady_clock;

/// Asynchronous calls, because only those know a deadline, run one at a time to their end.
class Client {
  public:
    error_code connect(int port) {
        stream_.expires_after(limits::kRequest);
        return run([&](auto done) {
            stream_.async_connect(
                {asio::ip::address_v4::loopback(), static_cast<asio::ip::port_type>(port)},
                [done](error_code error) { done(error); });
        });
    }

    error_code get(const std::string& path, Answer& answer) {
        http::request<http::empty_body> request(http::verb::get, path, 11);
        request.set(http::field::host, "127.0.0.1");
        http::response_parser<http::string_body> parser;
        parser.body_limit(limits::kAnswerBytes);
        stream_.expires_after(limits::kRequest);
        const auto with_bytes = [](auto done) {
            return [done](error_code error, std::size_t) { done(error); };
        };
        if (const auto error =
                run([&](auto done) { http::async_write(stream_, request, with_bytes(done)); })) {
            return error;
        }
        const auto error =
            run([&](auto done) { http::async_read(stream_, buffer_, parser, with_bytes(done)); });
        answer = {parser.get().result_int(), parser.get().body()};
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

    asio::io_context io_;
    boost::beast::tcp_stream stream_{io_};
    boost::beast::flat_buffer buffer_;
};

}  // namespace

Result<Answer> get(int port, const std::string& path) {
    Client client;
    Answer answer;
    error_code error = client.connect(port);
    if (!error) {
        error = client.get(path, answer);
    }
    if (error) {
        return Result<Answer>::failed("GET " + path + ": " + error.message());
    }
    return answer;
}

Result<std::vector<double>> time_gets(int port, const std::string& path, int count) {
    Client client;
    error_code error = client.connect(port);
    std::vector<double> seconds;
    for (int i = 0; i < count && !error; ++i) {
        Answer answer;
        const auto start = Clock::now();
        error = client.get(path, answer);
        seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    if (error) {
        return Result<std::vector<double>>::failed("GET " + path + ": " + error.message());
    }
    return seconds;
}

}  // namespace bench::target
