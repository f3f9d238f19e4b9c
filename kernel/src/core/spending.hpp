#pragma once

#include "core/who.hpp"
#include "svc/budgets.hpp"

namespace svc::core {

struct Flight;

/// What one run takes from its caller's budgets. A request counts whatever becomes of it; a write
/// that was not kept is given back.
class Spending {
public:
    Spending(Kernel::Impl& kernel, Flight& flight) : kernel_(kernel), flight_(flight) {}
    ~Spending();
    Spending(const Spending&) = delete;
    Spending& operator=(const Spending&) = delete;

    enum class Kind { read, write };
    /// Takes what the flight has not been charged for yet. Failure 429 when there is too little.
    void take(const Who& who, Kind kind);
    /// Gives all of it back: the caller is somebody else.
    void undo();
    /// The write is committed.
    void keep() { taken_.writes = 0; }

private:
    Kernel::Impl& kernel_;
    Flight& flight_;
    Uuid payer_;
    Budgets::Cost taken_;
};

}  // namespace svc::core
