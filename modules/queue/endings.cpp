// How a lease goes on or ends by its holder's word: renew, complete, fail, release.

#include "modules/queue/operations.hpp"
#include "modules/queue/parts/rows.hpp"
#include "modules/queue/parts/token.hpp"
#include "modules/queue/watcher.hpp"

namespace svc::queue {

namespace {

struct LeaseResult {
    Object<"lease_result"> object;
    boards::AsJson<Lease> lease;
    std::optional<boards::AsJson<boards::Card>> card;
};
SVC_RECORD(
    LeaseResult,
    (object, ""),
    (lease, "As it is now."),
    (card, "As it is now; null when you may no longer see its board.")
);

// ------------------------------------------------------------------------ whose lease it is

constexpr Sql find_outcome{"queue.find_outcome", R"(
    SELECT digest, state, lease, card FROM lease_outcomes WHERE org_id = $1 AND lease_id = $2)"};

struct Outcome {
    std::string digest;
    LeaseState state{};
    boards::AsJson<Lease> lease;
    std::optional<boards::AsJson<boards::Card>> card;
};
SVC_RECORD(Outcome, (digest, ""), (state, ""), (lease, ""), (card, ""));

constexpr Sql judge_holder{"queue.judge_holder", R"(
    SELECT board_role($2, $3, $4, b.visibility, b.created_by, g.role,
        $3 = 'agent' AND EXISTS (
            SELECT FROM board_grants x WHERE x.org_id = $1 AND x.principal_id = $2)) AS role,
        b.is_archived AS board_is_archived
    FROM cards c
    JOIN boards b ON b.org_id = $1 AND b.id = c.board_id AND NOT b.in_trash
    LEFT JOIN board_grants g
        ON g.org_id = $1 AND g.principal_id = $2 AND g.board_id = b.id
    WHERE c.org_id = $1 AND c.id = $5)"};

struct Judged {
    std::optional<boards::BoardRole> role;
    bool board_is_archived = false;
};
SVC_RECORD(Judged, (role, ""), (board_is_archived, ""));

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

/// A holder's word about its lease: the look-ups of the first round trip. A lease that is unknown
/// or of another workspace is a 404, one that is over a 409, and so is a token that is not its own
/// a 403 for whoever may look at the lease.
class Word {
public:
    Word(
        Call& call,
        const Uuid& lease,
        std::string_view token,
        const std::optional<Uuid>& column,
        boards::Turn turn
    )
        : call_(call), lease_id_(lease), token_(parsed(call, lease, token)) {
        Tx& tx = call.tx();
        move_ = call.use<boards::Moves>().begin(
            tx, call.org(), token_.card(), column, turn, &watcher()
        );
        held_later_ = lock_held(tx, boards::Seat::of_system(call.org()), token_.card());
        outcome_later_ = tx.later<Outcome>(find_outcome, call.org(), lease_id_);
        judged_later_ = boards::Seat::of(call).later<Judged>(tx, judge_holder, token_.card());
    }

    /// For what changes more than giving the card back does, for which the token is enough: 404 on
    /// a deleted board, 409 on one that was put away.
    void require_open_board() {
        if (!judged()) not_found("lease");
        if (judged()->board_is_archived) throw boards::board_archived();
    }
    void require(boards::BoardRole least) { boards::require(judged()->role, least, "lease"); }

    /// What the same word was answered before; nothing while the lease is live.
    std::optional<LeaseResult> answered(LeaseState same) {
        held_ = held_later_->one();
        if (held_ && held_->lease_id == lease_id_) {
            if (!token_.matches(held_->lease_digest.value())) refuse_token(call_, lease_id_);
            return std::nullopt;
        }
        auto outcome = outcome_later_->one();
        if (!outcome || !token_.matches(outcome->digest)) refuse_token(call_, lease_id_);
        if (outcome->state != same || !outcome->card) lost(outcome->state);
        return LeaseResult{{}, std::move(outcome->lease), if_visible(*std::move(outcome->card))};
    }

    const Held& held() const { return *held_; }
    boards::Move& move() { return *move_; }

    /// Ends the lease: asks, has `change` do what else is to be done and give the card as it is
    /// then, keeps the answer and tells.
    template <class Change>
    LeaseResult end(const EventKind& kind, const Lease& after, Change change) {
        const Lease before = lease_of(call_.org(), *held_);
        const Event event = told_of(kind, after, &before);
        boards::CallDoer doer(call_);
        doer.ask(event);
        boards::Card card = change(doer);
        boards::show(call_.kernel(), card);
        boards::AsJson<boards::Card> shown(card);
        keep_outcome(call_.tx(), after, *held_->lease_digest, shown.text);
        doer.tell(event);
        return {{}, boards::AsJson(after), if_visible(std::move(shown))};
    }

private:
    const std::optional<Judged>& judged() {
        if (!judged_) judged_ = judged_later_->one();
        return judged_;
    }
    /// The lease ends whoever may see the card: that is in everybody's interest.
    std::optional<boards::AsJson<boards::Card>> if_visible(boards::AsJson<boards::Card> card) {
        if (!judged() || !judged()->role) return std::nullopt;
        return card;
    }
    static LeaseToken parsed(Call& call, const Uuid& lease, std::string_view text) {
        if (const auto token = LeaseToken::parse(text)) return *token;
        refuse_token(call, lease);
    }

    Call& call_;
    const Uuid lease_id_;
    const LeaseToken token_;
    std::unique_ptr<boards::Move> move_;
    std::optional<Later<Held>> held_later_;
    std::optional<Later<Outcome>> outcome_later_;
    std::optional<Later<Judged>> judged_later_;
    std::optional<Judged> judged_;
    std::optional<Held> held_;
};

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
    (lease_id, ""),
    (lease_token, token_doc, length(1, 100), secret),
    (target_column_id, "Where the card goes; where its column sends completed cards if left out."),
    (result, "What came of it: an object of at most 64 KiB."),
    (comment,
     "Said about the card, as Markdown, as create_comment does.",
     length(1, boards::CardComments::most_characters))
);

constexpr std::size_t largest_result = 64 << 10;

Failure wrong_field(const Call& call, std::string_view field, std::string_view message) {
    const std::string root = call.request() ? "body" : "arguments";
    return Failure::invalid_at(
        "[\"" + root + "\",\"" + std::string(field) + "\"]", "value_error", message
    );
}

/// Moves the card on, or leaves it where it is when there is nowhere to go; either way its work
/// here is done.
boards::Card carry_on(Call& call, boards::Move& move, const Held& held, boards::Doer& doer) {
    const boards::ColumnRules* to = move.to();
    boards::Card card = to ? move.carry_out(doer) : *move.card();
    card.lease.reset();
    card.queue = {};
    if (!to || !to->queue_enabled) {
        take_out(call.tx(), card.org_id, card.id, std::nullopt);
        return card;
    }
    card.queue.state = boards::QueueState::ready;
    queue_up(call.tx(), card, key_of(to->queue_order, card, held.now));
    doer.after_commit([&kernel = call.kernel(), column = to->column_id] { wake(kernel, column); });
    return card;
}

/// A comment that is to be made once the card is where it goes.
std::unique_ptr<boards::CardComments::Comment> comment_of(Call& call, const std::string& markdown) {
    auto* comments = call.kernel().find<boards::CardComments>();
    if (!comments)
        throw wrong_field(call, "comment", "the module that keeps comments is not switched on");
    return comments->read(call, "comment", markdown);
}

LeaseResult complete(Call& call, const CompleteLeaseRequest& in) {
    if (in.result && in.result->text.size() > largest_result)
        throw wrong_field(call, "result", "a result takes at most 64 KiB");
    Word word(call, in.lease_id, in.lease_token, in.target_column_id, boards::Turn::completed);
    const auto comment = in.comment ? comment_of(call, *in.comment) : nullptr;
    if (auto before = word.answered(LeaseState::completed)) return *before;
    word.require_open_board();
    if (in.target_column_id) word.require(boards::BoardRole::editor);
    if (in.comment) word.require(boards::BoardRole::viewer);
    if (in.target_column_id && !word.move().to())
        throw wrong_field(call, "target_column_id", "the card's board has no such column");

    Lease after = ended(lease_of(call.org(), word.held()), LeaseState::completed, word.held().now);
    after.result = in.result;
    return word.end(lease_completed, after, [&](boards::Doer& doer) {
        boards::Card card = carry_on(call, word.move(), word.held(), doer);
        if (comment) comment->write(call, card, word.held().now);
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
    (lease_id, ""),
    (lease_token, token_doc, length(1, 100), secret),
    (error, "What went wrong; shown on the card.", length(0, 2000)),
    (retryable, "False when nobody need try again: the card is exhausted at once.", defaulted),
    (retry_after_seconds,
     "How long to keep the card back; the column's own pause if left out.",
     range(0, 604800))
);

LeaseResult fail(Call& call, const FailLeaseRequest& in) {
    Word word(call, in.lease_id, in.lease_token, std::nullopt, boards::Turn::exhausted);
    if (auto before = word.answered(LeaseState::failed)) return *before;
    const Held& held = word.held();
    std::optional<std::chrono::seconds> pause;
    if (in.retry_after_seconds) pause = std::chrono::seconds(*in.retry_after_seconds);
    const boards::CardQueue standing = after_failure(
        held, in.retryable ? Retry::yes : Retry::no, pause, in.error, boards::chance()
    );

    Lease after = ended(lease_of(call.org(), held), LeaseState::failed, held.now);
    after.error = in.error;
    return word.end(lease_failed, after, [&](boards::Doer& doer) {
        return stand(call.kernel(), call.tx(), doer, word.move(), held, standing);
    });
}

// ---------------------------------------------------------------------------------- release

struct LeaseAndToken {
    Uuid lease_id;
    std::string lease_token;
};
SVC_RECORD(LeaseAndToken, (lease_id, ""), (lease_token, token_doc, length(1, 100), secret));

LeaseResult release(Call& call, const LeaseAndToken& in) {
    Word word(call, in.lease_id, in.lease_token, std::nullopt, boards::Turn::exhausted);
    if (auto before = word.answered(LeaseState::released)) return *before;
    const Held& held = word.held();
    boards::CardQueue standing = word.move().card()->queue;
    standing.state = boards::QueueState::ready;
    standing.attempts = held.attempt - 1;

    const Lease after = ended(lease_of(call.org(), held), LeaseState::released, held.now);
    return word.end(lease_released, after, [&](boards::Doer& doer) {
        return stand(call.kernel(), call.tx(), doer, word.move(), held, standing);
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
    (lease_id, ""),
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
    Word word(call, in.lease_id, in.lease_token, std::nullopt, boards::Turn::exhausted);
    if (auto before = word.answered(LeaseState::active)) return *before;
    word.require_open_board();
    word.require(boards::BoardRole::editor);
    const Held& held = word.held();
    constexpr std::int64_t second = 1'000'000;
    Lease lease = lease_of(call.org(), held);
    lease.lease_ttl_seconds = in.lease_ttl_seconds.value_or(lease.lease_ttl_seconds);
    lease.renewed_at = held.now;
    lease.expires_at = Timestamp{held.now.micros + lease.lease_ttl_seconds * second};
    call.tx().queue(extend, call.org(), held.card_id, in.lease_ttl_seconds);

    boards::Card card = *word.move().card();
    card.lease = boards::CardLease{lease.id, lease.holder, lease.attempt, lease.expires_at};
    boards::show(call.kernel(), card);
    return {{}, boards::AsJson(lease), boards::AsJson(card)};
}

}  // namespace

const Operation renew_lease{
    .name = "renew_lease",
    .route = "POST /v1/leases/{lease_id}:renew",
    .summary = "Renew a lease, so that the card stays yours for longer.",
    .description =
        "Sets the lease's time anew, from now, for whoever may still edit the board. 409 "
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
        "`comment` "
        "is said about the card in the same moment. Asking again gives the same answer. 409 "
        "`lease_lost` when the lease ended otherwise, 409 `wip_limit_reached` when the "
        "target is full.",
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
        "attempts are used up. Asking again gives the same answer.",
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
