// What becomes of all the cards in a column when the column changes.

#include "modules/boards/placement/column_cards.hpp"

#include "modules/boards/api/blockers.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/link/waiting.hpp"

#include <set>

namespace svc::boards {

namespace {

// One more than may be changed, so that it shows when they are too many.
constexpr std::string_view cards_in_column = R"(
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND c.board_id = $5 AND c.column_id = $6
        AND NOT c.is_archived AND NOT c.in_trash AND)";
constexpr std::string_view in_order = "$5) ORDER BY c.id LIMIT 10001 FOR UPDATE OF c";
constexpr Sql lock_cards{
    "boards.lock_cards_in_column", SqlText<cards_in_column, if_editor, in_order>::view};

// First of all.
constexpr std::string_view inside = R"(
    WITH inside AS MATERIALIZED (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.board_id = $5 AND c.column_id = $6
            AND NOT c.is_archived AND NOT c.in_trash AND)";
constexpr Sql lock_first{
    "boards.lock_column_in_order", SqlText<inside, if_editor, locked_with_waiting>::view
};

// Of two who finish the last that a card waits for, one finds that the other was first. Where more
// cards stand than may be changed, it does not matter which of them are looked at.
constexpr std::string_view waiting_to_lock = R"(
    WITH links AS MATERIALIZED (
        SELECT l.target_id FROM card_links l
        WHERE l.org_id = $1 AND l.kind = 'blocks' AND l.card_id = ANY (ARRAY(
            SELECT c.id FROM cards c
            WHERE c.org_id = $1 AND c.board_id = $5 AND c.column_id = $6
                AND NOT c.is_archived AND NOT c.in_trash
            LIMIT 10001))
        LIMIT 10001
    )
    SELECT w.id, (SELECT count(*) FROM links) AS links FROM cards w
    WHERE w.org_id = $1 AND w.id = ANY (ARRAY(SELECT target_id FROM links)) AND)";
constexpr std::string_view waiting_in_order = "$5) ORDER BY w.id FOR NO KEY UPDATE OF w";
constexpr Sql lock_waiting{
    "boards.lock_waiting_for_column", SqlText<waiting_to_lock, if_editor, waiting_in_order>::view};

// Whoever gives a card a place here holds a key share of the column's row, and waits.
constexpr std::string_view these_columns = R"(
    SELECT k.id FROM columns k
    WHERE k.org_id = $1 AND k.board_id = $5 AND k.id = ANY ($6::uuid[]) AND)";
constexpr std::string_view columns_in_order = "$5) ORDER BY k.id FOR UPDATE OF k";
constexpr Sql lock_columns{
    "boards.lock_columns", SqlText<these_columns, if_editor, columns_in_order>::view};

// Without what no change of a column concerns: what they show may be long.
constexpr Sql see_cards{"boards.see_cards_in_column", R"(
    SELECT c.id, c.org_id, c.board_id, c.column_id, b.key || '-' || c.number AS key, c.title,
        c.position, '[]' AS labels, '[]' AS assignees, '{}' AS properties, c.parent_card_id,
        '[]' AS blocked_by,
        c.blocked_by <> '[]' AND )" SVC_HAS_OPEN_BLOCKER("c.id") R"( AS blocked,
        c.external_key, false AS has_children, 0 AS block_count, 0 AS comment_count,
        coalesce(
            w.queue, '{"state": "idle", "attempts": 0, "available_at": null, "last_error": null}'
        ) AS queue,
        w.lease, c.is_archived, c.in_trash, c.completed_at, '' AS url, c.created_time,
        c.created_by, c.last_edited_time, c.last_edited_by, c.version)" SVC_CARD_COLUMNS("c.") R"(
    FROM cards c
    CROSS JOIN (SELECT o.key FROM boards o WHERE o.org_id = $1 AND o.id = $2) b
    LEFT JOIN LATERAL (
        SELECT k.queue, k.lease FROM card_work k
        WHERE k.org_id = $1 AND k.card_id = c.id
        OFFSET 0
    ) w ON true
    WHERE c.org_id = $1 AND c.board_id = $2 AND c.column_id = $3
        AND NOT c.is_archived AND NOT c.in_trash
    ORDER BY c.position, c.id)"};

// What is written is found by its key, in whatever the planner takes for the order of a join.
constexpr Sql place_cards{"boards.place_cards", R"(
    UPDATE cards c
    SET (column_id, position, completed_at) = (
            SELECT w.column_id, w.position, w.completed_at
            FROM jsonb_to_record($3::jsonb -> c.id::text)
                AS w (column_id uuid, position text, completed_at timestamptz)),
        last_edited_time = now(), last_edited_by = $2, version = c.version + 1
    WHERE c.org_id = $1 AND c.id = ANY (ARRAY(SELECT jsonb_object_keys($3::jsonb)::uuid)))"};

/// A card's row as it is from now on.
struct Placed {
    Uuid column_id;
    std::string position;
    std::optional<Timestamp> completed_at;
};
SVC_RECORD(Placed, (column_id), (position), (completed_at));

std::vector<Uuid> together(const Uuid& one, std::vector<Uuid> others) {
    others.push_back(one);
    return others;
}

}  // namespace

ColumnCards::ColumnCards(
    Call& call, const Uuid& board, const Uuid& column, const std::vector<Uuid>& others
)
    : call_(call), board_(board), column_(column), locked_later_([&] {
          BoardCaller::of(call).queue(call.tx(), lock_first, board, column);  // cards, if any
          lock_definitions(call, board);
          BoardCaller::of(call).lock(call.tx(), lock_columns, board, together(column, others));
          return lock();
      }()) {}

DeferredRows<CardFound> ColumnCards::lock() {
    const BoardCaller caller = BoardCaller::of(call_);
    auto cards = caller.later<CardFound>(call_.tx(), lock_cards, board_, column_);
    waiting_ = caller.later<WaitingFound>(call_.tx(), lock_waiting, board_, column_);
    return cards;
}

const std::vector<CardFound>& ColumnCards::locked() {
    if (!locked_) locked_ = locked_later_.all();
    return *locked_;
}

Failure ColumnCards::too_many(std::size_t most, const std::string& what) {
    return Failure(
               Fault::conflict,
               "The column has " + what + " than the " + std::to_string(most) +
                   " that one request may change; move some of its cards to another column first."
    )
        .with("reason", "too_many_cards");
}

void ColumnCards::require_at_most(std::size_t most, std::size_t others) {
    if (count() + others > most)
        throw too_many(
            most, others > 0 ? "more cards, archived and trashed ones included," : "more cards"
        );
}

void ColumnCards::require_waiting_at_most(std::size_t most, std::size_t waiting_cards) {
    const auto waiting = waiting_->all();
    const bool all_found =
        waiting.empty() || waiting.front().links <= static_cast<std::int64_t>(most_column_cards);
    if (!all_found || waiting_cards > most)
        throw too_many(most, "more cards, with those that wait for them,");
}

const std::vector<Card>& ColumnCards::cards() {
    if (cards_) return *cards_;
    require_at_most(most_column_cards);
    Tx& tx = call_.tx();
    std::set<Uuid> known;
    for (const CardFound& each : locked()) known.insert(each.id);
    for (CardWatcher* watcher : MovesImpl::of(call_.kernel()).watchers())
        after_placing_.push_back(
            watcher->about_to_place(tx, call_.org(), std::vector<Uuid>(known.begin(), known.end()))
        );
    cards_ = tx.later<Card>(see_cards, call_.org(), board_, column_).all();
    for (const Card& each : *cards_)
        if (!known.contains(each.id)) throw RetryTransaction("a card came in that was not locked");
    return *cards_;
}

void ColumnCards::check(const EventKind& kind, const std::vector<Card>& after) {
    for (std::size_t i = 0; i < after.size(); ++i)
        call_.check(event_of(kind, cards().at(i), after[i]));
}

Event ColumnCards::event_of(const EventKind& kind, const Card& before, const Card& after) const {
    Event event = changed(kind, before, after).on_board(after.board_id).in_column(after.column_id);
    return way_ ? std::move(event).moved(way_->first, way_->second) : std::move(event);
}

std::vector<Uuid> ColumnCards::completed_or_reopened(const std::vector<Card>& after) {
    std::vector<Uuid> ids;
    for (std::size_t i = 0; i < after.size(); ++i)
        if (is_open(after[i]) != is_open(cards().at(i))) ids.push_back(after[i].id);
    return ids;
}

void ColumnCards::store(const EventKind& kind, const std::vector<Card>& after) {
    if (after.empty()) return;
    const auto ids = completed_or_reopened(after);
    std::optional<DeferredRows<Waiting>> waiting;
    if (!ids.empty()) waiting = waiting_for(call_.tx(), call_.org(), ids);
    std::map<std::string, Placed> rows;
    for (const Card& each : after)
        rows.insert({each.id.str(), {each.column_id, each.position.str(), each.completed_at}});
    std::string text;
    Json<std::map<std::string, Placed>>::write(rows, text);
    call_.tx().queue(place_cards, call_.org(), to_json(ref_of(call_.caller())), text);
    std::vector<Event> events;
    for (std::size_t i = 0; i < after.size(); ++i)
        events.push_back(event_of(kind, cards().at(i), after[i]));
    call_.emit_all(events);
    if (!waiting) return;
    CallActor actor(call_);
    const MovesImpl& moves = MovesImpl::of(call_.kernel());
    std::vector<CardPlace> turned;
    for (const Uuid& each : ids) turned.push_back({each, after.front().column_id});
    moves.blockers_changed(call_.tx(), actor, call_.org(), turned);
    const bool open = is_open(after.front());
    const auto waiting_cards = waiting->all();
    require_waiting_at_most(most_rewritten, after.size() + waiting_cards.size());
    const Blockers now = open ? Blockers::opened : Blockers::closed;
    tell_waiting(call_.tx(), moves, actor, call_.org(), waiting_cards, now);
}

void ColumnCards::placed(
    const std::vector<Card>& after, const ColumnRules& column, const Timestamp& now
) {
    placed(cards(), after, column, now);
}

void ColumnCards::placed_again(const ColumnRules& column, const Timestamp& now) {
    std::vector<Card> before = cards();
    for (Card& each : before) each.column_id = {};  // from nowhere, so that whoever has it loses it
    placed(before, cards(), column, now);
}

void ColumnCards::placed(
    const std::vector<Card>& before,
    const std::vector<Card>& after,
    const ColumnRules& column,
    const Timestamp& now
) {
    CallActor actor(call_);
    std::vector<Placing> placings;
    for (std::size_t i = 0; i < after.size(); ++i)
        placings.push_back({&before.at(i), after[i], &column, now, actor});
    for (const CardWatcher::PlacedAll& each : after_placing_) each(placings);
}

// --------------------------------------------------------------------------- external keys

namespace {

constexpr Sql find_keys{"boards.find_keys_twice", R"(
    SELECT external_key FROM cards
    WHERE org_id = $1 AND board_id = $2 AND external_key IS NOT NULL
        AND NOT is_archived AND NOT in_trash AND (completed_at IS NULL OR column_id = $3)
    GROUP BY external_key
    HAVING count(*) > 1
    ORDER BY external_key
    LIMIT 1)"};

}  // namespace

DeferredRows<KeyTwice> find_keys_twice(
    Tx& tx, const Uuid& org, const Uuid& board, const Uuid& column
) {
    return tx.later<KeyTwice>(find_keys, org, board, column);
}

void require_keys_once(DeferredRows<KeyTwice>& found) {
    if (const auto twice = found.one())
        throw Failure(
            Fault::conflict,
            "Two cards that would be open then have the external_key " + twice->external_key + "."
        )
            .with("reason", "external_key_taken")
            .with("external_key", twice->external_key);
}

}  // namespace svc::boards
