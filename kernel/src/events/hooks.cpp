#include "events/hooks.hpp"

#include "svc/failure.hpp"

#include <algorithm>

namespace svc::events {

void Hooks::veto(Which which, Veto veto) {
    vetoes_.push_back({std::move(which), std::move(veto)});
}

void Hooks::in_transaction(std::string_view kind, TransactionHook hook) {
    in_transaction_.push_back({kind, std::move(hook)});
}

void Hooks::check(Call& call, const Event& event) const {
    if (event.kind->vetoable)
        for (const auto& [which, veto] : vetoes_) {
            if (!which(call, *event.kind)) continue;
            if (Verdict verdict = veto(call, event))
                throw Failure(Fault::conflict, verdict->message)
                    .with_code(std::move(verdict->code));
        }
    for (const auto& [kind, hook] : in_transaction_)
        if (kind == event.kind->name) hook(call, event);
}

bool Hooks::concern(const Call& call, const EventKind& kind) const {
    const auto has_say = [&](const Say& each) { return each.which(call, kind); };
    return (kind.vetoable && std::ranges::any_of(vetoes_, has_say)) ||
           std::ranges::find(in_transaction_, kind.name, &Beside::kind) != in_transaction_.end();
}

}  // namespace svc::events
