#include "modules/boards/card/creation.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "svc/event_row.hpp"
#include "svc/param_table.hpp"

namespace svc::boards {

namespace {

// The board, the caller's right on it, and the column: $5, $6; $7 to $9 what is known of the caller,
// $10 the external key. The column is shared, so that its rules hold until the card is in (its
// foreign key asks for no less), by whoever may create a card in it. All is looked up by key.
constexpr std::string_view ground = R"(
    WITH board AS (
        SELECT b.key, b.is_archived, b.in_trash,
            )" SVC_BOARD_ROLE("b.visibility", "b.created_by") R"( AS role,
            )" SVC_CALLER_HOLDS("$7", "$8", "$9") R"( AS caller_holds
        FROM boards b
        )" SVC_BOARD_GRANT("b.id") R"(
        WHERE b.org_id = $1 AND b.id = $5
    ), place AS (
        SELECT id AS column_id, kind, wip_limit, wip_policy, queue_enabled, queue_order
        FROM columns
        WHERE org_id = $1 AND id = $6 AND NOT in_trash
            AND board_id = (SELECT $5::uuid FROM board WHERE role IN ('editor', 'admin'))
        FOR KEY SHARE
    ), ground AS (
        SELECT b.key, b.is_archived, b.in_trash, b.role, b.caller_holds, now() AS now,
            p.kind, $6::uuid AS column_id, p.wip_limit, p.wip_policy, p.queue_enabled,
            p.queue_order,
            CASE WHEN p.wip_policy = 'hard' AND p.wip_limit IS NOT NULL THEN (
                SELECT count(*) FROM cards c
                WHERE c.org_id = $1 AND c.column_id = p.column_id
                    AND NOT c.is_archived AND NOT c.in_trash)
            END AS card_count,
            (SELECT max(c.position) FROM cards c
             WHERE c.org_id = $1 AND c.column_id = p.column_id
                 AND NOT c.is_archived AND NOT c.in_trash) AS below,
            CASE WHEN $10::text IS NOT NULL THEN (
                SELECT c.id FROM cards c
                WHERE c.org_id = $1 AND c.board_id = $5 AND c.external_key = $10
                    AND c.completed_at IS NULL AND NOT c.is_archived AND NOT c.in_trash)
            END AS key_conflict,
            coalesce(
                (SELECT jsonb_agg(r.name ORDER BY r.position)
                 FROM properties r WHERE r.org_id = $1 AND r.board_id = $5 AND r.required),
                '[]') AS required
        FROM board b
        LEFT JOIN place p ON true
    ))";

constexpr std::string_view just_look = R"(
    SELECT g.*, 0::bigint AS created FROM ground g)";

#define SVC_CREATED(text)                                                           \
    SVC_FILL(                                                                       \
        SVC_FILL(                                                                   \
            SVC_FILL(                                                               \
                SVC_FILL(                                                           \
                    SVC_FILL(text, "key", "f.key || '-' || ($17::bigint[])[f.n]"),  \
                    "completed_at",                                                 \
                    "CASE WHEN f.kind = 'done' THEN '\"' || " SVC_TIME_TEXT("now()" \
                    ) " || '\"' ELSE 'null' END"                                    \
                ),                                                                  \
                "queue",                                                            \
                "CASE WHEN f.queue_enabled THEN $12::text ELSE $13::text END"       \
            ),                                                                      \
            "created_time",                                                         \
            SVC_TIME_TEXT("now()")                                                  \
        ),                                                                          \
        "last_edited_time",                                                         \
        SVC_TIME_TEXT("now()")                                                      \
    )

// $11 CreateHow, $12 and $13 what a place in a queue is shown as in a queue and elsewhere, $14 what
// the column's last may be below: who comes at the same moment may stand on either side. $15 who
// creates. Of the cards, an array each: $16 ids, $17 numbers, $18 positions, their events from $19,
// their content from $48.
constexpr std::string_view create = R"(,
    fit AS (
        SELECT g.key, g.kind, g.queue_enabled, i.n
        FROM ground g
        CROSS JOIN generate_series(1, cardinality($16::uuid[])) i (n)
        WHERE g.role IN ('editor', 'admin') AND NOT g.is_archived AND NOT g.in_trash
            AND g.caller_holds AND g.kind IS NOT NULL AND ($17::bigint[])[i.n] IS NOT NULL
            AND ($11::text = 'as_found' OR (
                (g.card_count IS NULL OR $11 = 'held' AND g.card_count + i.n <= g.wip_limit)
                AND (g.below IS NULL OR g.below < $14 COLLATE "C")
                AND g.required = '[]'))
        ORDER BY i.n
    ), made AS (
        INSERT INTO cards (
            org_id, id, board_id, column_id, number, position, completed_at, external_key,
            created_by, last_edited_by, title, labels, assignees, parent_card_id, blocked_by,
            block_count, properties)" SVC_CARD_COLUMNS("") R"()
        SELECT $1, ($16::uuid[])[f.n], $5, $6, ($17::bigint[])[f.n], ($18::text[])[f.n],
            CASE WHEN f.kind = 'done' THEN now() END, $10, $15::jsonb, $15::jsonb,
            ($48::text[])[f.n], ($49::jsonb[])[f.n], ($50::jsonb[])[f.n], ($51::uuid[])[f.n],
            ($52::jsonb[])[f.n], ($53::bigint[])[f.n],
            ($54::jsonb[])[f.n])" SVC_CARD_ELEMENTS(55, "f.n") R"(
        FROM fit f
        RETURNING id
    ), counted AS (
        INSERT INTO card_count_changes (org_id, board_id, id, change)
        SELECT $1, $5, ($16::uuid[])[1], count(*) FROM fit HAVING count(*) > 0
    ), emitted AS (
        )" SVC_INSERT_EVENTS_AT(
    19, "f.n", SVC_CREATED(SVC_EVENT_CHANGES_AT(19, "f.n")), "fit f"
) R"(
    )
    SELECT g.*, m.created,
        CASE WHEN $11 = 'as_found' AND m.created = 0 THEN svc_try_again('the ground has changed') END
    FROM ground g
    CROSS JOIN (SELECT count(*) AS created FROM made) m)";

constexpr Sql look{"boards.see_ground", SqlText<ground, just_look>::view};
constexpr Sql create_card_on_it{"boards.create_card", SqlText<ground, create>::view};

// What a board defines once for all its cards, and a column that takes so many cards and no more.
constexpr std::string_view hold_board = R"(
    WITH board AS (
        SELECT board_id FROM board_counters
        WHERE org_id = $1 AND board_id = $5 AND)";
constexpr std::string_view and_column = R"($5)
        FOR NO KEY UPDATE
    ), limited AS (
        SELECT id FROM columns
        WHERE org_id = $1 AND board_id = (SELECT board_id FROM board) AND id = $6
            AND wip_policy = 'hard' AND wip_limit IS NOT NULL
        FOR NO KEY UPDATE
    )
    SELECT board_id, (SELECT count(*) FROM limited) AS limits FROM board)";
constexpr Sql hold{"boards.hold_ground", SqlText<hold_board, if_editor, and_column>::view};

/// What a card's event does not know before.
constexpr std::string_view found_by_creation[] = {
    "key", "completed_at", "queue", "created_time", "last_edited_time"};

/// With gaps. The statement fills in a whole value, quotes included; the time of a look before
/// would bring quotes of its own.
Event event_with_gaps(const Card& card) {
    const auto of = [](const Card& open) {
        return created_with_gaps(card_created, open, found_by_creation)
            .on_board(open.board_id)
            .in_column(open.column_id);
    };
    if (!card.completed_at) return of(card);
    Card open = card;
    open.completed_at.reset();
    return of(open);
}

}  // namespace

DeferredRows<Ground> see_ground(
    Call& call,
    const Uuid& board,
    const Uuid& column,
    const std::optional<std::string>& external_key
) {
    const orgs::KnownRights rights(call.caller());
    return BoardCaller::of(call).later<Ground>(
        call.tx(), look, board, column, rights.epoch, rights.until, rights.past_due, external_key
    );
}

Result hold_place(Call& call, const Uuid& board, const Uuid& column) {
    return BoardCaller::of(call).queue(call.tx(), hold, board, column);
}

DeferredRows<Ground> queue_creation(Call& call, std::span<const NewCard> cards, CreateHow how) {
    const Card& first = cards.front().card;
    std::vector<Uuid> ids;
    ParamTable table;
    for (const auto& [card, request_id, number] : cards) {
        Event event = event_with_gaps(card);
        event.request_id = request_id;
        ids.push_back(card.id);
        table.add(
            number,
            card.position.str(),
            call.event_row(event),
            card.title,
            card.labels.text,
            card.assignees.text,
            card.parent_card_id,
            card.blocked_by.text,
            card.block_count,
            card.properties.text SVC_CARD_ARGUMENTS(card)
        );
    }
    const orgs::KnownRights rights(call.caller());
    return BoardCaller::of(call).later<Ground>(
        call.tx(),
        create_card_on_it,
        first.board_id,
        first.column_id,
        rights.epoch,
        rights.until,
        rights.past_due,
        first.external_key,
        how,
        to_json(CardQueue{.state = QueueState::ready}),
        to_json(CardQueue{}),
        first.position.end_of_moment().str(),
        first.created_by.text,
        ids,
        std::move(table).columns()
    );
}

}  // namespace svc::boards
