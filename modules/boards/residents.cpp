// What becomes of all the cards in a column when the column changes.

#include "modules/boards/residents.hpp"

#include "modules/boards/waiting.hpp"

namespace svc::boards {

namespace {

constexpr Sql lock_cards{"boards.lock_cards_in_column", R"(
    SELECT id FROM cards
    WHERE org_id = $1 AND column_id = $2 AND NOT is_archived AND NOT in_trash
    ORDER BY id
    FOR UPDATE)"};

// Of two who finish the last that a card waits for, one finds that the other was first.
constexpr Sql lock_waiting{"boards.lock_waiting_for_column", R"(
    SELECT id FROM cards
    WHERE org_id = $1 AND id IN (
        SELECT l.target_id
        FROM cards c
        JOIN card_links l ON l.org_id = $1 AND l.card_id = c.id AND l.kind = 'blocks'
        WHERE c.org_id = $1 AND c.column_id = $2 AND NOT c.is_archived AND NOT c.in_trash)
    ORDER BY id
    FOR NO KEY UPDATE)"};

// Whoever gives a card a place here holds a key share of the column's row, and waits.
constexpr Sql lock_columns{"boards.lock_columns", R"(
    SELECT id FROM columns
    WHERE org_id = $1 AND board_id = $2 AND id = ANY ($3::uuid[])
    ORDER BY id
    FOR UPDATE)"};

constexpr Sql see_cards{"boards.see_cards_in_column", R"(
    SELECT v.* FROM card_view v
    WHERE v.org_id = $1 AND v.column_id = $2 AND NOT v.is_archived AND NOT v.in_trash
    ORDER BY v.position, v.id)"};

constexpr Sql place_cards{"boards.place_cards", R"(
    UPDATE cards c
    SET column_id = w.column_id, position = w.position, completed_at = w.completed_at,
        last_edited_time = now(), last_edited_by = $2, version = c.version + 1
    FROM jsonb_to_recordset($3::jsonb)
        w (id uuid, column_id uuid, position text, completed_at timestamptz)
    WHERE c.org_id = $1 AND c.id = w.id)"};

/// A card's row as it is from now on.
struct Placed {
    Uuid id;
    Uuid column_id;
    std::string position;
    std::optional<Timestamp> completed_at;
};
SVC_RECORD(Placed, (id, ""), (column_id, ""), (position, ""), (completed_at, ""));

std::vector<Uuid> together(const Uuid& one, std::vector<Uuid> others) {
    others.push_back(one);
    return others;
}

}  // namespace

Residents::Residents(
    Call& call, const Uuid& board, const Uuid& column, const std::vector<Uuid>& others
)
    : call_(call), column_(column), first_(lock()), second_([&] {
          Tx& tx = call.tx();
          tx.queue(lock_definitions, call.org(), board);
          tx.queue(lock_columns, call.org(), board, together(column, others));
          return lock();
      }()) {}

Later<CardFound> Residents::lock() {
    Tx& tx = call_.tx();
    auto cards = tx.later<CardFound>(lock_cards, call_.org(), column_);
    tx.queue(lock_waiting, call_.org(), column_);
    return cards;
}

const std::vector<CardFound>& Residents::locked() {
    if (!locked_) locked_ = second_.all();
    return *locked_;
}

const std::vector<Card>& Residents::cards() {
    if (cards_) return *cards_;
    if (count() > most_residents)
        throw Failure(
            Fault::conflict,
            "There are more than 10,000 cards in the column; move or archive some of them first."
        )
            .with("reason", "too_many_cards")
            .with("count", std::to_string(count()));
    Tx& tx = call_.tx();
    std::map<Uuid, std::vector<CardWatcher::Settle>> settles;
    for (const CardFound& each : locked())
        settles.emplace(each.id, about_to_place(tx, call_.org(), each.id));
    cards_ = tx.later<Card>(see_cards, call_.org(), column_).all();
    for (const Card& each : *cards_) {
        const auto known = settles.find(each.id);
        if (known == settles.end()) throw Again("a card came in that was not locked");
        settles_.push_back(std::move(known->second));
    }
    return *cards_;
}

void Residents::ask(const EventKind& kind, const std::vector<Card>& after) {
    for (std::size_t i = 0; i < after.size(); ++i)
        call_.ask(changed(kind, cards().at(i), after[i])
                      .on_board(after[i].board_id)
                      .in_column(after[i].column_id));
}

std::vector<Uuid> Residents::turned(const std::vector<Card>& after) {
    std::vector<Uuid> ids;
    for (std::size_t i = 0; i < after.size(); ++i)
        if (is_open(after[i]) != is_open(cards().at(i))) ids.push_back(after[i].id);
    return ids;
}

void Residents::store(const EventKind& kind, const std::vector<Card>& after) {
    if (after.empty()) return;
    const auto ids = turned(after);
    std::optional<Later<Waiting>> waiting;
    if (!ids.empty()) waiting = waiting_for(call_.tx(), call_.org(), ids);
    std::vector<Placed> rows;
    for (const Card& each : after)
        rows.push_back({each.id, each.column_id, each.position.str(), each.completed_at});
    std::string text;
    Json<std::vector<Placed>>::write(rows, text);
    call_.tx().queue(place_cards, call_.org(), to_json(ref_of(call_.caller())), text);
    for (std::size_t i = 0; i < after.size(); ++i)
        call_.tell(changed(kind, cards().at(i), after[i])
                       .on_board(after[i].board_id)
                       .in_column(after[i].column_id));
    if (!waiting) return;
    CallDoer doer(call_);
    const bool open = is_open(after.front());
    tell_the_waiting(doer, waiting->all(), open ? Blockers::opened : Blockers::closed);
}

void Residents::settle(
    const std::vector<Card>& after, const ColumnRules& column, const Timestamp& now
) {
    CallDoer doer(call_);
    for (std::size_t i = 0; i < after.size(); ++i) {
        const Placing placing{&cards().at(i), after[i], &column, now, doer};
        for (const CardWatcher::Settle& each : settles_.at(i)) each(placing);
    }
}

void Residents::settle_afresh(const ColumnRules& column, const Timestamp& now) {
    CallDoer doer(call_);
    for (std::size_t i = 0; i < cards().size(); ++i) {
        Card before = cards()[i];
        before.column_id = {};  // from nowhere, so that whoever has it loses it
        const Placing placing{&before, cards()[i], &column, now, doer};
        for (const CardWatcher::Settle& each : settles_.at(i)) each(placing);
    }
}

// --------------------------------------------------------------------------- external keys

namespace {

constexpr Sql find_keys{"boards.find_keys_twice", R"(
    SELECT external_key FROM cards
    WHERE org_id = $1 AND board_id = $2 AND external_key IS NOT NULL
        AND NOT is_archived AND NOT in_trash AND (completed_at IS NULL OR column_id = $3)
    GROUP BY external_key
    HAVING count(*) > 1
    LIMIT 1)"};

}  // namespace

Later<KeyTwice> find_keys_twice(Tx& tx, const Uuid& org, const Uuid& board, const Uuid& column) {
    return tx.later<KeyTwice>(find_keys, org, board, column);
}

void require_keys_once(Later<KeyTwice>& found) {
    if (const auto twice = found.one())
        throw Failure(
            Fault::conflict,
            "Two cards that would be open then have the external_key " + twice->external_key + "."
        )
            .with("reason", "external_key_taken")
            .with("external_key", twice->external_key);
}

}  // namespace svc::boards
