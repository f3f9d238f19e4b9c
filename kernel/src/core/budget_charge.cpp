#include "core/budget_charge.hpp"

#include "core/run.hpp"

#include <utility>

namespace svc::core {

BudgetCharge::BudgetCharge(Kernel::Impl& kernel, RequestContext& request_context)
    : kernel_(kernel),
      request_context_(request_context),
      payer_(request_context.payer),
      taken_(std::exchange(request_context.charged, {})) {}

BudgetCharge::~BudgetCharge() {
    if (taken_.writes) kernel_.budgets->give_back(payer_, {0, taken_.writes});
}

void BudgetCharge::take(const CallerResolver& who, Kind kind) {
    const Caller* caller = who.caller();
    if (!kernel_.budgets || !caller) return;
    const Budgets::Cost cost{
        .requests = request_context_.requests_due - request_context_.requests_paid,
        .writes = kind == Kind::write ? 1 - taken_.writes : 0,
    };
    if (cost == Budgets::Cost{}) return;
    kernel_.budgets->take(*caller, cost);
    payer_ = caller->id;
    taken_.requests += cost.requests;
    taken_.writes += cost.writes;
    request_context_.requests_paid += cost.requests;
}

void BudgetCharge::leave_to_next() {
    request_context_.payer = payer_;
    request_context_.charged = std::exchange(taken_, {});
}

void BudgetCharge::undo() {
    if (taken_ == Budgets::Cost{}) return;
    kernel_.budgets->give_back(payer_, taken_);
    request_context_.requests_paid -= taken_.requests;
    taken_ = {};
}

}  // namespace svc::core
