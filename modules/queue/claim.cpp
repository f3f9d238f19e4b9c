// Claiming the next card of a column, or of one of several, or the next ones.

#include "modules/boards/api/access.hpp"
#include "modules/queue/lib/alarms.hpp"
#include "modules/queue/operations.hpp"
#include "modules/queue/taking.hpp"

#include <algorithm>

namespace svc::queue {

namespace {

struct ClaimWish {
    std::optional<std::int64_t> lease_ttl_seconds;
    std::int64_t wait_seconds = 0;
    std::int64_t max_cards = 1;
};
SVC_RECORD(
    ClaimWish,
    (lease_ttl_seconds,
     "How long the claim holds unless renewed; the column's own time if left out.",
     range(5, 86400)),
    (wait_seconds,
     "How long to wait for a card when there is none. Does not wait when the caller has as many "
     "calls waiting as the server allows.",
     range(0, 45),
     defaulted),
    (max_cards,
     "How many cards to claim at most, each with a lease of its own. Fewer are claimed when there "
     "are fewer or when the answer becomes long.",
     range(1, 25),
     defaulted)
);

struct ClaimResponse {
    Object<"claim"> object;
    bool claimed = false;
    std::optional<Lease> lease;
    std::optional<std::string> lease_token;
    std::optional<boards::Card> card;
    std::optional<ClaimReason> reason;
    std::optional<std::int64_t> retry_after_seconds;
    std::vector<ClaimedCard> additional_claims;
};
SVC_RECORD(
    ClaimResponse,
    (object),
    (claimed, "False when there is nothing to do at present."),
    (lease, "What you hold; null when nothing was claimed."),
    (lease_token,
     "Proves that the card is yours: renew, complete, fail and release ask for it.",
     secret),
    (card, "What is to be done; null when nothing was claimed."),
    (reason,
     "Why nothing was claimed: no card is ready (`empty`), the column is `paused`, as many of its "
     "cards are worked on as may be (`max_in_flight`), you hold as many as you may "
     "(`max_leases`), or the column that completed cards go to is full (`target_full`). Null when "
     "a card was claimed."),
    (retry_after_seconds, "When it is worth asking again."),
    (additional_claims,
     "Further cards, when `max_cards` asked for more than one; in the order of the queue.")
);

/// What keeps the caller from a card in the columns: of several what is not mere emptiness.
ClaimReason reason_in(const std::vector<ColumnSeen>& columns) {
    for (const ColumnSeen& each : columns)
        if (each.reason() != ClaimReason::empty) return each.reason();
    return ClaimReason::empty;
}

/// Whose wake may bring a card. Whoever holds as many as they may is in no column's line: a card
/// there is for the others.
std::vector<std::string> topics_of(
    const Call& call,
    const Uuid& board,
    const std::vector<Uuid>& columns,
    const std::vector<ColumnSeen>& seen
) {
    std::vector<std::string> topics;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const ClaimReason reason = seen[i].reason();
        if (reason == ClaimReason::max_leases) {
            topics.push_back(slot_of(call.caller().id));
            continue;
        }
        topics.push_back(topic_of(columns[i]));
        // In both lines whatever it is that lacks now, so that neither a card nor a lease that ends
        // finds nobody in its line.
        if (seen[i].max_in_flight) topics.push_back(slot_of(columns[i]));
        if (seen[i].target_full.value_or(false) && seen[i].target_id) {
            topics.push_back(room_in(*seen[i].target_id));
            topics.push_back(turns_of(board));
        }
    }
    return topics;
}

/// Whoever waits is to have a card when its pause is over, not at the next sweep. Later pauses, and
/// those that begin meanwhile, are seen by the one of them who looks again when something happens.
void set_alarms(
    Call& call,
    const std::vector<Uuid>& columns,
    const std::vector<ColumnSeen>& seen,
    std::chrono::milliseconds wait
) {
    Alarms& alarms = call.use<PauseAlarms>().alarms;
    for (std::size_t i = 0; i < columns.size(); ++i) {
        const auto& ready = seen[i].next_ready_milliseconds;
        if (ready && *ready <= wait.count())
            alarms.set({call.org(), columns[i]}, std::chrono::milliseconds(*ready));
    }
}

ClaimResponse nothing_claimed(const std::vector<ColumnSeen>& seen) {
    constexpr std::int64_t usual_pause = 5, longest_pause = 60;  // seconds
    std::int64_t pause = longest_pause;
    for (const ColumnSeen& each : seen) {
        const auto& ready = each.next_ready_milliseconds;
        pause = std::min(pause, ready ? (*ready + 999) / 1000 : usual_pause);
    }
    ClaimResponse claim;
    claim.reason = reason_in(seen);
    claim.retry_after_seconds = std::max<std::int64_t>(pause, 1);
    return claim;
}

ClaimResponse claim_of(ClaimedCard&& taken) {
    ClaimResponse claim;
    claim.claimed = true;
    claim.lease = std::move(taken.lease);
    claim.lease_token = std::move(taken.lease_token);
    claim.card = std::move(taken.card);
    return claim;
}

ClaimResponse claim_from(
    Call& call, const Uuid& board, const std::vector<Uuid>& columns, const ClaimWish& wish
) {
    Taking taking(call, board, wish.lease_ttl_seconds, wish.max_cards);
    taking.run(columns);
    auto& claimed = taking.claimed();
    if (claimed.empty()) {
        if (wish.wait_seconds > 0) {
            const std::chrono::seconds wait(wish.wait_seconds);
            set_alarms(call, columns, taking.seen(), wait);
            call.wait_for_any(topics_of(call, board, columns, taking.seen()), wait);
        }
        return nothing_claimed(taking.seen());
    }
    ClaimResponse claim = claim_of(std::move(claimed.front()));
    claimed.erase(claimed.begin());
    claim.additional_claims = std::move(claimed);
    return claim;
}

// ------------------------------------------------------------------------------- of one column

struct ClaimNextRequest {
    Uuid board_id;
    Uuid column_id;
    ClaimWish wish;
};
SVC_RECORD(
    ClaimNextRequest,
    (board_id),
    (column_id, "A column whose queue is enabled."),
    (wish, "", flatten)
);

ClaimResponse claim_next(Call& call, const ClaimNextRequest& in) {
    call.goes_alone(lease_claimed);  // one column is one statement
    return claim_from(call, in.board_id, {in.column_id}, in.wish);
}

// ------------------------------------------------------------------- of one column, for several

std::optional<std::string> claims_alike(Call& call, const ClaimNextRequest& in) {
    // What is asked about each by itself is asked by each.
    if (in.wish.max_cards != 1 || call.has_hooks(lease_claimed)) return std::nullopt;
    const auto& ttl = in.wish.lease_ttl_seconds;
    return in.board_id.str() + ' ' + in.column_id.str() + ' ' +
           (ttl ? std::to_string(*ttl) : std::string());
}

/// Where there are fewer cards than requests, those that wait for one do so by themselves.
std::vector<std::optional<ClaimResponse>> claim_each(
    Call& call, std::span<const JointRequest<ClaimNextRequest>> requests
) {
    call.goes_alone(lease_claimed);
    const ClaimNextRequest& any = requests.front().in;
    std::vector<std::string> request_ids;
    for (const auto& each : requests) request_ids.push_back(each.request_id);
    Taking taking(call, any.board_id, any.wish.lease_ttl_seconds, std::move(request_ids));
    taking.run({any.column_id});
    std::vector<std::optional<ClaimResponse>> claims(requests.size());
    auto& claimed = taking.claimed();
    for (std::size_t i = 0; i < requests.size(); ++i) {
        if (i < claimed.size()) claims[i] = claim_of(std::move(claimed[i]));
        else if (claimed.empty() && requests[i].in.wish.wait_seconds == 0)
            claims[i] = nothing_claimed(taking.seen());
    }
    return claims;
}

// ---------------------------------------------------------------------------------- of several

constexpr std::int64_t most_columns = 50;

struct ClaimFromBoardRequest {
    Uuid board_id;
    std::optional<std::vector<Uuid>> column_ids;
    ClaimWish wish;
};
SVC_RECORD(
    ClaimFromBoardRequest,
    (board_id),
    (column_ids,
     "Queue columns, the one to look in first first. Left out: all of the board, from the right to "
     "the left, so that what is begun is finished first.",
     length(1, most_columns)),
    (wish, "", flatten)
);

// From the right to the left; $2 board, $3 those that are named.
constexpr Sql see_queues{"queue.queues_of_board", R"(
    SELECT k.id, k.queue_enabled, k.max_in_flight IS NOT NULL AS is_limited
    FROM columns k
    WHERE k.org_id = $1 AND k.board_id = $2 AND NOT k.in_trash
        AND CASE WHEN $3::uuid[] IS NULL THEN k.queue_enabled ELSE k.id = ANY ($3) END
    ORDER BY k.position DESC, k.id DESC
    LIMIT $4)"};

struct QueueColumn {
    Uuid id;
    bool queue_enabled = false;
    bool is_limited = false;
};
SVC_RECORD(QueueColumn, (id), (queue_enabled), (is_limited));

constexpr Sql see_right{"queue.right_on_board", R"(
    SELECT )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role, b.is_archived
    FROM boards b
    )" SVC_BOARD_GRANT("b.id") R"(
    WHERE b.org_id = $1 AND b.id = $5 AND NOT b.in_trash)"};

struct RightOnBoard {
    std::optional<boards::BoardRole> role;
    bool is_archived = false;
};
SVC_RECORD(RightOnBoard, (role), (is_archived));

/// The columns to look in, in order. Throws what keeps the caller from them.
std::vector<Uuid> columns_of(Call& call, const ClaimFromBoardRequest& in) {
    auto right =
        boards::BoardCaller::of(call).later<RightOnBoard>(call.tx(), see_right, in.board_id);
    auto found = call.tx().later<QueueColumn>(
        see_queues, call.org(), in.board_id, in.column_ids, most_columns
    );
    const auto seen = right.one();
    if (!seen) not_found("board");
    boards::require(seen->role, boards::BoardRole::editor, "board");
    if (seen->is_archived) throw boards::board_archived();
    const auto all = found.all();
    for (const QueueColumn& each : all) call.use<KnownLimits>().set(each.id, each.is_limited);
    std::vector<Uuid> columns;
    if (!in.column_ids) {
        for (const QueueColumn& each : all) columns.push_back(each.id);
        return columns;
    }
    for (std::size_t i = 0; i < in.column_ids->size(); ++i) {
        const Uuid& named = (*in.column_ids)[i];
        const auto column = std::ranges::find(all, named, &QueueColumn::id);
        if (column == all.end())
            throw wrong_at(
                call, "\"column_ids\"," + std::to_string(i), "the board has no such column"
            );
        if (!column->queue_enabled) throw not_a_queue();
        if (std::ranges::find(columns, named) == columns.end()) columns.push_back(named);
    }
    return columns;
}

ClaimResponse claim_any(Call& call, const ClaimFromBoardRequest& in) {
    const auto columns = columns_of(call, in);
    if (columns.empty()) throw not_a_queue();
    return claim_from(call, in.board_id, columns, in.wish);
}

}  // namespace

const Operation claim_next_card{
    .name = "claim_next_card",
    .route = "POST /v1/boards/{board_id}/columns/{column_id}:claim-next",
    .summary = "Claim the next card of a queue column to work on it.",
    .description =
        "Leases the next card to you alone and returns it with a `lease_token`. Work on it, "
        "renew_lease before `expires_at`, then complete_lease or fail_lease. With nothing to do, "
        "`claimed` is false and `reason` says why; `wait_seconds` waits for a card first. "
        "`max_cards` claims several, which complete_leases completes in one call.",
    .access = Access::board_editor,
    .worker = true,
    .handler = claim_next,
    .joint_handler = {claims_alike, claim_each},
};

const Operation claim_from_board{
    .name = "claim_from_board",
    .route = "POST /v1/boards/{board_id}:claim-next",
    .summary = "Claim the next card of any queue column of a board.",
    .description =
        "As claim_next_card, from the first of the board's queue columns that has a card for you, "
        "or of those that `column_ids` names.",
    .access = Access::board_editor,
    .handler = claim_any,
};

}  // namespace svc::queue
