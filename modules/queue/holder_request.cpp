#include "modules/queue/holder_request.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"

#include "modules/queue/operations.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

constexpr Sql find_outcome{"queue.find_outcome", R"(
    SELECT digest, state, lease, card FROM lease_outcomes WHERE org_id = $1 AND lease_id = $2)"};

constexpr Sql know_lease{"queue.know_lease", R"(
    SELECT lease_id FROM queue
    WHERE org_id = $1 AND card_id = $2 AND lease_id = $3 AND lease_digest = decode($4, 'hex'))"};

constexpr Sql judge_holder{"queue.judge_holder", R"(
    SELECT )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role,
        b.is_archived AS board_is_archived
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE c.org_id = $1 AND c.id = $5)"};

[[noreturn]] void lost(LeaseState how) {
    throw Failure(
        Fault::lease_lost,
        "The lease is over: it is " + std::string(name_of(how)) +
            ". Leave the card alone; somebody else may have it."
    )
        .with("outcome", std::string(name_of(how)));
}

/// The token is not this lease's.
[[noreturn]] void refuse_token(Call& call, const Uuid& id) {
    const auto lease = find_lease(call, id);
    if (!lease) not_found("lease");
    if (lease->state != LeaseState::active) lost(lease->state);
    throw Failure(
        Fault::restricted,
        "The lease_token is not this lease's; send the one that claim_next_card gave with the "
        "lease."
    )
        .with("reason", "wrong_lease_token");
}

LeaseToken parsed(Call& call, const Uuid& lease, std::string_view text) {
    if (const auto token = LeaseToken::parse(text)) return *token;
    refuse_token(call, lease);
}

}  // namespace

HolderRequest::HolderRequest(
    Call& call,
    const Uuid& lease,
    std::string_view token,
    const std::optional<Uuid>& column,
    boards::MoveReason turn
)
    : call_(call),
      lease_id_(lease),
      token_(parsed(call, lease, token)),
      column_(column),
      turn_(turn) {
    const auto caller = boards::BoardCaller::of(call);
    begin(caller);
    outcome_later_ = call.tx().later<Outcome>(find_outcome, call.org(), lease_id_);
    judged_later_ = caller.later<Judged>(call.tx(), judge_holder, token_.card());
}

void HolderRequest::begin(const boards::BoardCaller& caller) {
    Tx& tx = call_.tx();
    move_ = call_.use<boards::Moves>().begin(
        tx, caller, token_.card(), column_, turn_, call_.use<OwnWatcher>().watcher.get()
    );
    held_later_ = lock_held(tx, caller, token_.card());
}

void HolderRequest::require_open_board() {
    if (!judged()) not_found("lease");
    if (judged()->board_is_archived) throw boards::board_archived();
}

std::optional<LeaseResult> HolderRequest::answered(LeaseState same) {
    held_ = held_later_->one();
    if (!held_ && is_token_known()) {
        // A holder who may no longer edit the board ends the lease all the same.
        begin(boards::BoardCaller::of_system(call_.org()));
        held_ = held_later_->one();
    }
    if (held_ && held_->lease_id == lease_id_) {
        if (!token_.matches(held_->lease_digest.value())) refuse_token(call_, lease_id_);
        return std::nullopt;
    }
    auto outcome = outcome_later_->one();
    if (!outcome || !token_.matches(outcome->digest)) refuse_token(call_, lease_id_);
    if (outcome->state != same || !outcome->card) lost(outcome->state);
    return LeaseResult{{}, std::move(outcome->lease), if_visible(*std::move(outcome->card))};
}

bool HolderRequest::is_token_known() {
    auto known =
        call_.tx().queue(know_lease, call_.org(), token_.card(), lease_id_, token_.digest());
    return known.rows() > 0;
}

LeaseResult HolderRequest::end(
    const EventKind& kind, const Lease& after, const std::function<boards::Card(Actor&)>& change
) {
    const Lease before = lease_of(call_.org(), *held_);
    const Event event = event_of(kind, after, &before);
    CallActor actor(call_);
    actor.check(event);
    boards::Card card = change(actor);
    boards::show(call_.kernel(), card);
    AsJson<boards::Card> shown(card);
    keep_outcome(call_.tx(), after, *held_->lease_digest, shown.text);
    actor.emit(event);
    return {{}, AsJson(after), if_visible(std::move(shown))};
}

const std::optional<Judged>& HolderRequest::judged() {
    if (!judged_) judged_ = judged_later_->one();
    return judged_;
}

/// The lease ends whoever may see the card: that is in everybody's interest.
std::optional<AsJson<boards::Card>> HolderRequest::if_visible(AsJson<boards::Card> card) {
    if (!judged() || !judged()->role) return std::nullopt;
    return card;
}

}  // namespace svc::queue
