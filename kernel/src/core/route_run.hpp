#pragma once

#include "core/run.hpp"
#include "http/server.hpp"

namespace svc::core {

class BudgetCharge;

/// One run of a Route, with the same promise about identities as operations have.
class RouteRun final : public RouteCall {
public:
    RouteRun(
        Kernel& kernel,
        const Route& route,
        http::Exchange& exchange,
        RequestContext& request_context
    );

    /// Runs the handler, again when the caller turns out to be another. Nothing when the request
    /// waits for its turn.
    std::optional<http::Answer> answer();

    const http::Request& request() const override { return exchange_.request(); }
    const std::string& request_id() const override { return request_context_.request_id; }
    http::BodySink* body_sink() override { return exchange_.sink; }
    const Caller* caller() const override { return who_ ? who_->caller() : nullptr; }
    Invoked invoke(const Invocation& invocation) override;
    void become_stream(std::function<void(std::shared_ptr<http::Stream>)> started) override;

private:
    void check_scope() const;
    http::Answer attempt(BudgetCharge& budget_charge);
    void take(BudgetCharge& budget_charge);
    void keep_the_stream();

    Kernel& kernel_;
    const Route& route_;
    http::Exchange& exchange_;
    RequestContext& request_context_;
    std::int64_t invocations_ = 0;
    std::optional<CallerResolver> who_;
    std::optional<Failure> bad_workspace_;
};

}  // namespace svc::core
