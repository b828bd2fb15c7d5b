// Everything that a client's bytes reach before a model does: the connection's protocol side, the
// parser and its checks, routing, parameters, the echo JSON, and the answer on its way back.
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>

#include "common/http/dispatch.hpp"
#include "common/http/server_connection.hpp"

using namespace common;
using http::Step;

namespace {

/// A finding of ours: libFuzzer writes down the input that led here.
void require(bool holds, const char* what) {
    if (!holds) {
        std::fprintf(stderr, "does not hold: %s\n", what);
        std::abort();
    }
}

/// What a handler would answer, without the wait.
app::Answer answer_to(const app::Call& call) {
    const auto* echo = std::get_if<app::Echo>(&call);
    return echo != nullptr ? app::answer_of(*echo) : app::ok();
}

void handle(http::ServerConnection& connection, http::Context& context) {
    const app::Request request = connection.request();
    require(request.body.size() <= limits::kBodyBytes, "a body is bounded");
    require(request.target.size() <= limits::kHeaderBytes, "a target is bounded");
    auto dispatched = http::dispatch(request, context);
    if (const auto* immediate = std::get_if<http::Immediate>(&dispatched)) {
        connection.answer(immediate->answer, immediate->endpoint);
    } else {
        const auto& call = std::get<app::Call>(dispatched);
        connection.answer(answer_to(call), app::endpoint_of(call));
    }
}

class Client {
  public:
    /// The first byte says in what pieces the others come and go.
    Client(std::string_view bytes, http::Context& context)
        : piece_bytes_(bytes.empty() ? 1 : static_cast<unsigned char>(bytes.front()) + 1u),
          bytes_(bytes.substr(bytes.empty() ? 0 : 1)),
          context_(context) {}

    void run() {
        http::ServerConnection connection(context_);
        // Each byte can be received once and lead to one answer; each answer is sent in pieces.
        for (std::size_t step = 0; step < 1'000'000; ++step) {
            switch (connection.next()) {
                case Step::receive:
                    receive(connection);
                    break;
                case Step::handle:
                    handle(connection, context_);
                    break;
                case Step::send:
                    send(connection);
                    break;
                case Step::shut_down:
                    connection.was_shut_down();
                    break;
                case Step::close:
                    return;
            }
        }
        require(false, "every connection comes to its end");
    }

  private:
    void receive(http::ServerConnection& connection) {
        if (bytes_.empty()) {
            return connection.received_end();
        }
        const auto buffer = connection.receive_buffer();
        require(buffer.size() > 0, "there is room to receive into");
        const auto bytes = std::min({piece_bytes_, buffer.size(), bytes_.size()});
        std::memcpy(buffer.data(), bytes_.data(), bytes);
        bytes_.remove_prefix(bytes);
        connection.received(bytes);
    }

    void send(http::ServerConnection& connection) {
        const std::string_view unsent = connection.unsent();
        require(!unsent.empty(), "there is something to send");
        if (!inside_an_answer_) {
            require(unsent.starts_with("HTTP/1.1 ") || unsent.starts_with("HTTP/1.0 "),
                    "an answer begins with its status line");
        }
        const std::size_t bytes = std::min<std::size_t>(unsent.size(), piece_bytes_ * 16);
        inside_an_answer_ = bytes < unsent.size();
        connection.sent(bytes);
    }

    const std::size_t piece_bytes_;
    std::string_view bytes_;
    http::Context& context_;
    bool inside_an_answer_ = false;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
    static http::Context context{.model = "fuzzed"};
    Client({reinterpret_cast<const char*>(data), size}, context).run();
    return 0;
}
