// Completing a lease.

#include "modules/boards/api/events.hpp"
#include "modules/queue/completion.hpp"
#include "modules/queue/operations.hpp"

#include <algorithm>
#include <utility>

namespace svc::queue {

namespace {

struct CompleteLeaseRequest {
    Uuid lease_id;
    Completion completion;
};
SVC_RECORD(CompleteLeaseRequest, (lease_id), (completion, "", flatten));

LeaseResult complete(Call& call, const CompleteLeaseRequest& in) {
    return complete_one(call, in.lease_id, in.completion).result();
}

// ------------------------------------------------------------------- several calls, each for one

std::optional<std::string> completions_alike(Call& call, const CompleteLeaseRequest& in) {
    // What may be refused once something is written is completed by itself.
    const bool hooked = call.has_hooks(lease_completed) || call.has_hooks(boards::card_moved);
    const bool plain = !in.completion.comment && LeaseToken::parse(in.completion.lease_token);
    return plain && !hooked ? std::optional<std::string>("") : std::nullopt;
}

/// Those that are refused, and those behind another of the same card, go by themselves.
std::vector<std::optional<LeaseResult>> complete_each(
    Call& call, std::span<const JointRequest<CompleteLeaseRequest>> requests
) {
    std::vector<boards::MoveWish> cards;
    std::vector<std::pair<std::size_t, LeaseCompletion>> together;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto& [in, request_id] = requests[i];
        LeaseCompletion one(call, in.lease_id, in.completion, request_id);
        const Uuid card = one.wish().card;
        if (std::ranges::find(cards, card, &boards::MoveWish::card) != cards.end()) continue;
        cards.push_back(one.wish());
        together.emplace_back(i, std::move(one));
    }
    auto found = look_at_all(call, cards);
    TellingAtTheEnd actor(call);
    std::vector<LeaseCompletion*> ending;
    std::vector<std::pair<std::size_t, LeaseCompletion*>> answered;
    for (std::size_t at = 0; at < together.size(); ++at) {
        auto& [i, one] = together[at];
        if (!found[at].row) continue;
        try {
            one.decide(std::move(found[at]), actor);
        } catch (const Failure& failure) {
            if (failure.status() >= 500) throw;
            continue;
        }
        answered.emplace_back(i, &one);
        if (one.ending()) ending.push_back(&one);
    }
    carry_out(call, ending, actor);
    std::vector<std::optional<LeaseResult>> results(requests.size());
    for (const auto& [i, one] : answered) results[i] = one->result();
    return results;
}

}  // namespace

const Operation complete_lease{
    .name = "complete_lease",
    .route = "POST /v1/leases/{lease_id}:complete",
    .summary = "Complete a lease and move its card to the next column.",
    .description =
        "Ends the lease and moves the card to `target_column_id`, or to where its "
        "column sends completed cards; naming a column takes the right to edit the board. "
        "`comment` is said about the card in the same moment. Asking again gives the lease as it "
        "ended and the card as it is now. 409 `lease_lost` when the lease ended otherwise, 409 "
        "`wip_limit_reached` when the target is full.",
    .access = Access::member,
    .idempotent = true,
    .worker = true,
    .handler = complete,
    .joint_handler = {completions_alike, complete_each},
};

}  // namespace svc::queue
