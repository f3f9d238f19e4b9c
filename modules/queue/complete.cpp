// Completing a lease.

#include "modules/queue/completion.hpp"
#include "modules/queue/operations.hpp"

#include <list>
#include <set>
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
    const bool plain = !in.completion.comment && LeaseToken::parse(in.completion.lease_token);
    if (!plain || completions_are_asked_about(call)) return std::nullopt;
    return "";
}

/// Those that are refused, and those behind another of the same card, go by themselves.
std::vector<std::optional<LeaseResult>> complete_each(
    Call& call, std::span<const JointRequest<CompleteLeaseRequest>> requests
) {
    std::list<LeaseCompletion> leases;
    std::vector<std::size_t> numbers;  // of the requests that these are of
    std::vector<LeaseOfCard> cards;
    std::set<Uuid> seen;
    for (std::size_t i = 0; i < requests.size(); ++i) {
        const auto& [in, request_id] = requests[i];
        LeaseCompletion& one = leases.emplace_back(call, in.lease_id, in.completion, request_id);
        if (!seen.insert(one.wish().card).second) continue;
        numbers.push_back(i);
        cards.push_back({one.wish(), &one});
    }
    std::vector<std::size_t> completed;  // of the cards
    complete_together(call, cards, [&](std::size_t at, HeldCard found, TellingAtTheEnd& actor) {
        if (!found.row) return false;
        try {
            cards[at].lease->decide(std::move(found), actor);
        } catch (const Failure& failure) {
            if (failure.status() >= 500) throw;
            return false;
        }
        completed.push_back(at);
        return true;
    });
    std::vector<std::optional<LeaseResult>> results(requests.size());
    for (const std::size_t at : completed) results[numbers[at]] = cards[at].lease->result();
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
