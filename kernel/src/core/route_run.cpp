#include "core/route_run.hpp"

#include "core/spending.hpp"
#include "core/stream_keeper.hpp"

namespace svc::core {

RouteRun::RouteRun(Kernel& kernel, const Route& route, http::Exchange& exchange, Flight& flight)
    : kernel_(kernel), route_(route), exchange_(exchange), flight_(flight) {}

http::Answer RouteRun::answer() {
    if (route_.access == Access::anyone) return route_.handle(*this);
    who_.emplace(kernel_.impl(), request(), org_in_header(request(), bad_workspace_));
    take_turn(kernel_.impl(), exchange_, flight_, *who_);
    Spending spending(kernel_.impl(), flight_);
    constexpr int most_attempts = 3;
    for (int number = 1; number <= most_attempts; ++number) {
        try {
            return attempt(spending);
        } catch (const StaleIdentity&) {
            exchange_.stream = nullptr;
            spending.undo();
        } catch (...) {
            exchange_.stream = nullptr;
            throw;
        }
    }
    throw Failure(Fault::unavailable, "Your rights are changing just now; try again.")
        .with_header("Retry-After", "1");
}

http::Answer RouteRun::attempt(Spending& spending) {
    invocations_ = 0;
    flight_.ticket = kernel_.impl().waits.ticket();
    who_->authenticate();
    who_->check_csrf(request());
    take(spending);
    if (bad_workspace_) throw *bad_workspace_;
    check_access(route_.access, *who_);
    http::Answer answer = route_.handle(*this);
    if (exchange_.stream) keep_the_stream();
    who_->confirm();
    return answer;
}

/// Too little on a hint that is no longer true is not too little.
void RouteRun::take(Spending& spending) {
    try {
        spending.take(*who_, Spending::Kind::read);
    } catch (const Failure&) {
        who_->confirm();
        throw;
    }
}

/// Whose stream it is is known from before the caller is confirmed.
void RouteRun::keep_the_stream() {
    exchange_.stream = [held = kernel_.impl().streams->enter(*who_),
                        started = std::move(exchange_.stream)](const auto& stream) {
        started(stream);
        held->attach(stream);
    };
}

Invoked RouteRun::invoke(const Invocation& invocation) {
    const Declared* declared = kernel_.find_operation(invocation.operation);
    if (!declared || !declared->operation->tool) {
        const Failure failure(
            Fault::not_found, "There is no operation " + std::string(invocation.operation) + "."
        );
        return {failure.status(), failure.body(flight_.request_id)};
    }
    // A message that holds one call is one request.
    flight_.requests_due = std::max(flight_.requests_due, ++invocations_);
    const http::Request& from = request();
    std::shared_ptr<void> own_work;
    Invoked invoked = invoke_within(
        {.kernel = kernel_,
         .operation = *declared->operation,
         .who = *who_,
         .flight = flight_,
         .surface = invocation.surface,
         .client_address = from.client_address,
         .user_agent = from.header("user-agent"),
         .may_park = invocation.may_wait,
         .own_work = invocation.may_wait ? &flight_.own_work : &own_work,
         .invocation = &invocation},
        invocation.arguments
    );
    flight_.own_work.reset();
    return invoked;
}

void RouteRun::become_stream(std::function<void(std::shared_ptr<http::Stream>)> started) {
    exchange_.stream = std::move(started);
}

}  // namespace svc::core
