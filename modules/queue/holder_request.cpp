#include "modules/queue/holder_request.hpp"
#include "modules/boards/api/blockers.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"

#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

constexpr Sql see_outcome{"queue.find_outcome", R"(
    SELECT )" SVC_ENDED_LEASE("o") R"(, o.digest
    FROM lease_outcomes o
    WHERE o.org_id = $1 AND o.lease_id = $2)"};

// Whoever completes many says the tokens alone. A token names its card and not its lease, and no
// index has digests: one would be written by every ending, for the few that are asked about again.
// So it is looked for among the card's newest 100, because a card that is claimed and released
// again and again has any number; complete_lease, which is told the lease, finds every one that is
// kept.
constexpr Sql see_outcome_by_token{"queue.find_outcome_by_token", R"(
    SELECT )" SVC_ENDED_LEASE("o") R"(, o.digest
    FROM (
        SELECT e.* FROM lease_outcomes e
        WHERE e.org_id = $1 AND e.card_id = $2
        ORDER BY e.ended_at DESC
        LIMIT 100
    ) o
    WHERE o.digest = decode($3, 'hex'))"};

constexpr Sql know_lease{"queue.know_lease", R"(
    SELECT lease_id FROM queue
    WHERE org_id = $1 AND card_id = $2 AND lease_digest = decode($3, 'hex'))"};

// Behind the lock of the lease; what else happens to the card meanwhile the next renewal tells.
constexpr Sql see_leased_card{"queue.see_leased_card", R"(
    SELECT )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role,
        b.is_archived AS board_is_archived, c.version, c.comment_count,
        c.completed_at IS NULL AND c.blocked_by <> '[]'
            AND )" SVC_HAS_OPEN_BLOCKER("c.id") R"( AS has_to_wait
    FROM cards c
    CROSS JOIN LATERAL (
        SELECT o.id, o.visibility, o.created_by, o.is_archived FROM boards o
        WHERE o.org_id = $1 AND o.id = c.board_id AND NOT o.in_trash
        OFFSET 0
    ) b
    )" SVC_BOARD_GRANT_BY_KEY("b.id") R"(
    WHERE c.org_id = $1 AND c.id = $5)"};

/// The token is not this lease's.
[[noreturn]] void refuse_token(Call& call, const std::optional<Uuid>& id) {
    const auto lease = id ? find_lease(call, *id) : std::nullopt;
    if (!lease) not_found("lease");
    if (lease->state != LeaseState::active) lease_is_over(lease->state);
    throw Failure(
        Fault::restricted,
        "The lease_token is not this lease's; send the one that claim_next_card gave with the "
        "lease."
    )
        .with_code("lease_token_invalid");
}

}  // namespace

std::optional<Outcome> outcome_of(Tx& tx, const Uuid& org, const LeaseToken& token) {
    return tx.one<Outcome>(see_outcome_by_token, org, token.card(), token.digest());
}

LeaseToken token_of(Call& call, const std::optional<Uuid>& lease, std::string_view text) {
    if (const auto token = LeaseToken::parse(text)) return *token;
    refuse_token(call, lease);
}

void lease_is_over(LeaseState how) {
    throw Failure(
        Fault::lease_lost,
        "The lease is over: it is " + std::string(name_of(how)) +
            ". Leave the card alone; somebody else may have it."
    )
        .with("outcome", std::string(name_of(how)));
}

std::vector<HeldCard> look_at(
    Call& call,
    const boards::BoardCaller& caller,
    const std::vector<boards::MoveWish>& cards,
    boards::MoveReason turn
) {
    auto moves = call.use<boards::Moves>().begin(
        call.tx(), caller, cards, turn, call.use<OwnWatcher>().watcher.get()
    );
    std::vector<Uuid> ids;
    for (const boards::MoveWish& each : cards) ids.push_back(each.card);
    std::vector<QueueRow> rows = lock_held(call.tx(), caller, ids).all();
    std::vector<HeldCard> found;
    for (std::size_t i = 0; i < cards.size(); ++i) {
        HeldCard& each = found.emplace_back(std::move(moves[i]), std::nullopt);
        const auto row = std::ranges::find(rows, ids[i], &QueueRow::card_id);
        if (row != rows.end()) each.row = std::move(*row);
    }
    return found;
}

HolderRequest::HolderRequest(
    Call& call, const Uuid& lease, std::string_view token, boards::MoveReason turn
)
    : call_(call), lease_id_(lease), token_(token_of(call, lease, token)), turn_(turn) {
    look(boards::BoardCaller::of(call));
}

HolderRequest::HolderRequest(
    Call& call,
    const std::optional<Uuid>& lease,
    const LeaseToken& token,
    const std::optional<Uuid>& column,
    boards::MoveReason turn,
    HeldCard found
)
    : call_(call),
      lease_id_(lease),
      token_(token),
      column_(column),
      turn_(turn),
      found_(std::move(found)),
      rights_(found_.move->rights()) {}

HolderRequest::HolderRequest(Call& call, const Uuid& lease, std::string_view token)
    : call_(call), lease_id_(lease), token_(token_of(call, lease, token)) {
    look(boards::BoardCaller::of(call));
}

/// The rights are the caller's own: none when there is no such card, or its board is in the trash.
void HolderRequest::look(const boards::BoardCaller& caller) {
    Tx& tx = call_.tx();
    const bool own = caller.principal == call_.caller().id;
    if (turn_) {
        found_ = std::move(look_at(call_, caller, {{token_.card(), column_}}, *turn_).front());
        if (own) rights_ = found_.move->rights();
        return;
    }
    auto held = lock_held(tx, caller, {token_.card()});
    auto seen = caller.later<LeasedCard>(tx, see_leased_card, token_.card());
    found_.row = held.one();
    if (!own) return;
    seen_ = seen.one();
    if (seen_) rights_ = boards::CardRights{seen_->role, seen_->board_is_archived};
}

void HolderRequest::require_open_board() {
    if (!rights_) not_found("lease");
    if (rights_->board_is_archived) throw boards::board_archived();
}

std::optional<LeaseResult> HolderRequest::answered(LeaseState same) {
    if (!found_.row && is_token_known()) {
        // A holder who may no longer edit the board ends the lease all the same.
        look(boards::BoardCaller::of_system(call_.org()));
    }
    if (found_.row && is_meant(*found_.row)) {
        if (!token_.matches(found_.row->lease_digest.value())) refuse_token(call_, lease_id_);
        return std::nullopt;
    }
    const auto outcome = find_outcome();
    if (!outcome || !token_.matches(outcome->digest)) refuse_token(call_, lease_id_);
    if (outcome->lease.state != same) lease_is_over(outcome->lease.state);
    LeaseResult again{{}, AsJson(outcome->lease), std::nullopt};
    const boards::Card* card = found_.move ? found_.move->card() : nullptr;
    if (card) again.card = if_visible(*card);
    return again;
}

std::optional<Outcome> HolderRequest::find_outcome() {
    Tx& tx = call_.tx();
    if (lease_id_) return tx.one<Outcome>(see_outcome, call_.org(), *lease_id_);
    return outcome_of(tx, call_.org(), token_);
}

bool HolderRequest::is_token_known() {
    auto known = call_.tx().queue(know_lease, call_.org(), token_.card(), token_.digest());
    return known.rows() > 0;
}

bool HolderRequest::is_meant(const QueueRow& row) const {
    if (lease_id_) return row.lease_id == *lease_id_;
    return row.lease_digest && token_.matches(*row.lease_digest);
}

void HolderRequest::check(const EventKind& kind, const Lease& after) {
    if (call_.has_hooks(kind)) {
        const Lease before = lease_of(call_.org(), held());
        call_.check(event_of(kind, after, &before));
    }
    // What else it does with the card is done by the lease as well, though the lease is over then.
    call_.note<EndedHere>().tokens.insert(token_.str());
}

LeaseResult HolderRequest::end(
    const EventKind& kind, const Lease& after, const std::function<Settled(Actor&)>& change
) {
    check(kind, after);
    CallActor actor(call_);
    Settled settled = change(actor);
    end_leases(
        call_.kernel(),
        call_.tx(),
        actor,
        call_.org(),
        {{&kind, after, held(), std::move(settled.standing)}}
    );
    return result(after, std::move(settled.card));
}

LeaseResult HolderRequest::result(const Lease& after, boards::Card card) const {
    return {{}, AsJson(after), if_visible(std::move(card))};
}

/// The lease ends whoever may see the card: that is in everybody's interest.
std::optional<AsJson<boards::Card>> HolderRequest::if_visible(boards::Card card) const {
    if (!rights_ || !rights_->role) return std::nullopt;
    boards::show(call_.kernel(), card);
    return AsJson(card);
}

}  // namespace svc::queue
