#include "modules/boards/card/creation.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/orgs/api/caller_holds.hpp"
#include "svc/event_row.hpp"

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
    SELECT g.*, false AS created FROM ground g)";

#define SVC_CREATED(text)                                                                   \
    SVC_FILL(                                                                               \
        SVC_FILL(                                                                           \
            SVC_FILL(                                                                       \
                SVC_FILL(                                                                   \
                    SVC_FILL(text, "key", "f.key || '-' || $12::bigint"),                   \
                    "completed_at",                                                         \
                    "coalesce('\"' || " SVC_TIME_TEXT("m.completed_at") " || '\"', 'null')" \
                ),                                                                          \
                "queue",                                                                    \
                "CASE WHEN f.queue_enabled THEN $16::text ELSE $17::text END"               \
            ),                                                                              \
            "created_time",                                                                 \
            SVC_TIME_TEXT("now()")                                                          \
        ),                                                                                  \
        "last_edited_time",                                                                 \
        SVC_TIME_TEXT("now()")                                                              \
    )

// $11 card, $12 number, $13 position, $14 what the column's last may be below: who comes at the
// same moment may stand on either side. $15 CreateHow, $16 and $17 what its place in a queue is
// shown as in a queue and elsewhere. The event from $18, the card's content from $42.
constexpr std::string_view create = R"(,
    fit AS (
        SELECT * FROM ground
        WHERE role IN ('editor', 'admin') AND NOT is_archived AND NOT in_trash AND caller_holds
            AND kind IS NOT NULL AND $12::bigint IS NOT NULL
            AND ($15::text = 'as_found' OR (
                (card_count IS NULL OR $15 = 'held' AND card_count < wip_limit)
                AND (below IS NULL OR below < $14 COLLATE "C")
                AND required = '[]'))
    ), made AS (
        INSERT INTO cards (
            org_id, id, board_id, column_id, number, position, completed_at, title, labels,
            assignees, external_key, created_by, last_edited_by, parent_card_id, blocked_by,
            block_count, properties)" SVC_CARD_COLUMNS("") R"()
        SELECT $1, $11, $5, $6, $12, $13, CASE WHEN f.kind = 'done' THEN now() END, $42, $43, $44,
            $10, $45, $45, $46, $47, $48, $49)" SVC_CARD_PARAMETERS(50) R"(
        FROM fit f
        RETURNING completed_at
    ), counted AS (
        INSERT INTO card_count_changes (org_id, board_id, id, change)
        SELECT $1, $5, $11, 1 FROM fit
    ), emitted AS (
        )" SVC_INSERT_EVENT(
    18,
    SVC_EVENT_OBJECT(18),
    SVC_EVENT_VERSION(18),
    SVC_EVENT_CARD(18),
    SVC_CREATED(SVC_EVENT_CHANGES(18)),
    "fit f CROSS JOIN made m"
) R"(
    )
    SELECT g.*, m.made IS NOT NULL AS created,
        CASE WHEN $15 = 'as_found' AND m.made IS NULL THEN svc_try_again('the ground has changed') END
    FROM ground g
    LEFT JOIN (SELECT true AS made FROM made) m ON true)";

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

DeferredRows<Ground> queue_creation(
    Call& call, const Card& card, const std::optional<std::int64_t>& number, CreateHow how
) {
    const orgs::KnownRights rights(call.caller());
    // The statement fills in a whole value, quotes included; the time of a look before would bring
    // quotes of its own.
    Card before = card;
    before.completed_at.reset();
    const Event event = created_with_gaps(card_created, before, found_by_creation)
                            .on_board(card.board_id)
                            .in_column(card.column_id);
    return BoardCaller::of(call).later<Ground>(
        call.tx(),
        create_card_on_it,
        card.board_id,
        card.column_id,
        rights.epoch,
        rights.until,
        rights.past_due,
        card.external_key,
        card.id,
        number,
        card.position.str(),
        card.position.end_of_moment().str(),
        how,
        to_json(CardQueue{.state = QueueState::ready}),
        to_json(CardQueue{}),
        call.event_row(event),
        card.title,
        card.labels.text,
        card.assignees.text,
        card.created_by.text,
        card.parent_card_id,
        card.blocked_by.text,
        card.block_count,
        card.properties.text SVC_CARD_ARGUMENTS(card)
    );
}

}  // namespace svc::boards
