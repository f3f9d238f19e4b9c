// One card on its way.

#include "modules/boards/placement/card_move.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "svc/event_row.hpp"

#include <algorithm>

namespace svc::boards {

namespace {

// The card and those that wait for it, in the order of their ids as all who lock cards; then its
// board, where a key may be taken anew or a card is counted, and the column. What the following
// statements read is then the newest. Columns are shared, so that their rules hold until the card
// is in (the foreign key asks for no less), and where the limit is hard they are not.
constexpr std::string_view lock_the_card = R"(
    WITH mine AS MATERIALIZED (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.id = $5 AND)";
constexpr std::string_view and_the_rest = R"(c.board_id)
    ), locked AS MATERIALIZED (
        SELECT k.id, k.board_id, k.column_id, k.external_key,
            card_is_open(k.completed_at, k.is_archived, k.in_trash) AS open
        FROM cards k
        WHERE k.org_id = $1 AND k.id = ANY (ARRAY(
            SELECT id FROM mine
            UNION
            SELECT l.target_id FROM card_links l
            WHERE l.org_id = $1 AND l.card_id = (SELECT id FROM mine) AND l.kind = 'blocks'))
        ORDER BY k.id
        FOR UPDATE
    ), card AS (
        SELECT * FROM locked WHERE id = $5
    ), board AS (
        SELECT board_id FROM board_counters
        WHERE org_id = $1 AND board_id = (
            SELECT board_id FROM card
            WHERE $7::text = 'back' OR (external_key IS NOT NULL AND NOT open))
        FOR UPDATE
    ), target AS (
        SELECT coalesce($6::uuid, (
            SELECT CASE $7::text WHEN 'completed' THEN t.completed_id
                WHEN 'exhausted' THEN t.exhausted_id ELSE c.column_id END
            FROM card c JOIN column_turns t ON t.org_id = $1 AND t.id = c.column_id)) AS id
    ), shared AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = (SELECT board_id FROM card)
            AND id = (SELECT id FROM target)
        FOR KEY SHARE
    ), limited AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = (SELECT board_id FROM card)
            AND id = (SELECT id FROM target)
            AND wip_policy = 'hard' AND wip_limit IS NOT NULL
        FOR NO KEY UPDATE
    )
    SELECT now() AS now, (SELECT count(*) FROM card) AS cards,
        (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM locked WHERE id <> $5) AS waiting,
        (SELECT id FROM target) AS target_id, (SELECT count(*) FROM board) AS boards,
        (SELECT count(*) FROM shared) AS columns, (SELECT count(*) FROM limited) AS limits)";
constexpr Sql lock_for_move{
    "boards.lock_for_move", SqlText<lock_the_card, if_editor, and_the_rest>::view};

// The card, what the caller may do with it, and where it goes. Looked up by key, one after the
// other: left to itself the planner reads all columns of the workspace as long as it has no
// statistics.
constexpr Sql see_move{"boards.see_move", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role,
        k.id AS to_id, k.kind, k.wip_limit, k.wip_policy, k.queue_enabled, k.queue_order,
        CASE WHEN k.wip_policy = 'hard' AND k.wip_limit IS NOT NULL THEN (
            SELECT count(*) FROM cards o
            WHERE o.org_id = $1 AND o.column_id = k.id AND o.id <> $5
                AND NOT o.is_archived AND NOT o.in_trash)
        END AS card_count,
        (SELECT max(o.position) FROM cards o
         WHERE o.org_id = $1 AND o.column_id = k.id AND o.id <> $5
             AND NOT o.is_archived AND NOT o.in_trash) AS below,
        CASE WHEN v.external_key IS NOT NULL
            AND NOT card_is_open(v.completed_at, v.is_archived, v.in_trash)
        THEN (
            SELECT o.id FROM cards o
            WHERE o.org_id = $1 AND o.board_id = v.board_id AND o.external_key = v.external_key
                AND o.id <> $5 AND o.completed_at IS NULL
                AND NOT o.is_archived AND NOT o.in_trash)
        END AS key_conflict,
        k.name AS to_name, h.name AS from_name, h.kind AS from_kind,
        (SELECT coalesce(json_agg(l.target_id ORDER BY l.target_id), '[]') FROM card_links l
         WHERE l.org_id = $1 AND l.card_id = $5 AND l.kind = 'blocks') AS links
    FROM card_view v
    )" SVC_BOARD_GRANT_BY_KEY("v.board_id") R"(
    CROSS JOIN LATERAL (
        SELECT o.name, o.kind,
            CASE WHEN $6::uuid IS NOT NULL THEN $6 WHEN $7::text = 'completed' THEN (
                SELECT t.completed_id FROM column_turns t
                WHERE t.org_id = $1 AND t.id = v.column_id)
            WHEN $7 = 'exhausted' THEN o.on_exhausted_column_id ELSE v.column_id END AS target_id
        FROM columns o
        WHERE o.org_id = $1 AND o.id = v.column_id
        OFFSET 0
    ) h
    LEFT JOIN LATERAL (
        SELECT o.* FROM columns o
        WHERE o.org_id = $1 AND o.id = h.target_id AND o.board_id = v.board_id AND NOT o.in_trash
        OFFSET 0
    ) k ON true
    WHERE v.org_id = $1 AND v.id = $5)"};

constexpr Sql lock_late{"boards.lock_cards_that_came_to_wait", R"(
    SELECT id FROM cards
    WHERE org_id = $1 AND id = ANY ($2::uuid[])
    ORDER BY id
    FOR UPDATE)"};

constexpr Sql find_waiting{"boards.find_waiting", R"(
    SELECT c.id, c.board_id, c.column_id, c.title, c.version
    FROM card_links l
    JOIN cards c ON c.org_id = $1 AND c.id = l.target_id
    WHERE l.org_id = $1 AND l.card_id = $2 AND l.kind = 'blocks'
        AND card_is_open(c.completed_at, c.is_archived, c.in_trash)
        AND NOT EXISTS (
            SELECT FROM card_links o
            JOIN cards x ON x.org_id = $1 AND x.id = o.card_id
            WHERE o.org_id = $1 AND o.target_id = l.target_id AND o.kind = 'blocks'
                AND o.card_id <> $2
                AND card_is_open(x.completed_at, x.is_archived, x.in_trash))
    ORDER BY c.id)"};

// $9 to $32: the event.
constexpr Sql place_card{
    "boards.place_card",
    R"(
    WITH placed AS (
        UPDATE cards
        SET column_id = $3, position = $4, completed_at = $5, is_archived = $6, in_trash = $7,
            last_edited_time = now(), last_edited_by = $8, version = version + 1
        WHERE org_id = $1 AND id = $2
        RETURNING id
    )
    )" SVC_INSERT_EVENT(
        9,
        SVC_EVENT_OBJECT(9),
        SVC_EVENT_VERSION(9),
        SVC_EVENT_CARD(9),
        SVC_EVENT_CHANGES(9),
        "placed"
    )
};

// An archived card no longer counts.
constexpr Sql count_card{"boards.count_card", R"(
    INSERT INTO card_count_changes (org_id, board_id, id, change) VALUES ($1, $2, $3, $4))"};

}  // namespace

CardMove::CardMove(Tx& tx, const MovesImpl& moves, MoveRequest request)
    : tx_(tx),
      moves_(moves),
      request_(std::move(request)),
      locked_(request_.caller.later<LockedCard>(
          tx, lock_for_move, request_.card, request_.column, request_.turn
      )),
      after_placing_(moves_.about_to_place(tx, request_.caller, request_.card, request_.asker)),
      seen_later_(request_.caller.later<MoveSeen>(
          tx, see_move, request_.card, request_.column, request_.turn
      )) {
    if (request_.column && request_.anchors.any())
        gap_later_ =
            find_gap(tx, request_.caller.org, *request_.column, request_.card, request_.anchors);
}

const std::optional<CardAccess>& CardMove::seen() {
    read();
    return seen_;
}

std::optional<CardRights> CardMove::rights() {
    if (!seen() || seen_->board_in_trash) return std::nullopt;
    return CardRights{seen_->role, seen_->board_is_archived};
}

const ColumnRules* CardMove::to() {
    read();
    return destination_ ? &destination_->column : nullptr;
}

bool CardMove::full() {
    read();
    return destination_ && !stays() && destination_->full();
}

void CardMove::read() {
    if (has_read_) return;
    has_read_ = true;
    auto found = seen_later_.one();
    // A caller who became an editor only after the lock was taken has locked nothing.
    if (found && found->access.role >= BoardRole::editor && locked_.one_or_retry().cards == 0)
        throw RetryTransaction("a card that was not locked");
    if (!found) return;
    // Where columns send their cards may have changed while the statement that locks waited.
    if (const LockedCard locked = locked_.one_or_retry();
        locked.cards > 0 && found->to_id && found->to_id != locked.target_id)
        throw RetryTransaction("a column that was not locked");
    if (found->to_id) destination_ = found->to.as(*found->to_id);
    links_ = found->links.parsed();
    const Card& card = found->access.card;
    from_ = {card.board_id, card.column_id, found->from_name, found->from_kind};
    if (destination_)
        to_ = {
            card.board_id,
            destination_->column.column_id,
            found->to_name.value(),
            std::string(name_of(destination_->column.kind))
        };
    seen_ = std::move(found->access);
}

bool CardMove::stays() const {
    return seen_ && on_board() && seen_->card.column_id == destination_->column.column_id;
}

OrderKey CardMove::end_of_column() {
    read();
    return OrderKey::last(destination_->below, random_bits());
}

// ------------------------------------------------------------------------------- where it goes

Card CardMove::carry_out(Actor& actor) { return carry_out_at(actor, end_of_column(), card_moved); }

Card CardMove::carry_out_beside(Call& call) {
    CallActor actor(call);
    const OrderKey key =
        gap_later_ ? key_at(call, *gap_later_, *request_.column, request_.card, request_.anchors)
                   : end_of_column();
    Card card = carry_out_at(actor, key, card_moved);
    moves_.make_room(tx_, card.org_id, card.column_id, key);
    return card;
}

Card CardMove::restore(Actor& actor) {
    read();
    Card card = carry_out_at(actor, seen_->card.position, card_restored);
    tx_.queue(count_card, card.org_id, card.board_id, new_uuid(), 1);
    return card;
}

Card CardMove::archive(Actor& actor) {
    read();
    Card after = seen_->card;
    after.is_archived = true;
    return leave(actor, std::move(after), card_archived);
}

Card CardMove::remove(Actor& actor) {
    read();
    Card after = seen_->card;
    after.in_trash = true;
    return leave(actor, std::move(after), card_deleted);
}

Card CardMove::leave(Actor& actor, Card after, const EventKind& kind) {
    enter(after, nullptr);
    place(actor, after, kind, nullptr);
    if (on_board()) tx_.queue(count_card, after.org_id, after.board_id, new_uuid(), -1);
    return after;
}

Card CardMove::carry_out_at(Actor& actor, OrderKey key, const EventKind& kind) {
    if (full()) destination_->require_room();
    Card after = seen_->card;
    if (!stays()) enter(after, &destination_->column);
    after.column_id = destination_->column.column_id;
    after.position = std::move(key);
    after.is_archived = after.in_trash = false;
    if (destination_->column.kind != ColumnKind::done) {
        if (destination_->key_conflict) throw external_key_taken(*destination_->key_conflict);
        after.completed_at.reset();
    } else if (!after.completed_at) {
        after.completed_at = now();
    }
    place(actor, after, kind, &destination_->column);
    return after;
}

// ----------------------------------------------------------------------------- writing it down

void CardMove::place(Actor& actor, Card& after, const EventKind& kind, const ColumnRules* column) {
    const Card& before = seen_->card;
    after.last_edited_time = now();
    after.last_edited_by = AsJson(actor.who());
    after.version = before.version + 1;
    Event event = changed(kind, before, after).on_board(after.board_id).in_column(after.column_id);
    if (&kind == &card_moved) {
        event.from = from_;
        event.to = to_;
    }
    actor.check(event);
    tx_.queue(
        place_card,
        after.org_id,
        after.id,
        after.column_id,
        after.position.str(),
        after.completed_at,
        after.is_archived,
        after.in_trash,
        after.last_edited_by.text,
        actor.event_row(event)
    );
    emit_completion(actor, after);
    Placing placing{&before, after, column, now(), actor};
    for (const CardWatcher::Placed& placed : after_placing_) placed(placing);
}

/// Whoever waits for this card alone is free once it is done, and has to wait again when it is
/// taken up again.
void CardMove::emit_completion(Actor& actor, const Card& after) {
    const bool open = is_open(after);
    if (open == is_open(seen_->card)) return;
    if (after.blocked)
        moves_.blockers_changed(tx_, actor, after.org_id, {{after.id, after.column_id}});
    if (links_.empty()) return;
    lock_late_comers(after);
    const auto waiting = tx_.all<Waiting>(find_waiting, after.org_id, after.id);
    const Blockers now = open ? Blockers::opened : Blockers::closed;
    tell_waiting(tx_, moves_, actor, after.org_id, waiting, now);
}

/// The statement that locks does not see who came to wait while it was held up itself. From then on
/// nobody else comes, for whoever ties the card to another locks it. Who stands before what is
/// locked already is locked by the next run, in order.
void CardMove::lock_late_comers(const Card& card) {
    const auto locked = locked_.one_or_retry().waiting.parsed();
    std::vector<Uuid> late;
    std::ranges::set_difference(links_, locked, std::back_inserter(late));
    if (late.empty()) return;
    if (late.front() < card.id || (!locked.empty() && late.front() < locked.back()))
        throw RetryTransaction("a card that came to wait");
    tx_.queue(lock_late, card.org_id, late);
}

}  // namespace svc::boards
