// What a lease's holder says of it: renew, complete, fail, release.

#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/holder_request.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

constexpr std::string_view token_doc = "As claim_next_card gave it.";

// --------------------------------------------------------------------------------- complete

struct CompleteLeaseRequest {
    Uuid lease_id;
    std::string lease_token;
    std::optional<Uuid> target_column_id;
    std::optional<LeaseResultData> result;
    std::optional<std::string> comment;
};
SVC_RECORD(
    CompleteLeaseRequest,
    (lease_id),
    (lease_token, token_doc, length(1, 100), secret),
    (target_column_id, "Where the card goes; where its column sends completed cards if left out."),
    (result, "What came of it: an object of at most 64 KiB."),
    (comment,
     "Said about the card, as Markdown, as create_comment does.",
     length(1, boards::CardComments::most_characters))
);

constexpr std::size_t largest_result = 64 << 10;

/// Moves the card on, or leaves it where it is when there is nowhere to go; either way its work
/// here is done.
boards::Card carry_on(Call& call, boards::Move& move, const QueueRow& held, Actor& actor) {
    const boards::ColumnRules* to = move.to();
    boards::Card card = to ? move.carry_out(actor) : *move.card();
    card.lease.reset();
    card.queue = {};
    if (!to || !to->queue_enabled) {
        take_out(call.tx(), card.org_id, card.id, std::nullopt);
        return card;
    }
    card.queue.state = boards::QueueState::ready;
    queue_up(call.tx(), card, key_of(to->queue_order, card, held.now));
    actor.after_commit([&kernel = call.kernel(), column = to->column_id] { wake(kernel, column); });
    return card;
}

/// A comment that is to be made once the card is where it goes.
std::unique_ptr<boards::CardComments::Comment> comment_of(Call& call, const std::string& markdown) {
    auto* comments = call.kernel().find<boards::CardComments>();
    if (!comments)
        throw wrong_field(call, "comment", "the module for comments (content) is not enabled");
    return comments->read(call, "comment", markdown);
}

LeaseResult complete(Call& call, const CompleteLeaseRequest& in) {
    if (in.result && in.result->text.size() > largest_result)
        throw wrong_field(call, "result", "a result takes at most 64 KiB");
    HolderRequest request(
        call, in.lease_id, in.lease_token, in.target_column_id, boards::MoveReason::completed
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
    return request.end(lease_completed, after, [&](Actor& actor) {
        boards::Card card = carry_on(call, request.move(), request.held(), actor);
        if (comment) comment->write(call, card, request.held().now);
        return card;
    });
}

// ------------------------------------------------------------------------------------- fail

struct FailLeaseRequest {
    Uuid lease_id;
    std::string lease_token;
    std::optional<std::string> error;
    bool retryable = true;
    std::optional<std::int64_t> retry_after_seconds;
};
SVC_RECORD(
    FailLeaseRequest,
    (lease_id),
    (lease_token, token_doc, length(1, 100), secret),
    (error, "What went wrong; shown on the card.", length(0, 2000)),
    (retryable, "False when another attempt is pointless: the card is exhausted at once.", defaulted
    ),
    (retry_after_seconds,
     "How long to keep the card back; the column's own pause if left out.",
     range(0, 604800))
);

LeaseResult fail(Call& call, const FailLeaseRequest& in) {
    HolderRequest request(
        call, in.lease_id, in.lease_token, std::nullopt, boards::MoveReason::exhausted
    );
    if (auto before = request.answered(LeaseState::failed)) return *before;
    const QueueRow& held = request.held();
    std::optional<std::chrono::seconds> pause;
    if (in.retry_after_seconds) pause = std::chrono::seconds(*in.retry_after_seconds);
    const boards::CardQueue standing =
        after_failure(held, in.retryable ? Retry::yes : Retry::no, pause, in.error, random_bits());

    Lease after = ended(lease_of(call.org(), held), LeaseState::failed, held.now);
    after.error = in.error;
    return request.end(lease_failed, after, [&](Actor& actor) {
        return finish_lease(call.kernel(), call.tx(), actor, request.move(), held, standing);
    });
}

// ---------------------------------------------------------------------------------- release

struct LeaseAndToken {
    Uuid lease_id;
    std::string lease_token;
};
SVC_RECORD(LeaseAndToken, (lease_id), (lease_token, token_doc, length(1, 100), secret));

LeaseResult release(Call& call, const LeaseAndToken& in) {
    HolderRequest request(
        call, in.lease_id, in.lease_token, std::nullopt, boards::MoveReason::exhausted
    );
    if (auto before = request.answered(LeaseState::released)) return *before;
    const QueueRow& held = request.held();
    boards::CardQueue standing = request.move().card()->queue;
    standing.state = boards::QueueState::ready;
    standing.attempts = held.attempt - 1;

    const Lease after = ended(lease_of(call.org(), held), LeaseState::released, held.now);
    return request.end(lease_released, after, [&](Actor& actor) {
        return finish_lease(call.kernel(), call.tx(), actor, request.move(), held, standing);
    });
}

// ------------------------------------------------------------------------------------ renew

struct RenewLeaseRequest {
    Uuid lease_id;
    std::string lease_token;
    std::optional<std::int64_t> lease_ttl_seconds;
};
SVC_RECORD(
    RenewLeaseRequest,
    (lease_id),
    (lease_token, token_doc, length(1, 100), secret),
    (lease_ttl_seconds, "From now on; as long as before if left out.", range(5, 86400))
);

// No index has the time in it, so that this stays a heap-only update; no event either.
constexpr Sql extend{"queue.renew", R"(
    UPDATE queue
    SET lease_ttl_seconds = coalesce($3::int, lease_ttl_seconds), renewed_at = now(),
        expires_at = now() + make_interval(secs => coalesce($3::int, lease_ttl_seconds))
    WHERE org_id = $1 AND card_id = $2)"};

LeaseResult renew(Call& call, const RenewLeaseRequest& in) {
    HolderRequest request(
        call, in.lease_id, in.lease_token, std::nullopt, boards::MoveReason::exhausted
    );
    if (auto before = request.answered(LeaseState::active)) return *before;
    request.require_open_board();
    request.require(boards::BoardRole::editor);
    const QueueRow& held = request.held();
    constexpr std::int64_t second = 1'000'000;
    Lease lease = lease_of(call.org(), held);
    lease.lease_ttl_seconds = in.lease_ttl_seconds.value_or(lease.lease_ttl_seconds);
    lease.renewed_at = held.now;
    lease.expires_at = Timestamp{held.now.micros + lease.lease_ttl_seconds * second};
    call.tx().queue(extend, call.org(), held.card_id, in.lease_ttl_seconds);

    boards::Card card = *request.move().card();
    card.lease = boards::CardLease{lease.id, lease.holder, lease.attempt, lease.expires_at};
    boards::show(call.kernel(), card);
    return {{}, AsJson(lease), AsJson(card)};
}

}  // namespace

const Operation renew_lease{
    .name = "renew_lease",
    .route = "POST /v1/leases/{lease_id}:renew",
    .summary = "Renew a lease, so that the card stays yours for longer.",
    .description =
        "Restarts the lease's time from now. Requires edit access to the board still. 409 "
        "`lease_lost` when it is over: stop working on the card.",
    .access = Access::member,
    .handler = renew,
};

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
    .handler = complete,
};

const Operation fail_lease{
    .name = "fail_lease",
    .route = "POST /v1/leases/{lease_id}:fail",
    .summary = "Fail a lease: the card waits and is offered again until its attempts are used up.",
    .description =
        "Ends the lease. The card is tried again after a pause that grows, until its "
        "attempts are used up. Asking again gives the lease as it ended and the card as it is now.",
    .access = Access::member,
    .idempotent = true,
    .handler = fail,
};

const Operation release_lease{
    .name = "release_lease",
    .route = "POST /v1/leases/{lease_id}:release",
    .summary = "Release a lease without using an attempt.",
    .description = "Ends the lease without counting a try; the card is ready for others at once.",
    .access = Access::member,
    .idempotent = true,
    .handler = release,
};

}  // namespace svc::queue
