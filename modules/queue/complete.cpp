// Completing leases: one, or many in one call.

#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/holder_request.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"
#include "svc/attempt.hpp"

#include <algorithm>
#include <numeric>

namespace svc::queue {

namespace {

struct Completion {
    std::string lease_token;
    std::optional<Uuid> target_column_id;
    std::optional<LeaseResultData> result;
    std::optional<LeaseCost> cost;
    std::optional<std::string> comment;
};
SVC_RECORD(
    Completion,
    (lease_token, token_doc, length(1, 100), secret),
    (target_column_id, "Where the card goes; where its column sends completed cards if left out."),
    (result, "What came of it: an object of at most 64 KiB."),
    (cost, "What it cost, as far as you know; kept with the attempt."),
    (comment,
     "Said about the card, as Markdown, as create_comment does.",
     length(1, boards::CardComments::most_characters))
);

struct CompleteLeaseRequest {
    Uuid lease_id;
    Completion completion;
};
SVC_RECORD(CompleteLeaseRequest, (lease_id), (completion, "", flatten));

constexpr std::size_t largest_result = 64 << 10;

/// Moves the card on, or leaves it where it is when there is nowhere to go; either way its work
/// here is done.
Settled carry_on(boards::Move& move, const QueueRow& held, Actor& actor) {
    const boards::ColumnRules* to = move.to();
    boards::Card card = to ? move.carry_out(actor) : *move.card();
    return settled_in(std::move(card), to, held.now, std::nullopt);
}

/// A comment that is to be made once the card is where it goes.
std::unique_ptr<boards::CardComments::Comment> comment_of(Call& call, const std::string& markdown) {
    auto* comments = call.kernel().find<boards::CardComments>();
    if (!comments)
        throw wrong_field(call, "comment", "the module for comments (content) is not enabled");
    return comments->read(call, "comment", markdown);
}

LeaseResult complete_one(Call& call, const std::optional<Uuid>& lease, const Completion& in) {
    if (in.result && in.result->text.size() > largest_result)
        throw wrong_field(call, "result", "a result takes at most 64 KiB");
    HolderRequest request(
        call, lease, in.lease_token, in.target_column_id, boards::MoveReason::completed
    );
    const auto comment = in.comment ? comment_of(call, *in.comment) : nullptr;
    if (auto before = request.answered(LeaseState::completed)) return *before;
    request.require_open_board();
    if (in.target_column_id) request.require(boards::BoardRole::editor);
    if (in.comment) request.require(boards::BoardRole::viewer);
    if (in.target_column_id && !request.move().to())
        throw wrong_field(call, "target_column_id", "the card's board has no such column");

    Lease after =
        ended(lease_of(call.org(), request.held()), LeaseState::completed, request.held().now);
    after.result = in.result;
    after.cost = in.cost;
    return request.end(lease_completed, after, [&](Actor& actor) {
        auto settled = carry_on(request.move(), request.held(), actor);
        if (comment) comment->write(call, settled.card, request.held().now);
        return settled;
    });
}

LeaseResult complete(Call& call, const CompleteLeaseRequest& in) {
    return complete_one(call, in.lease_id, in.completion);
}

// -------------------------------------------------------------------------- many in one call

struct CompleteLeasesRequest {
    std::vector<Completion> leases;
};
SVC_RECORD(
    CompleteLeasesRequest, (leases, "Each by its token, whatever its board.", length(1, 25))
);

struct CompletedLease {
    std::int64_t index = 0;
    std::int64_t status = 200;
    std::optional<AsJson<Lease>> lease;
    std::optional<JsonText> error;
};
SVC_RECORD(
    CompletedLease,
    (index, "Its place among the leases of the request, beginning with 0."),
    (status, "What complete_lease would have answered."),
    (lease, "As it is now; null when it was not completed."),
    (error, "The body of the refusal; null when it went well.")
);

struct LeaseBatch {
    Object<"lease_batch"> object;
    std::int64_t succeeded_count = 0;
    std::int64_t failed_count = 0;
    std::vector<CompletedLease> results;
};
SVC_RECORD(
    LeaseBatch,
    (object),
    (succeeded_count, "How many are completed, by this call or before."),
    (failed_count, "How many were refused; their leases are as they were."),
    (results, "One for each lease of the request, in the same order.")
);

CompletedLease completed(Call& call, std::size_t index, const Completion& in) {
    const InputPart part(call, "\"leases\"," + std::to_string(index));
    CompletedLease done;
    const auto failure =
        attempt(call.tx(), [&] { done.lease = complete_one(call, std::nullopt, in).lease; });
    if (!failure) return done;
    call.note<EndedHere>().tokens.erase(in.lease_token);
    done.lease.reset();
    done.status = failure->status();
    done.error = JsonText{failure->body(call.request_id())};
    return done;
}

/// Rows of queue are locked in the order of the cards, as by the sweeper.
std::vector<std::size_t> in_order_of_cards(const std::vector<Completion>& leases) {
    const auto card_of = [&](std::size_t i) {
        const auto token = LeaseToken::parse(leases[i].lease_token);
        return token ? token->card() : Uuid();
    };
    std::vector<std::size_t> order(leases.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, {}, card_of);
    return order;
}

/// All that the completions lock is locked first, so that two such calls do not hold each other up.
void lock_all(Call& call, const std::vector<Completion>& leases) {
    std::vector<Uuid> cards, columns;
    for (const Completion& each : leases) {
        if (const auto token = LeaseToken::parse(each.lease_token)) cards.push_back(token->card());
        if (each.target_column_id) columns.push_back(*each.target_column_id);
    }
    call.use<boards::Moves>().lock_to_complete(
        call.tx(), boards::BoardCaller::of(call), cards, columns
    );
}

LeaseBatch complete_all(Call& call, const CompleteLeasesRequest& in) {
    lock_all(call, in.leases);
    LeaseBatch batch;
    batch.results.resize(in.leases.size());
    for (const std::size_t i : in_order_of_cards(in.leases)) {
        CompletedLease& done = batch.results[i] = completed(call, i, in.leases[i]);
        done.index = static_cast<std::int64_t>(i);
        ++(done.error ? batch.failed_count : batch.succeeded_count);
    }
    return batch;
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
};

const Operation complete_leases{
    .name = "complete_leases",
    .route = "POST /v1/leases:complete",
    .summary = "Complete up to 25 leases in one call, each by its token.",
    .description =
        "Each lease is completed as by complete_lease, or refused by itself: then `results` has "
        "the refusal and the others are completed all the same. Asking again gives the leases as "
        "they ended.",
    .access = Access::member,
    .idempotent = true,
    .body_limit = 4 << 20,
    .handler = complete_all,
};

}  // namespace svc::queue
