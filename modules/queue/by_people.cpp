// What people do to cards in a queue: hold them, requeue them, revoke leases.

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/moves.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/card_events.hpp"
#include "modules/queue/holder_request.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

// Once the row is locked: the sweeper changes it without the card's lock.
constexpr Sql see_standing{"queue.see_standing", R"(
    SELECT state, attempt AS attempts, available_at, last_error
    FROM queue
    WHERE org_id = $1 AND card_id = $2)"};

/// A card and its place in a queue, locked: first the card, then the row, as everywhere.
class QueuedCard {
public:
    QueuedCard(Call& call, const Uuid& card) : call_(call) {
        const auto caller = boards::BoardCaller::of(call);
        move_ = call.use<boards::Moves>().begin(
            call.tx(),
            caller,
            boards::MoveWish{card, std::nullopt},
            boards::MoveReason::exhausted,
            call.use<OwnWatcher>().watcher.get()
        );
        row_later_ = lock_held(call.tx(), caller, std::vector{card});
    }

    /// Ends the request unless the caller may do that on the card's board.
    void require(boards::BoardRole least, std::string_view thing) {
        const auto rights = move_->rights();
        if (!rights) not_found(thing);
        boards::require(rights->role, least, thing);
        if (rights->board_is_archived) throw boards::board_archived();
        row_ = row_later_->one();
    }

    /// 409 unless the card is in a queue.
    const QueueRow& row() const {
        if (row_ && row_->state != boards::QueueState::idle) return *row_;
        throw Failure(Fault::conflict, "The card is in no queue; move it to a queue column first.")
            .with("reason", "not_queued");
    }
    /// The card as it is without a lease, and how it stands now that all is locked.
    boards::Card unleased() {
        boards::Card card = *move_->card();
        if (auto now = call_.tx().one<boards::CardQueue>(see_standing, card.org_id, card.id))
            card.queue = *std::move(now);
        card.lease.reset();
        return card;
    }
    bool is_leased_as(const Uuid& lease) const { return row_ && row_->lease_id == lease; }
    const boards::Card& card() { return *move_->card(); }

private:
    Call& call_;
    std::unique_ptr<boards::Move> move_;
    std::optional<DeferredRows<QueueRow>> row_later_;
    std::optional<QueueRow> row_;
};

struct CardToQueue {
    boards::CardRef card_id;
};
SVC_RECORD(CardToQueue, (card_id, "The card, by its id or its key."));

[[noreturn]] void refuse_leased() {
    throw Failure(
        Fault::conflict, "Somebody works on the card; wait for the lease to end, or revoke it."
    )
        .with("reason", "card_leased");
}

/// Changes how a card stands in its queue, without a version: that is the queue's, not the card's.
boards::Card change(
    Call& call,
    const CardToQueue& in,
    const EventKind& kind,
    void (*how)(boards::CardQueue& standing)
) {
    QueuedCard queued(call, boards::id_of(call, in.card_id));
    queued.require(boards::BoardRole::editor, "card");
    if (queued.row().lease_id) refuse_leased();
    const boards::Card before = queued.unleased();
    boards::Card card = before;
    how(card.queue);
    if (card.queue != before.queue) {
        const Event event =
            changed(kind, before, card).on_board(card.board_id).in_column(card.column_id);
        call.check(event);
        CallActor actor(call);
        stand(call.kernel(), call.tx(), actor, card.org_id, queued.row(), {card.queue});
        call.emit(event);
    }
    boards::show(call.kernel(), card);
    return card;
}

boards::Card hold(Call& call, const CardToQueue& in) {
    return change(call, in, card_held, [](boards::CardQueue& standing) {
        standing.state = boards::QueueState::held;
        standing.available_at.reset();
    });
}

boards::Card requeue(Call& call, const CardToQueue& in) {
    return change(call, in, card_requeued, [](boards::CardQueue& standing) {
        standing.state = boards::QueueState::ready;
        standing.attempts = 0;
        standing.available_at.reset();
    });
}

// ----------------------------------------------------------------------------------- revoke

struct LeaseToRevoke {
    Uuid lease_id;
};
SVC_RECORD(LeaseToRevoke, (lease_id));

/// An agent, whatever its role, is no judge of another's work.
void require_person(Call& call) {
    if (call.caller().is_person()) return;
    throw Failure(
        Fault::restricted,
        "Only a person revokes a lease; an agent gives back its own with release_lease."
    );
}

LeaseResult revoke(Call& call, const LeaseToRevoke& in) {
    const auto found = find_lease(call, in.lease_id);
    if (!found) not_found("lease");
    require_person(call);
    QueuedCard queued(call, found->card_id);
    queued.require(boards::BoardRole::admin, "lease");
    if (!queued.is_leased_as(in.lease_id)) {
        const auto over = find_lease(call, in.lease_id);
        if (!over) not_found("lease");
        if (over->state != LeaseState::revoked) lease_is_over(over->state);
        boards::Card card = queued.card();
        boards::show(call.kernel(), card);
        return {{}, AsJson(*over), AsJson(card)};
    }
    const QueueRow& row = queued.row();
    const Lease before = lease_of(call.org(), row);
    const Lease after = ended(before, LeaseState::revoked, row.now);
    call.check(event_of(lease_revoked, after, &before));
    boards::Card card = queued.unleased();
    card.queue.state = boards::QueueState::ready;
    card.queue.attempts = row.attempt - 1;
    CallActor actor(call);
    end_leases(
        call.kernel(), call.tx(), actor, call.org(), {{&lease_revoked, after, row, {card.queue}}}
    );
    boards::show(call.kernel(), card);
    return {{}, AsJson(after), AsJson(card)};
}

}  // namespace

const Operation hold_card{
    .name = "hold_card",
    .route = "POST /v1/cards/{card_id}:hold",
    .summary = "Hold a card in its queue, so that nobody is given it.",
    .description =
        "For a card that has to wait for a person. It stays held until requeue_card, or until it "
        "is moved to another queue. 409, reason `card_leased`, while somebody works on it.",
    .access = Access::board_editor,
    .idempotent = true,
    .handler = hold,
};

const Operation requeue_card{
    .name = "requeue_card",
    .route = "POST /v1/cards/{card_id}:requeue",
    .summary = "Make a held, exhausted or waiting card ready to be claimed again.",
    .description =
        "Its attempts count from 0 again; `last_error` stays. 409, reason `card_leased`, while "
        "somebody works on it; 409, reason `not_queued`, outside queue columns.",
    .access = Access::board_editor,
    .idempotent = true,
    .handler = requeue,
};

const Operation revoke_lease{
    .name = "revoke_lease",
    .route = "POST /v1/leases/{lease_id}:revoke",
    .summary = "Revoke a lease, so that its holder loses the card.",
    .description =
        "Ends the lease without counting an attempt; the card is ready for others. The holder's "
        "next call is 409 `lease_lost`. Requires a person.",
    .access = Access::board_admin,
    .for_people = true,
    .destructive = true,
    .idempotent = true,
    .handler = revoke,
};

}  // namespace svc::queue
