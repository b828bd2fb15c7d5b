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
    return blocking::handle(call, *downstreams_[runtime::home_index()], context_);
}

}  // namespace stackful
