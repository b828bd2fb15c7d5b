#include "stackful/service.hpp"

#include "blocking/handlers.hpp"

namespace stackful {

using namespace common;

Service::Service(runtime::Runtime& runtime, boost::asio::ip::tcp::endpoint downstream,
                 std::chrono::milliseconds downstream_timeout, http::Context& context)
    : runtime_(runtime), context_(context) {
    for (std::size_t i = 0; i < runtime.schedulers(); ++i) {
        downstreams_.push_back(
            std::make_unique<blocking::Downstream>(downstream, downstream_timeout));
    }
}

app::Answer Service::answer(const app::Call& call) {
    app::Answer answer = blocking::handle(call, *downstreams_[runtime::home_index()], context_);
    // The waits of an abandoned runtime end early, so what came of them is no answer.
    return runtime_.is_abandoned() ? app::shutting_down() : answer;
}

}  // namespace stackful
