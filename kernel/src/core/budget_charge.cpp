#include "core/budget_charge.hpp"

#include "core/run.hpp"

#include <utility>

namespace svc::core {

Charge::Charge(Charge&& from) noexcept
    : budgets_(from.budgets_),
      payer_(from.payer_),
      as_of_(from.as_of_),
      cost_(std::exchange(from.cost_, {})) {}

Charge& Charge::operator=(Charge&& from) noexcept {
    std::swap(budgets_, from.budgets_);
    std::swap(payer_, from.payer_);
    std::swap(as_of_, from.as_of_);
    std::swap(cost_, from.cost_);
    return *this;
}

void Charge::take(Budgets& budgets, const Caller& payer, const Budgets::Cost& more) {
    budgets.take(payer, more);
    budgets_ = &budgets;
    payer_ = payer.id;
    as_of_ = payer.as_of;
    cost_.requests += more.requests;
    cost_.writes += more.writes;
}

void Charge::give_back(const Budgets::Cost& cost) {
    if (cost != Budgets::Cost{}) budgets_->give_back(payer_, cost);
    cost_ = {};
}

BudgetCharge::BudgetCharge(Kernel::Impl& kernel, RequestContext& request_context)
    : kernel_(kernel),
      request_context_(request_context),
      charge_(std::move(request_context.charge)) {}

void BudgetCharge::take(const CallerResolver& who, Kind kind) {
    const Caller* caller = who.caller();
    if (!kernel_.budgets || !caller) return;
    if (!charge_.is_of(*caller)) undo();
    const Budgets::Cost cost{
        .requests = request_context_.requests_due - request_context_.requests_paid,
        .writes = kind == Kind::write ? 1 - charge_.cost().writes : 0,
    };
    if (cost == Budgets::Cost{}) return;
    charge_.take(*kernel_.budgets, *caller, cost);
    request_context_.requests_paid += cost.requests;
}

void BudgetCharge::leave_to_next() { request_context_.charge = std::move(charge_); }

void BudgetCharge::undo() {
    request_context_.requests_paid -= charge_.cost().requests;
    charge_.undo();
}

}  // namespace svc::core
