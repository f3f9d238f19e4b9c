#pragma once

#include "core/caller_resolver.hpp"
#include "svc/budgets.hpp"

namespace svc::core {

struct RequestContext;

/// What somebody was charged. A write is given back when this ends, unless it was made.
class Charge {
public:
    Charge() = default;
    Charge(Charge&& from) noexcept;
    Charge& operator=(Charge&& from) noexcept;
    ~Charge() { give_back({0, cost_.writes}); }

    const Budgets::Cost& cost() const { return cost_; }
    /// By what was known of this caller; when that has changed, so may its budgets have.
    bool is_of(const Caller& caller) const { return payer_ == caller.id && as_of_ == caller.as_of; }
    /// Failure 429 when there is too little, and nothing is taken.
    void take(Budgets& budgets, const Caller& payer, const Budgets::Cost& more);
    void undo() { give_back(cost_); }
    void keep_write() { cost_.writes = 0; }

private:
    void give_back(const Budgets::Cost& cost);

    Budgets* budgets_ = nullptr;
    Uuid payer_;
    std::int64_t as_of_ = 0;  // Caller::as_of
    Budgets::Cost cost_;
};

/// What one run takes from its caller's budgets. A request counts whatever becomes of it; a write
/// that was not kept is given back.
class BudgetCharge {
public:
    /// Goes on with what the request was charged in an earlier run.
    BudgetCharge(Kernel::Impl& kernel, RequestContext& request_context);
    BudgetCharge(const BudgetCharge&) = delete;
    BudgetCharge& operator=(const BudgetCharge&) = delete;

    enum class Kind { read, write };
    /// Takes what the request has not been charged for yet. Failure 429 when there is too little.
    void take(const CallerResolver& who, Kind kind);
    /// Gives all of it back: the caller is somebody else.
    void undo();
    /// The request goes on waiting, for others to make the write: the next run's charge has it, and
    /// if there is none it is given back with the request.
    void leave_to_next();
    /// The write is committed.
    void keep() { charge_.keep_write(); }

private:
    Kernel::Impl& kernel_;
    RequestContext& request_context_;
    Charge charge_;
};

}  // namespace svc::core
