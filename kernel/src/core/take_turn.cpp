#include "core/run.hpp"
#include "svc/rate_limit.hpp"

namespace svc::core {

namespace {

/// Whoever is not known yet is where the request comes from: a credential that was never seen is
/// nobody's.
std::string payer_of(const http::Request& request, const Caller* caller) {
    return caller ? caller->id.str() : network_of(request.client_address);
}

Failure come_back(Failure failure) { return std::move(failure).with_header("Retry-After", "1"); }

}  // namespace

bool take_turn(
    Kernel::Impl& kernel,
    http::Exchange& exchange,
    RequestContext& request_context,
    const CallerResolver& who
) {
    const auto& member = request_context.member;
    if (member) {
        const auto state = member->state();
        if (state == RequestGroups::Member::State::waits) return false;
        if (state == RequestGroups::Member::State::answered) return true;
    }
    const Caller* caller = who.caller();
    const bool room = request_context.room_to_wait;
    const auto verdict = kernel.admission.enter(
        request_context.turn,
        {.principal = payer_of(exchange.request(), caller),
         .known = caller != nullptr,
         .kind = request_context.endpoint,
         .org = caller ? caller->org_id : std::nullopt,
         .bytes = request_context.bytes,
         .resumed = request_context.has_waited,
         .let_in = member != nullptr,
         .resume = request_context.waiter.resume}
    );
    using enum Admission::Verdict;
    switch (verdict) {
        case run: break;
        case wait:
            if (room || member || kernel.stopping) return false;
            kernel.admission.leave(request_context.turn);
            [[fallthrough]];
        case too_many_of_all:
            throw come_back(Failure(
                Fault::unavailable, "More requests are waiting than the server takes; try again."
            ));
        case too_many:
            throw come_back(Failure(
                                Fault::rate_limited,
                                "You have as many requests waiting as one caller may; send fewer "
                                "at once."
                            ))
                .with("rate_limit_reason", "requests_at_once");
    }
    return true;
}

}  // namespace svc::core
