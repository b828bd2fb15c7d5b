#include "common/http/dispatch.hpp"

#include <new>

#include "common/app/routing.hpp"
#include "common/rare_warning.hpp"

namespace common::http {
namespace {

struct Answerer {
    const Context& context;

    Immediate operator()(app::Health) const {
        return {app::healthy(context.model), app::Endpoint::health};
    }
    Immediate operator()(app::Metrics) const {
        std::string text = context.metrics.text();
        context.append_model_metrics(text);
        return {{.content_type = "text/plain; version=0.0.4", .body = std::move(text)},
                app::Endpoint::metrics};
    }
    Immediate operator()(app::Index) const {
        return {app::index_page(context.model), app::Endpoint::index};
    }
    Immediate operator()(app::Answer answer) const {
        return {std::move(answer), app::Endpoint::other};
    }
    std::variant<app::Call, Immediate> operator()(app::Call call) const { return call; }
};

}  // namespace

std::variant<app::Call, Immediate> dispatch(const app::Request& request, const Context& context) {
    return std::visit(
        [&](auto&& route) -> std::variant<app::Call, Immediate> {
            return Answerer{context}(std::move(route));
        },
        app::route(request));
}

app::Answer answer_to_failure(const std::exception& error) {
    static RareWarning warning;
    warning(std::string("a handler failed: ") + error.what());
    return dynamic_cast<const std::bad_alloc*>(&error) != nullptr
               ? app::error(503, "the server has no memory left for this request")
               : app::error(500, "the server failed to answer this request");
}

metrics::Phase phase_of(const app::Call& call) {
    return app::waits(call) ? metrics::Phase::waiting : metrics::Phase::running;
}

}  // namespace common::http
