#include "events/hooks.hpp"

#include "svc/failure.hpp"

namespace svc::events {

void Hooks::veto(std::function<bool(const EventKind&)> which, Veto veto) {
    vetoes_.push_back({std::move(which), std::move(veto)});
}

void Hooks::in_transaction(std::string_view kind, TransactionHook hook) {
    in_transaction_.push_back({kind, std::move(hook)});
}

void Hooks::check(Call& call, const Event& event) const {
    if (event.kind->vetoable)
        for (const auto& [which, veto] : vetoes_) {
            if (!which(*event.kind)) continue;
            if (Verdict verdict = veto(call, event))
                throw Failure(Fault::conflict, verdict->message)
                    .with_code(std::move(verdict->code));
        }
    for (const auto& [kind, hook] : in_transaction_)
        if (kind == event.kind->name) hook(call, event);
}

}  // namespace svc::events
