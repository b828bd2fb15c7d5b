#include "common/http/session_loop.hpp"
#include "common/net/control.hpp"
#include "common/options.hpp"
#include "downstream_stub/stub_session.hpp"

using namespace common;

namespace {

/// The stub's connections live on one loop: it must stay simple, and one thread is far from busy.
class StubFrontEnd final : public net::FrontEnd {
  public:
    StubFrontEnd(http::Context& context, const downstream_stub::StubOptions& options)
        : loop_(context,
                [this](http::SessionLoop& loop, net::Accepted accepted) {
                    return std::make_shared<downstream_stub::StubSession>(loop, stub_,
                                                                          std::move(accepted));
                }),
          stub_(options, loop_.io()) {}

    ~StubFrontEnd() override { loop_.stop(); }

    void adopt(net::Accepted connection) override { loop_.adopt(std::move(connection)); }
    void drain() override { loop_.drain(); }
    void abandon() override { loop_.abandon(); }

  private:
    http::SessionLoop loop_;
    downstream_stub::Stub stub_;
};

}  // namespace

int main(int argc, char** argv) {
    CommandLine line("downstream_stub", "The slow service that GET /wait calls");
    downstream_stub::StubOptions stub_options;
    SharedOptions options;
    line.add_duration("--delay", stub_options.delay, "Every answer of GET / waits this long");
    line.add_duration("--jitter", stub_options.jitter, "and up to this much more, evenly spread");
    line.add_number<std::size_t>("--body-bytes", stub_options.body_bytes, 31, 1024 * 1024,
                                 "Length of the JSON body");
    line.add_text(
        "--fault", "none",
        [&stub_options](const std::string& text) -> std::string {
            auto faults = downstream_stub::parse_fault_rates(text);
            if (!faults) {
                return "a fault needs KIND:RATE, such as reset:0.01 "
                       "(reset, stall, truncate, garbage, 500, close), and all rates together at "
                       "most 1";
            }
            stub_options.faults = std::move(*faults);
            return {};
        },
        "KIND:RATE[,KIND:RATE...]; also per request: GET /?fault=KIND");
    line.add_listening_options(options, 9000);
    if (const auto status = line.parse(argc, argv)) {
        return *status;
    }
    return line.guarded([&] {
        http::Context context{.model = "downstream_stub", .deadlines = options.deadlines};
        net::Control control(line.control_options(options), context);
        StubFrontEnd front_end(context, stub_options);
        return control.run(front_end);
    });
}
