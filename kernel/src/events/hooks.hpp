#pragma once

#include "svc/events.hpp"

#include <string>
#include <vector>

namespace svc::events {

/// What modules have a say in, and what they write beside others' changes, in the order in which it
/// was added. Filled on the main thread while modules open; asked by any thread afterwards.
class Hooks {
public:
    /// Which calls' changes somebody has a say in, by their kind.
    using Which = std::function<bool(const Call&, const EventKind&)>;

    /// `which` is asked of kinds that may be refused alone.
    void veto(Which which, Veto veto);
    void in_transaction(std::string_view kind, TransactionHook hook);

    /// Asks everybody who has a say, and stops at the first that refuses: Failure 409 with its code
    /// and message. Then lets the others write what belongs to the change.
    void check(Call& call, const Event& event) const;
    /// Whether there is anybody that check() would ask about such an event of this call.
    bool concern(const Call& call, const EventKind& kind) const;

private:
    struct Say {
        Which which;
        Veto veto;
    };
    struct Beside {
        std::string_view kind;  // of an EventKind, which is for ever
        TransactionHook hook;
    };
    std::vector<Say> vetoes_;
    std::vector<Beside> in_transaction_;
};

}  // namespace svc::events
