// Running what a request turned out to be for.

#include "core/dispatcher.hpp"

#include "core/rest_call.hpp"
#include "core/route_run.hpp"
#include "core/run.hpp"

#include <algorithm>

namespace svc::core {

namespace {

/// What a browser gets that is led through here and cannot go on: the way elsewhere.
http::Answer error_redirect_answer(
    const Kernel& kernel, const Operation& operation, const Failure& failure
) {
    http::Answer answer;
    answer.status = operation.status;
    answer.headers = failure.headers();
    answer.headers.emplace_back("Location", operation.error_redirect(kernel, failure));
    return answer;
}

/// An answer to a read is for its caller and for now: a browser that stored it would show it stale,
/// or to the next person who signs in.
void keep_out_of_caches(http::Answer& answer) {
    const auto says_so = [](const auto& each) { return each.first == "Cache-Control"; };
    if (std::ranges::none_of(answer.headers, says_so))
        answer.headers.emplace_back("Cache-Control", "no-store");
}

}  // namespace

http::Outcome Dispatcher::run_endpoint(
    const Match& match, http::Exchange& exchange, RequestContext& request_context, Served& served
) const {
    const Operation& operation = match.endpoint->operation();
    request_context.endpoint = match.endpoint->number;
    served.name = operation.name;
    if (!operation.error_redirect)
        return run_operation_of(match, exchange, request_context, served);
    try {
        return run_operation_of(match, exchange, request_context, served);
    } catch (const Failure& failure) {
        exchange.answer = error_redirect_answer(kernel_, operation, failure);
    } catch (const std::exception& problem) {
        answer_of_unexpected(problem.what(), request_context.request_id);  // notes it
        exchange.answer = error_redirect_answer(kernel_, operation, Failure(Fault::internal, ""));
    }
    return http::Outcome::answered;
}

http::Outcome Dispatcher::run_operation_of(
    const Match& match, http::Exchange& exchange, RequestContext& request_context, Served& served
) const {
    const http::Request& request = exchange.request();
    const Operation& operation = match.endpoint->operation();
    const bool for_anyone = operation.access == Access::anyone;
    RestCall input(match, request);
    CallerResolver who = for_anyone
                             ? CallerResolver(kernel_.impl())
                             : CallerResolver(kernel_.impl(), request, input.requested_org());
    struct Note {
        Served& served;
        CallerResolver& who;
        ~Note() {
            if (who.caller()) served.caller = *who.caller();
        }
    } note{served, who};
    if (!take_turn(kernel_.impl(), exchange, request_context, who)) return http::Outcome::parked;
    auto answer = run_operation(
        {.kernel = kernel_,
         .operation = operation,
         .who = who,
         .request_context = request_context,
         .surface = Surface::api,
         .request = &request,
         .client_address = request.client_address,
         .user_agent = request.header("user-agent"),
         .may_park = true},
        input
    );
    if (!answer) {  // whoever waits for others leaves its turn to the next
        kernel_.impl().admission.leave(request_context.turn);
        return http::Outcome::parked;
    }
    exchange.answer = *std::move(answer);
    if (!for_anyone) input.not_modified(exchange.answer);
    if (request.method == "GET" || request.method == "HEAD") keep_out_of_caches(exchange.answer);
    return http::Outcome::answered;
}

http::Outcome Dispatcher::run_route(
    const Route& route, http::Exchange& exchange, RequestContext& request_context, Served& served
) const {
    request_context.endpoint = route_numbers_.at(&route);
    served.name = route.path;
    if (exchange.sink_failure) std::rethrow_exception(exchange.sink_failure);
    RouteRun run(kernel_, route, exchange, request_context);
    struct Note {
        Served& served;
        const RouteRun& run;
        ~Note() {
            if (run.caller()) served.caller = *run.caller();
        }
    } note{served, run};
    auto answer = run.answer();
    if (!answer) return http::Outcome::parked;
    exchange.answer = *std::move(answer);
    return http::Outcome::answered;
}

}  // namespace svc::core
