#include <gtest/gtest.h>
#include <spdlog/sinks/ostream_sink.h>

#include <algorithm>
#include <new>
#include <sstream>
#include <stdexcept>

#include "common/http/dispatch.hpp"
#include "common/rare_warning.hpp"

using namespace common;

namespace {

/// All that is logged while it lives.
class Log {
  public:
    Log() {
        spdlog::set_default_logger(std::make_shared<spdlog::logger>(
            "test", std::make_shared<spdlog::sinks::ostream_sink_mt>(text_)));
    }
    ~Log() { spdlog::set_default_logger(before_); }
    std::string text() const { return text_.str(); }

  private:
    const std::shared_ptr<spdlog::logger> before_ = spdlog::default_logger();
    std::ostringstream text_;
};

}  // namespace

// An exception means a bug or exhaustion: it costs the one request, in every model.
TEST(HandlerFailure, IsLoggedAndAnswersWith500) {
    const Log log;
    const auto answer = http::answer_to_failure(std::logic_error("a planted bug"));
    EXPECT_EQ(answer.status, 500);
    EXPECT_EQ(answer.body, R"({"error":"the server failed to answer this request"})");
    EXPECT_NE(log.text().find("a planted bug"), std::string::npos) << log.text();
}

TEST(HandlerFailure, OfMemoryIs503) {
    const auto answer = http::answer_to_failure(std::bad_alloc());
    EXPECT_EQ(answer.status, 503);
    EXPECT_NE(answer.body.find("memory"), std::string::npos);
}

TEST(RareWarnings, AreLoggedOnceASecond) {
    const Log log;
    RareWarning warning;
    for (int n = 0; n < 100'000; ++n) {
        warning("it has run out");
    }
    const std::string text = log.text();
    const auto first = text.find("it has run out");
    ASSERT_NE(first, std::string::npos);
    // A slow machine needs more than a second for the loop, and then there is a second line.
    EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 20);
}
