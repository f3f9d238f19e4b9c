#include "modules/boards/board/copies.hpp"

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/lib/file_values.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/property/copied_values.hpp"
#include "modules/boards/storage/stored_bytes.hpp"

#include <algorithm>
#include <set>

namespace svc::boards {

namespace {

// Who finds it locked waits: whoever holds it may be a server that was cut off, and what it has
// done is taken back.
constexpr Sql take_copy{"boards.take_board_copy", R"(
    SELECT made_by, ids, copied, now() AS now FROM board_copies
    WHERE org_id = $1 AND board_id = $2
    FOR UPDATE)"};

struct Copy {
    AsJson<PrincipalRef> made_by;
    AsJson<std::map<std::string, JsonText>> ids;
    std::int64_t copied = 0;
    Timestamp now;
};
SVC_RECORD(Copy, (made_by), (ids), (copied), (now));

// What is defined there stays as it is until the cards show it.
constexpr Sql lock_board{"boards.lock_board_of_copy", R"(
    SELECT board_id FROM board_counters WHERE org_id = $1 AND board_id = $2 FOR UPDATE)"};

// As many as may be held in memory, at least one; blocks count as well.
constexpr Sql choose_cards{"boards.choose_cards_to_copy", R"(
    SELECT t.number, t.source_id, t.card_id
    FROM (
        SELECT m.number, m.source_id, m.card_id,
            sum(1200 + coalesce(c.bytes, 0)) OVER (
                ORDER BY m.number ROWS UNBOUNDED PRECEDING) AS bytes,
            row_number() OVER (ORDER BY m.number) AS n
        FROM (
            SELECT x.number, x.source_id, x.card_id FROM board_copy_cards x
            WHERE x.org_id = $1 AND x.board_id = $2 AND x.number > $3
            ORDER BY x.number
            LIMIT 200
        ) m
        LEFT JOIN LATERAL (
            SELECT o.shown_bytes + 500 * o.block_count AS bytes FROM cards o
            WHERE o.org_id = $1 AND o.id = m.source_id
            OFFSET 0
        ) c ON true
    ) t
    WHERE t.bytes <= 1048576 OR t.n = 1
    ORDER BY t.number)"};

struct Planned {
    std::int64_t number = 0;
    Uuid source_id;
    Uuid card_id;
};
SVC_RECORD(Planned, (number), (source_id), (card_id));

// Whoever has gone into the trash meanwhile stays behind.
constexpr Sql read_cards{"boards.cards_to_copy", R"(
    SELECT v.*
    FROM unnest($2::uuid[]) w (id)
    CROSS JOIN LATERAL (
        SELECT * FROM card_view s WHERE s.org_id = $1 AND s.id = w.id AND NOT s.in_trash OFFSET 0
    ) v)"};

constexpr Sql find_copies{"boards.find_copies_of_cards", R"(
    SELECT m.number, m.source_id, m.card_id FROM board_copy_cards m
    WHERE m.org_id = $1 AND m.board_id = $2 AND m.source_id = ANY ($3::uuid[]))"};

constexpr Sql read_columns{"boards.columns_of_copy", R"(
    SELECT v.* FROM column_view v
    WHERE v.org_id = $1 AND v.board_id = $2 AND NOT v.in_trash
    ORDER BY v.order_key, v.id)"};

// An external key that somebody has taken on the new board meanwhile stays theirs; of several cards
// that are done the first has it, should they not be done there.
constexpr Sql insert_cards{"boards.insert_cards_of_copy", R"(
    INSERT INTO cards (
        org_id, id, board_id, column_id, number, position, title, labels, assignees, properties,
        parent_card_id, external_key, completed_at, created_by, last_edited_by, blocked_by,
        block_count)" SVC_CARD_COLUMNS("") R"()
    SELECT $1, c.id, $2, c.column_id, c.number, r.place, c.title, c.labels, c.assignees,
        c.properties, c.parent_card_id,
        CASE WHEN c.external_key IS NOT NULL AND NOT EXISTS (
            SELECT FROM cards o
            WHERE o.org_id = $1 AND o.board_id = $2 AND o.external_key = c.external_key
                AND o.completed_at IS NULL AND NOT o.is_archived AND NOT o.in_trash)
            AND row_number() OVER (
                PARTITION BY c.external_key, CASE WHEN c.completed_at IS NOT NULL THEN c.id END
                ORDER BY c.number) = 1
            THEN c.external_key END,
        c.completed_at, c.created_by, c.last_edited_by, c.blocked_by,
        c.block_count)" SVC_CARD_COLUMNS("c.") R"(
    FROM jsonb_array_elements($3::jsonb) e (card)
    CROSS JOIN LATERAL jsonb_to_record(e.card) r (place text)
    CROSS JOIN LATERAL jsonb_populate_record(NULL::cards, e.card) c)"};

constexpr Sql insert_assignees{"boards.insert_assignees_of_copy", R"(
    INSERT INTO card_assignees (org_id, principal_id, card_id)
    SELECT DISTINCT $1::uuid, (a.who ->> 'id')::uuid, c.id
    FROM jsonb_to_recordset($2::jsonb) c (id uuid, assignees jsonb)
    CROSS JOIN LATERAL jsonb_array_elements(c.assignees) a (who))"};

// Between cards of this batch ($3 to $4) and those that are there already.
constexpr Sql insert_links{"boards.insert_links_of_copy", R"(
    INSERT INTO card_links (org_id, card_id, kind, target_id, id, created_by)
    SELECT $1, b.card_id, 'blocks', t.card_id,
        overlay(overlay(md5(b.card_id::text || t.card_id::text) placing '8' from 13)
            placing '8' from 17)::uuid,
        $5
    FROM board_copy_cards n
    JOIN card_links l
        ON l.org_id = $1 AND l.kind = 'blocks'
        AND (l.card_id = n.source_id OR l.target_id = n.source_id)
    JOIN board_copy_cards b
        ON b.org_id = $1 AND b.board_id = $2 AND b.source_id = l.card_id AND b.number <= $4
    JOIN board_copy_cards t
        ON t.org_id = $1 AND t.board_id = $2 AND t.source_id = l.target_id AND t.number <= $4
    WHERE n.org_id = $1 AND n.board_id = $2 AND n.number BETWEEN $3 AND $4
    ON CONFLICT DO NOTHING
    RETURNING target_id AS id)"};

struct CardId {
    Uuid id;
};
SVC_RECORD(CardId, (id));

constexpr Sql leave_out{"boards.leave_cards_out_of_copy", R"(
    WITH gone AS (
        DELETE FROM board_copy_cards
        WHERE org_id = $1 AND board_id = $2 AND card_id = ANY ($3::uuid[])
    )
    UPDATE cards
    SET blocked_by = blocked_by - $3::uuid[]::text[],
        parent_card_id = CASE WHEN parent_card_id = ANY ($3::uuid[]) THEN NULL
            ELSE parent_card_id END
    WHERE org_id = $1 AND board_id = $2
        AND (blocked_by ?| $3::uuid[]::text[] OR parent_card_id = ANY ($3::uuid[]))
    RETURNING id)"};

// Of these ($3) those that wait for none that is still to come, behind $4: the others wait until
// then, whatever became of those that are there.
constexpr Sql see_settled{"boards.copies_with_all_blockers", R"(
    SELECT c.id, c.column_id
    FROM unnest($3::uuid[]) w (id)
    CROSS JOIN LATERAL (
        SELECT o.id, o.column_id, o.blocked_by FROM cards o
        WHERE o.org_id = $1 AND o.id = w.id
        OFFSET 0
    ) c
    WHERE NOT EXISTS (
        SELECT FROM jsonb_array_elements_text(c.blocked_by) b (id)
        WHERE b.id IN (
            SELECT m.card_id::text FROM board_copy_cards m
            WHERE m.org_id = $1 AND m.board_id = $2 AND m.number > $4)))"};

struct SettledCopy {
    Uuid id;
    Uuid column_id;
};
SVC_RECORD(SettledCopy, (id), (column_id));

constexpr Sql count_cards{"boards.count_cards_of_copy", R"(
    UPDATE board_counters SET card_count = card_count + $3
    WHERE org_id = $1 AND board_id = $2)"};

constexpr Sql keep_place{"boards.keep_place_of_copy", R"(
    UPDATE board_copies c SET copied = $3
    WHERE c.org_id = $1 AND c.board_id = $2
    RETURNING (
        SELECT count(*) FROM board_copy_cards m
        WHERE m.org_id = $1 AND m.board_id = $2 AND m.number > $3) AS number)"};

struct Count {
    std::int64_t number = 0;
};
SVC_RECORD(Count, (number));

constexpr Sql drop_copy{"boards.drop_board_copy", R"(
    DELETE FROM board_copies WHERE org_id = $1 AND board_id = $2)"};

struct CardRow {
    Card card;
    std::int64_t number = 0;
    std::string place;
};
SVC_RECORD(CardRow, (card, "", flatten), (number), (place));

Event event_of(const Card& card) {
    return created(card_created, card).on_board(card.board_id).in_column(card.column_id);
}

/// One batch of one copy.
class Batch {
public:
    Batch(Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const Uuid& board)
        : kernel_(kernel), tx_(tx), actor_(actor), org_(org), board_id_(board) {}

    std::int64_t run() {
        auto copy = tx_.one<Copy>(take_copy, org_, board_id_);
        if (!copy) return 0;  // all are there
        copy_ = *std::move(copy);
        planned_ = tx_.all<Planned>(choose_cards, org_, board_id_, copy_.copied);
        if (!planned_.empty()) copy_planned();
        const std::int64_t last = planned_.empty() ? copy_.copied : planned_.back().number;
        const auto rest = tx_.later<Count>(keep_place, org_, board_id_, last).one_or_retry().number;
        if (rest == 0) tx_.queue(drop_copy, org_, board_id_);
        return rest;
    }

private:
    void copy_planned() {
        read();
        for (const Planned& each : planned_)
            if (const auto source = sources_.find(each.source_id); source != sources_.end())
                add(source->second, each);
        for (const CardRow& each : rows_) actor_.check(event_of(each.card));
        std::vector<DeferredRows<CardId>> changed;
        if (!gone_.empty()) changed.push_back(tx_.later<CardId>(leave_out, org_, board_id_, gone_));
        if (!rows_.empty()) changed.push_back(store());
        tell_of_blockers(changed);
    }

    /// Cards of earlier batches may have got something to wait for only now, or it never comes.
    void tell_of_blockers(std::vector<DeferredRows<CardId>>& changed) {
        std::vector<Uuid> ids;
        for (auto& some : changed)
            for (const CardId& each : some.all()) ids.push_back(each.id);
        if (ids.empty()) return;
        std::ranges::sort(ids);
        ids.erase(std::ranges::unique(ids).begin(), ids.end());
        const std::int64_t last = planned_.back().number;
        std::vector<CardPlace> places;
        for (const auto& each : tx_.all<SettledCopy>(see_settled, org_, board_id_, ids, last))
            places.push_back({each.id, each.column_id});
        MovesImpl::of(kernel_).blockers_changed(tx_, actor_, org_, places);
    }

    void read() {
        std::vector<Uuid> wanted;
        for (const Planned& each : planned_) wanted.push_back(each.source_id);
        tx_.queue(lock_board, org_, board_id_);
        auto board = see_whole_board(tx_, BoardCaller::of_system(org_), board_id_);
        auto columns = tx_.later<ColumnAccess>(read_columns, org_, board_id_);
        auto cards = tx_.later<Card>(read_cards, org_, wanted);
        board_ = board.one_or_retry();
        definitions_.emplace(board_.labels.parsed(), board_.properties.parsed());
        for (ColumnAccess& each : columns.all()) columns_.push_back(std::move(each.column));
        for (const auto& [old, now] : copy_.ids.parsed()) {
            const auto from = Uuid::parse(old), to = id_of_json(now.text);
            if (from && to) ids_.add(*from, *to);
        }
        std::set<Uuid> named;
        for (Card& each : cards.all()) {
            ids_in(each.properties.text, named);
            ids_in(each.blocked_by.text, named);
            if (each.parent_card_id) named.insert(*each.parent_card_id);
            sources_.emplace(each.id, std::move(each));
        }
        for (const Planned& each : planned_)
            if (!sources_.contains(each.source_id)) {
                gone_.push_back(each.card_id);
                named.erase(each.source_id);
            }
        const std::vector<Uuid> list(named.begin(), named.end());
        if (!list.empty())
            for (const Planned& each : tx_.all<Planned>(find_copies, org_, board_id_, list))
                ids_.add(each.source_id, each.card_id);
    }

    void add(const Card& source, const Planned& plan) {
        Card card = source;
        const Column& column = column_of(source);
        const ColumnRules rules = rules_of(column);
        card.id = plan.card_id;
        card.board_id = board_id_;
        card.column_id = column.id;
        card.key = board_.key + "-" + std::to_string(plan.number);
        card.labels = AsJson(copied_labels(source.labels.parsed(), *definitions_, ids_));
        card.properties = AsJson(copied_values(source.properties.parsed(), *definitions_, ids_));
        card.parent_card_id =
            source.parent_card_id ? ids_.find(*source.parent_card_id) : std::nullopt;
        std::vector<Uuid> blockers;
        for (const Uuid& each : source.blocked_by.parsed())
            if (const auto copy = ids_.find(each)) blockers.push_back(*copy);
        card.blocked_by = AsJson(blockers);
        card.blocked = source.blocked && !blockers.empty();
        if (!bodies_) card.block_count = 0;
        card.has_children = card.block_count > 0;
        card.comment_count = 0;
        card.is_archived = false;
        if (column.kind != ColumnKind::done) card.completed_at.reset();
        else if (!card.completed_at) card.completed_at = copy_.now;
        card.lease.reset();
        enter(card, &rules);
        card.url = url_of(kernel_, card);
        card.created_time = card.last_edited_time = copy_.now;
        card.created_by = card.last_edited_by = copy_.made_by;
        card.version = 1;
        std::string place = card.position.str();
        rows_.push_back({std::move(card), plan.number, std::move(place)});
    }

    /// The one that took the place of the card's; the first, should that be gone already.
    const Column& column_of(const Card& source) const {
        const auto there = ids_.find(source.column_id);
        const auto found = std::ranges::find_if(columns_, [&](const Column& each) {
            return there && each.id == *there;
        });
        if (found != columns_.end()) return *found;
        if (columns_.empty()) throw std::runtime_error("the new board has no column any more");
        return columns_.front();
    }

    /// Those that have got something to wait for.
    DeferredRows<CardId> store() {
        std::string text;
        Json<std::vector<CardRow>>::write(rows_, text);
        const std::int64_t first = planned_.front().number, last = planned_.back().number;
        tx_.queue(insert_cards, org_, board_id_, text);
        tx_.queue(insert_assignees, org_, text);
        auto tied =
            tx_.later<CardId>(insert_links, org_, board_id_, first, last, copy_.made_by.text);
        tx_.queue(count_cards, org_, board_id_, static_cast<std::int64_t>(rows_.size()));
        copy_bodies();
        std::vector<Uuid> with_files;
        std::vector<Event> events;
        for (const CardRow& each : rows_) {
            if (has_files(each.card.properties.text)) with_files.push_back(each.card.id);
            const ColumnRules rules =
                rules_of(*std::ranges::find(columns_, each.card.column_id, &Column::id));
            const Placing placing{nullptr, each.card, &rules, copy_.now, actor_};
            for (CardWatcher* watcher : MovesImpl::of(kernel_).watchers()) {
                watcher->creating(tx_, {&each.card});
                watcher->created(placing);
            }
            events.push_back(event_of(each.card));
        }
        if (auto* files = kernel_.find<CardFiles>(); files && !with_files.empty())
            files->follow(tx_, org_, with_files);
        actor_.emit_all(events);
        return tied;
    }

    void copy_bodies() {
        std::map<Uuid, Uuid> sources;
        for (const Planned& each : planned_) sources.emplace(each.card_id, each.source_id);
        std::vector<std::function<void()>> copied;
        for (const CardRow& each : rows_)
            if (each.card.block_count > 0)
                copied.push_back(bodies_->copy(
                    kernel_, tx_, copy_.made_by.parsed(), sources.at(each.card.id), each.card
                ));
        for (const auto& see_to_the_rest : copied) see_to_the_rest();
    }

    Kernel& kernel_;
    Tx& tx_;
    Actor& actor_;
    const Uuid org_, board_id_;
    CardBodies* const bodies_ = kernel_.find<CardBodies>();
    Copy copy_;
    Board board_;
    std::optional<DefinitionIndex> definitions_;
    std::vector<Planned> planned_;
    std::vector<Column> columns_;
    std::map<Uuid, Card> sources_;
    std::vector<Uuid> gone_;  // copies of what is there no more
    std::vector<CardRow> rows_;
    NewIds ids_;
};

}  // namespace

std::int64_t copy_next_cards(
    Kernel& kernel, Tx& tx, Actor& actor, const Uuid& org, const Uuid& board
) {
    return Batch(kernel, tx, actor, org, board).run();
}

}  // namespace svc::boards
