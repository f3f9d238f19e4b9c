#pragma once

#include "core/caller_resolver.hpp"
#include "svc/budgets.hpp"

namespace svc::core {

struct RequestContext;

/// What one run takes from its caller's budgets. A request counts whatever becomes of it; a write
/// that was not kept is given back.
class BudgetCharge {
public:
    BudgetCharge(Kernel::Impl& kernel, RequestContext& request_context);
    ~BudgetCharge();
    BudgetCharge(const BudgetCharge&) = delete;
    BudgetCharge& operator=(const BudgetCharge&) = delete;

    enum class Kind { read, write };
    /// Takes what the request has not been charged for yet. Failure 429 when there is too little.
    void take(const CallerResolver& who, Kind kind);
    /// Gives all of it back: the caller is somebody else.
    void undo();
    /// The request goes on waiting, for others to make the write: the next charge has it.
    void leave_to_next();
    /// The write is committed.
    void keep() { taken_.writes = 0; }

private:
    Kernel::Impl& kernel_;
    RequestContext& request_context_;
    Uuid payer_;
    Budgets::Cost taken_;
};

}  // namespace svc::core
