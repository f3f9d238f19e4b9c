// Many cards on their way: what is looked up and written for all of them at once.

#include "modules/boards/placement/move_set.hpp"
#include "modules/boards/link/waiting.hpp"
#include "svc/param_table.hpp"

#include <algorithm>

namespace svc::boards {

namespace {

// The cards and those that wait for them, in the order of their ids as all who lock cards; then
// their boards, where a key may be taken anew or a card is counted, and the columns. What the
// following statements read is then the newest. Each card is looked up and locked by its key: asked
// for those of a list in order, a plan from when the table was small goes through all of the
// workspace's. Columns are shared, so that their rules hold until the cards are in (the foreign key
// asks for no less), and where the limit is hard they are not. $5 the cards, $6 the columns that
// are named for them, $7 the turn.
constexpr std::string_view lock_the_cards = R"(
    WITH mine AS MATERIALIZED (
        SELECT c.id
        FROM unnest($5::uuid[]) w (id)
        CROSS JOIN LATERAL (
            SELECT o.id, o.board_id FROM cards o
            WHERE o.org_id = $1 AND o.id = w.id
            OFFSET 0
        ) c
        WHERE)";
constexpr std::string_view and_the_rest = R"(c.board_id)
    ), locked AS MATERIALIZED (
        SELECT k.*
        FROM (
            SELECT id FROM mine
            UNION
            SELECT l.target_id FROM card_links l
            WHERE l.org_id = $1 AND l.card_id = ANY (ARRAY(SELECT id FROM mine))
                AND l.kind = 'blocks'
            ORDER BY id
            OFFSET 0
        ) w
        CROSS JOIN LATERAL (
            SELECT o.id, o.board_id, o.column_id, o.external_key,
                card_is_open(o.completed_at, o.is_archived, o.in_trash) AS open
            FROM cards o
            WHERE o.org_id = $1 AND o.id = w.id
            OFFSET 0
            FOR UPDATE
        ) k
    ), card AS (
        SELECT * FROM locked WHERE id = ANY ($5::uuid[])
    ), board AS (
        SELECT board_id FROM board_counters
        WHERE org_id = $1 AND board_id = ANY (ARRAY(
            SELECT board_id FROM card
            WHERE $7::text = 'back' OR (external_key IS NOT NULL AND NOT open)))
        ORDER BY board_id
        FOR UPDATE
    ), target AS MATERIALIZED (
        SELECT c.id AS card_id,
            coalesce(($6::uuid[])[array_position($5::uuid[], c.id)], (
                SELECT CASE $7::text WHEN 'completed' THEN t.completed_id
                    WHEN 'exhausted' THEN t.exhausted_id ELSE c.column_id END
                FROM column_turns t WHERE t.org_id = $1 AND t.id = c.column_id)) AS column_id
        FROM card c
    ), shared AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = ANY (ARRAY(SELECT board_id FROM card))
            AND id = ANY (ARRAY(SELECT column_id FROM target))
        ORDER BY id
        FOR KEY SHARE
    ), limited AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = ANY (ARRAY(SELECT board_id FROM card))
            AND id = ANY (ARRAY(SELECT column_id FROM target))
            AND wip_policy = 'hard' AND wip_limit IS NOT NULL
        ORDER BY id
        FOR NO KEY UPDATE
    )
    SELECT now() AS now, (SELECT coalesce(json_agg(id ORDER BY id), '[]') FROM locked) AS ids,
        (SELECT coalesce(json_agg(t), '[]') FROM target t) AS targets,
        (SELECT count(*) FROM board) AS boards, (SELECT count(*) FROM shared) AS columns,
        (SELECT count(*) FROM limited) AS limits)";
constexpr Sql lock_for_moves{
    "boards.lock_for_moves", SqlText<lock_the_cards, if_editor, and_the_rest>::view
};

// The cards, what the caller may do with them, and where they go. Looked up by key, one after the
// other: left to itself the planner reads all columns of the workspace as long as it has no
// statistics. What is asked of a column alone is asked once: behind its last card stand those that
// others are just placing, and each look passes by them.
constexpr Sql see_moves{"boards.see_moves", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("v.visibility", "v.maker") R"( AS role,
        k.id AS to_id, k.kind, k.wip_limit, k.wip_policy, k.queue_enabled, k.queue_order,
        CASE WHEN k.wip_policy = 'hard' AND k.wip_limit IS NOT NULL THEN (
            SELECT count(*) FROM cards o
            WHERE o.org_id = $1 AND o.column_id = k.id AND o.id <> v.id
                AND NOT o.is_archived AND NOT o.in_trash)
        END AS card_count,
        m.position AS below,
        CASE WHEN v.external_key IS NOT NULL
            AND NOT card_is_open(v.completed_at, v.is_archived, v.in_trash)
        THEN (
            SELECT o.id FROM cards o
            WHERE o.org_id = $1 AND o.board_id = v.board_id AND o.external_key = v.external_key
                AND o.id <> v.id AND o.completed_at IS NULL
                AND NOT o.is_archived AND NOT o.in_trash)
        END AS key_conflict,
        k.name AS to_name, h.name AS from_name, h.kind AS from_kind,
        (SELECT coalesce(json_agg(l.target_id ORDER BY l.target_id), '[]') FROM card_links l
         WHERE l.org_id = $1 AND l.card_id = v.id AND l.kind = 'blocks') AS links
    FROM unnest($5::uuid[], $6::uuid[]) w (id, column_id)
    CROSS JOIN LATERAL (
        SELECT * FROM card_view c WHERE c.org_id = $1 AND c.id = w.id OFFSET 0
    ) v
    )" SVC_BOARD_GRANT_BY_KEY("v.board_id") R"(
    CROSS JOIN LATERAL (
        SELECT o.name, o.kind,
            CASE WHEN w.column_id IS NOT NULL THEN w.column_id WHEN $7::text = 'completed' THEN (
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
    LEFT JOIN LATERAL (
        SELECT max(o.position) AS position FROM cards o
        WHERE o.org_id = $1 AND o.column_id = k.id AND NOT o.is_archived AND NOT o.in_trash
        OFFSET 0
    ) m ON true)"};

constexpr Sql lock_late{"boards.lock_cards_that_came_to_wait", R"(
    SELECT c.id
    FROM (SELECT id FROM unnest($2::uuid[]) n (id) ORDER BY id OFFSET 0) w
    CROSS JOIN LATERAL (
        SELECT o.id FROM cards o
        WHERE o.org_id = $1 AND o.id = w.id
        OFFSET 0
        FOR UPDATE
    ) c)"};

// $2 who, $3 the cards, and what becomes of each. A single one is asked for as such: a plan from
// when nobody had counted the table's rows goes through all of the workspace's to find those of a
// list, and finds one by its key.
constexpr std::string_view place = R"(
    UPDATE cards c
    SET column_id = ($4::uuid[])[array_position($3::uuid[], c.id)],
        position = ($5::text[])[array_position($3::uuid[], c.id)],
        completed_at = ($6::timestamptz[])[array_position($3::uuid[], c.id)],
        is_archived = ($7::boolean[])[array_position($3::uuid[], c.id)],
        in_trash = ($8::boolean[])[array_position($3::uuid[], c.id)],
        last_edited_time = now(), last_edited_by = $2, version = c.version + 1
    WHERE c.org_id = $1 AND c.id)";
constexpr std::string_view of_one = " = ($3::uuid[])[1]";
constexpr std::string_view of_all = " = ANY ($3::uuid[])";
constexpr Sql place_one{"boards.place_moved_card", SqlText<place, of_one>::view};
constexpr Sql place_all{"boards.place_moved", SqlText<place, of_all>::view};

std::vector<Uuid> ids_of(const std::vector<MoveWish>& cards) {
    std::vector<Uuid> ids;
    for (const MoveWish& each : cards) ids.push_back(each.card);
    return ids;
}

ParamList columns_of(const std::vector<MoveWish>& cards) {
    ParamTable table;
    for (const MoveWish& each : cards) table.add(each.column);
    return std::move(table).columns();
}

std::vector<std::vector<CardWatcher::Placed>> about_to_place(
    Tx& tx, const MovesImpl& moves, const MoveRequest& request
) {
    std::vector<std::vector<CardWatcher::Placed>> after_placing;
    for (const MoveWish& each : request.cards)
        after_placing.push_back(moves.about_to_place(tx, request.caller, each.card, request.asker));
    return after_placing;
}

}  // namespace

MoveSet::MoveSet(Tx& tx, const MovesImpl& moves, MoveRequest request)
    : tx_(tx),
      moves_(moves),
      request_(std::move(request)),
      locked_later_(request_.caller.later<LockedCards>(
          tx, lock_for_moves, ids_of(request_.cards), columns_of(request_.cards), request_.turn
      )),
      after_placing_(about_to_place(tx, moves, request_)),
      seen_later_(request_.caller.later<MoveSeen>(
          tx, see_moves, ids_of(request_.cards), columns_of(request_.cards), request_.turn
      )) {}

const LockedCards& MoveSet::locked() {
    if (!locked_) locked_ = locked_later_.one_or_retry();
    return *locked_;
}

std::optional<MoveSeen> MoveSet::seen(std::size_t number) {
    if (!seen_) {
        seen_.emplace();
        for (MoveSeen& each : seen_later_.all())
            seen_->emplace(each.access.card.id, std::move(each));
    }
    const auto found = seen_->find(request_.cards.at(number).card);
    if (found == seen_->end()) return std::nullopt;
    const auto targets = locked().targets.parsed();
    const auto target = std::ranges::find(targets, found->first, &LockedTarget::card_id);
    // A caller who became an editor only after the lock was taken has locked nothing.
    if (found->second.access.role >= BoardRole::editor && target == targets.end())
        throw RetryTransaction("a card that was not locked");
    // Where columns send their cards may have changed while the statement that locks waited.
    if (target != targets.end() && found->second.to_id && found->second.to_id != target->column_id)
        throw RetryTransaction("a column that was not locked");
    return found->second;
}

Destination MoveSet::by_now(const Destination& found, const Card& card) const {
    Destination is = found;
    const Uuid& column = found.column.column_id;
    if (const auto more = more_in_.find(column); more != more_in_.end() && is.card_count)
        *is.card_count += more->second;
    if (const auto last = last_in_.find(column); last != last_in_.end())
        is.below = std::max(is.below, last->second);
    if (card.external_key && !is.key_conflict && !is_open(card)) {
        const auto taken = keys_of_reopened_.find({card.board_id, *card.external_key});
        if (taken != keys_of_reopened_.end()) is.key_conflict = taken->second;
    }
    return is;
}

void MoveSet::decided(Decided card) {
    const Card &before = card.before, &after = card.after;
    if (!before.is_archived && !before.in_trash) --more_in_[before.column_id];
    if (card.column) {
        ++more_in_[after.column_id];
        OrderKey& last = last_in_[after.column_id];
        last = std::max(last, after.position);
    }
    if (after.external_key && is_open(after) && !is_open(before))
        keys_of_reopened_.emplace(std::pair(after.board_id, *after.external_key), after.id);
    decided_.push_back(std::move(card));
}

// ----------------------------------------------------------------------------- writing it down

void MoveSet::write(Actor& actor) {
    if (decided_.empty()) return;
    queue_rows(actor);
    tell_waiting(actor);
    for (const Decided& each : decided_) {
        const ColumnRules* column = each.column ? &*each.column : nullptr;
        const Placing placing{&each.before, each.after, column, now(), actor};
        for (const CardWatcher::Placed& placed : after_placing_[each.number]) placed(placing);
    }
    decided_.clear();
}

void MoveSet::queue_rows(Actor& actor) {
    std::vector<Event> events;
    std::vector<Uuid> ids;
    ParamTable table;
    for (Decided& each : decided_) {
        const Card& card = each.after;
        ids.push_back(card.id);
        table.add(
            card.column_id, card.position.str(), card.completed_at, card.is_archived, card.in_trash
        );
        events.push_back(std::move(each.event));
    }
    tx_.queue(
        ids.size() == 1 ? place_one : place_all,
        request_.caller.org,
        to_json(actor.who()),
        ids,
        std::move(table).columns()
    );
    actor.emit_all(events);
}

/// Whoever waits for these cards alone is free once they are done, and has to wait again when they
/// are taken up again.
void MoveSet::tell_waiting(Actor& actor) {
    std::vector<CardPlace> turned;
    std::vector<Uuid> opened, closed;
    std::set<Uuid> links;
    for (const auto& [number, before, after, column, waiting, event] : decided_) {
        const bool open = is_open(after);
        if (open == is_open(before)) continue;
        if (after.blocked) turned.push_back({after.id, after.column_id});
        if (waiting.empty()) continue;
        (open ? opened : closed).push_back(after.id);
        links.insert(waiting.begin(), waiting.end());
    }
    const Uuid& org = request_.caller.org;
    moves_.blockers_changed(tx_, actor, org, turned);
    if (links.empty()) return;
    lock_late_comers(links);
    const auto tell = [&](const std::vector<Uuid>& cards, Blockers blockers) {
        if (cards.empty()) return;
        const auto found = waiting_for(tx_, org, cards).all();
        boards::tell_waiting(tx_, moves_, actor, org, found, blockers);
    };
    tell(closed, Blockers::closed);
    tell(opened, Blockers::opened);
}

/// The statement that locks does not see who came to wait while it was held up itself. From then on
/// nobody else comes, for whoever ties a card to another locks it. Who stands before what is locked
/// already is locked by the next run, in order.
void MoveSet::lock_late_comers(const std::set<Uuid>& links) {
    const auto locked = this->locked().ids.parsed();
    std::vector<Uuid> late;
    std::ranges::set_difference(links, locked, std::back_inserter(late));
    if (late.empty()) return;
    if (late.front() < locked.back()) throw RetryTransaction("a card that came to wait");
    tx_.queue(lock_late, request_.caller.org, late);
}

}  // namespace svc::boards
