#pragma once

#include "core/run.hpp"
#include "http/server.hpp"

namespace svc::core {

class Spending;

/// One run of a Route, with the same promise about identities as operations have.
class RouteRun final : public RouteCall {
public:
    RouteRun(Kernel& kernel, const Route& route, http::Exchange& exchange, Flight& flight);

    /// Runs the handler, again when the caller turns out to be another.
    http::Answer answer();

    const http::Request& request() const override { return exchange_.request(); }
    const std::string& request_id() const override { return flight_.request_id; }
    http::BodySink* body_sink() override { return exchange_.sink; }
    const Caller* caller() const override { return who_ ? who_->caller() : nullptr; }
    Invoked invoke(const Invocation& invocation) override;
    void become_stream(std::function<void(std::shared_ptr<http::Stream>)> started) override;

private:
    http::Answer attempt(Spending& spending);
    void take(Spending& spending);
    void keep_the_stream();

    Kernel& kernel_;
    const Route& route_;
    http::Exchange& exchange_;
    Flight& flight_;
    std::int64_t invocations_ = 0;
    std::optional<Who> who_;
    std::optional<Failure> bad_workspace_;
};

}  // namespace svc::core
