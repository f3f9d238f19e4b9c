#include "core/spending.hpp"

#include "core/run.hpp"

namespace svc::core {

Spending::~Spending() {
    if (taken_.writes) kernel_.budgets->give_back(payer_, {0, taken_.writes});
}

void Spending::take(const Who& who, Kind kind) {
    const Caller* caller = who.caller();
    if (!kernel_.budgets || !caller) return;
    const Budgets::Cost cost{
        .requests = flight_.requests_due - flight_.requests_paid,
        .writes = kind == Kind::write ? 1 - taken_.writes : 0,
    };
    if (cost == Budgets::Cost{}) return;
    kernel_.budgets->take(*caller, cost);
    payer_ = caller->id;
    taken_.requests += cost.requests;
    taken_.writes += cost.writes;
    flight_.requests_paid += cost.requests;
}

void Spending::undo() {
    if (taken_ == Budgets::Cost{}) return;
    kernel_.budgets->give_back(payer_, taken_);
    flight_.requests_paid -= taken_.requests;
    taken_ = {};
}

}  // namespace svc::core
