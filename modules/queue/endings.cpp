// What a lease's holder says of it besides complete: renew, fail, release.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/holder_request.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

// ------------------------------------------------------------------------------------- fail

struct FailLeaseRequest {
    Uuid lease_id;
    std::string lease_token;
    std::optional<std::string> error;
    bool retryable = true;
    std::optional<std::int64_t> retry_after_seconds;
    std::optional<LeaseCost> cost;
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
     range(0, 604800)),
    (cost, "What it cost, as far as you know; kept with the attempt.")
);

LeaseResult fail(Call& call, const FailLeaseRequest& in) {
    HolderRequest request(call, in.lease_id, in.lease_token, boards::MoveReason::exhausted);
    if (auto before = request.answered(LeaseState::failed)) return *before;
    const QueueRow& held = request.held();
    std::optional<std::chrono::seconds> pause;
    if (in.retry_after_seconds) pause = std::chrono::seconds(*in.retry_after_seconds);
    const boards::CardQueue standing =
        after_failure(held, in.retryable ? Retry::yes : Retry::no, pause, in.error, random_bits());

    Lease after = ended(lease_of(call.org(), held), LeaseState::failed, held.now);
    after.error = in.error;
    after.cost = in.cost;
    return request.end(lease_failed, after, [&](Actor& actor) {
        return settle(actor, request.move(), held, standing);
    });
}

// ---------------------------------------------------------------------------------- release

struct LeaseAndToken {
    Uuid lease_id;
    std::string lease_token;
};
SVC_RECORD(LeaseAndToken, (lease_id), (lease_token, token_doc, length(1, 100), secret));

LeaseResult release(Call& call, const LeaseAndToken& in) {
    HolderRequest request(call, in.lease_id, in.lease_token, boards::MoveReason::exhausted);
    if (auto before = request.answered(LeaseState::released)) return *before;
    const QueueRow& held = request.held();
    boards::CardQueue standing = request.move().card()->queue;
    standing.state = boards::QueueState::ready;
    standing.attempts = held.attempt - 1;

    const Lease after = ended(lease_of(call.org(), held), LeaseState::released, held.now);
    return request.end(lease_released, after, [&](Actor& actor) {
        return settle(actor, request.move(), held, standing);
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

struct LeaseSignals {
    bool stop = false;
    bool column_paused = false;
    bool card_changed = false;
    std::int64_t card_version = 0;
    std::int64_t new_comment_count = 0;
};
SVC_RECORD(
    LeaseSignals,
    (stop, "Do not go on: the card waits for another one by now. Release the lease."),
    (column_paused, "The column gives out no more cards; this one is yours still."),
    (card_changed, "The card was changed since the claim, by you or somebody else."),
    (card_version, "The card's `version` now."),
    (new_comment_count, "How many more comments the card has than when it was claimed.")
);

struct LeaseRenewal {
    Object<"lease_renewal"> object;
    AsJson<Lease> lease;
    LeaseSignals signals;
};
SVC_RECORD(
    LeaseRenewal,
    (object),
    (lease, "As it is now."),
    (signals, "What a worker ought to know before it goes on.")
);

LeaseSignals signals_of(const LeasedCard& card, const QueueRow& held) {
    const auto comments = card.comment_count - held.claimed_comments.value_or(card.comment_count);
    return {
        .stop = card.has_to_wait,
        .column_paused = held.paused,
        .card_changed = card.version != held.claimed_version.value_or(card.version),
        .card_version = card.version,
        .new_comment_count = std::max<std::int64_t>(comments, 0)
    };
}

LeaseRenewal renew(Call& call, const RenewLeaseRequest& in) {
    HolderRequest request(call, in.lease_id, in.lease_token);
    request.answered(LeaseState::active);  // throws when the lease is over
    request.require_open_board();
    request.require(boards::BoardRole::editor);
    const QueueRow& held = request.held();
    constexpr std::int64_t second = 1'000'000;
    Lease lease = lease_of(call.org(), held);
    lease.lease_ttl_seconds = in.lease_ttl_seconds.value_or(lease.lease_ttl_seconds);
    lease.renewed_at = held.now;
    lease.expires_at = Timestamp{held.now.micros + lease.lease_ttl_seconds * second};
    call.tx().queue(extend, call.org(), held.card_id, in.lease_ttl_seconds);
    return {{}, AsJson(lease), signals_of(request.card(), held)};
}

}  // namespace

const Operation renew_lease{
    .name = "renew_lease",
    .route = "POST /v1/leases/{lease_id}:renew",
    .summary = "Renew a lease, so that the card stays yours for longer.",
    .description =
        "Restarts the lease's time from now, and tells in `signals` what has changed: whether to "
        "stop, whether the card was changed or spoken about, whether the column is paused. "
        "Requires edit access to the board still. 409 `lease_lost` when it is over: stop working "
        "on the card.",
    .access = Access::member,
    .worker = true,
    .handler = renew,
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
    .worker = true,
    .handler = fail,
};

const Operation release_lease{
    .name = "release_lease",
    .route = "POST /v1/leases/{lease_id}:release",
    .summary = "Release a lease without using an attempt.",
    .description = "Ends the lease without counting a try; the card is ready for others at once.",
    .access = Access::member,
    .idempotent = true,
    .worker = true,
    .handler = release,
};

}  // namespace svc::queue
