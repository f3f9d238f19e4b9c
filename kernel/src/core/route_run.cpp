#include "core/route_run.hpp"

#include "core/access.hpp"
#include "core/budget_charge.hpp"
#include "core/invoke.hpp"
#include "core/stream_registry.hpp"

#include <algorithm>

namespace svc::core {

namespace {

/// Header or query, as of an operation: where browsers set no header the address names it.
std::optional<Uuid> org_named_by(const http::Request& request, std::optional<Failure>& wrong) {
    const auto by_header = org_in_header(request, wrong);
    const auto query = http::parse_query(request.query);
    if (!query) return by_header;
    const auto named =
        std::ranges::find(*query, "org_id", [](const auto& each) { return each.first; });
    if (named == query->end()) return by_header;
    const auto by_query = Uuid::parse(named->second);
    if (!by_query)
        wrong = Failure::invalid_at(R"(["query","org_id"])", "uuid_parsing", "Should be a UUID");
    else if (by_header && by_header != by_query)
        wrong = Failure::invalid_at(
            R"(["query","org_id"])", "value_error", "X-Svc-Org names another workspace"
        );
    return by_query;
}

}  // namespace

RouteRun::RouteRun(
    Kernel& kernel, const Route& route, http::Exchange& exchange, RequestContext& request_context
)
    : kernel_(kernel), route_(route), exchange_(exchange), request_context_(request_context) {}

std::optional<http::Answer> RouteRun::answer() {
    if (route_.access == Access::anyone) return route_.handle(*this);
    who_.emplace(kernel_.impl(), request(), org_named_by(request(), bad_workspace_));
    if (!take_turn(kernel_.impl(), exchange_, request_context_, *who_)) return std::nullopt;
    BudgetCharge budget_charge(kernel_.impl(), request_context_);
    constexpr int most_attempts = 3;
    for (int number = 1; number <= most_attempts; ++number) {
        try {
            return attempt(budget_charge);
        } catch (const StaleIdentity&) {
            exchange_.stream = nullptr;
            budget_charge.undo();
        } catch (...) {
            exchange_.stream = nullptr;
            throw;
        }
    }
    throw Failure(Fault::unavailable, "Your rights are changing just now; try again.")
        .with_header("Retry-After", "1");
}

http::Answer RouteRun::attempt(BudgetCharge& budget_charge) {
    invocations_ = 0;
    request_context_.ticket = kernel_.impl().wait_queue.ticket();
    who_->authenticate();
    who_->check_csrf(request());
    take(budget_charge);
    if (bad_workspace_) throw *bad_workspace_;
    check_access(route_.access, *who_);
    check_scope();
    http::Answer answer = route_.handle(*this);
    if (exchange_.stream) keep_the_stream();
    else who_->confirm();
    return answer;
}

void RouteRun::check_scope() const {
    if (route_.toolset.empty()) return;
    const ToolScope& scope = who_->caller()->scope;
    const bool reaches = !scope.names_some() ||
                         std::ranges::find(scope.toolsets, route_.toolset) != scope.toolsets.end();
    if (reaches) return;
    throw outside_token_scope(
        "This token is limited to some toolsets, and `" + route_.toolset + "` is none of them."
    );
}

/// Too little on a hint that is no longer true is not too little.
void RouteRun::take(BudgetCharge& budget_charge) {
    try {
        budget_charge.take(*who_, BudgetCharge::Kind::read);
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
    who_->confirm_anew();
}

Invoked RouteRun::invoke(const Invocation& invocation) {
    const Declared* declared = kernel_.find_operation(invocation.operation);
    if (!declared || !declared->operation->tool) {
        const Failure failure(
            Fault::not_found, "There is no operation " + std::string(invocation.operation) + "."
        );
        return {failure.status(), failure.body(request_context_.request_id)};
    }
    // A message that holds one call is one request.
    request_context_.requests_due = std::max(request_context_.requests_due, ++invocations_);
    const http::Request& from = request();
    std::shared_ptr<void> own_work;
    Invoked invoked = invoke_within(
        {.kernel = kernel_,
         .operation = *declared->operation,
         .who = *who_,
         .request_context = request_context_,
         .surface = invocation.surface,
         .client_address = from.client_address,
         .user_agent = from.header("user-agent"),
         .may_park = invocation.may_wait,
         .own_work = invocation.may_wait ? &request_context_.own_work : &own_work,
         .invocation = &invocation},
        invocation.arguments
    );
    request_context_.own_work.reset();
    // A caller whose credential ended meanwhile gets the 401 of the request, not a refusal of the
    // operation: clients get themselves another credential then.
    if (!who_->caller()) who_->authenticate();
    return invoked;
}

void RouteRun::become_stream(std::function<void(std::shared_ptr<http::Stream>)> started) {
    exchange_.stream = std::move(started);
}

}  // namespace svc::core
