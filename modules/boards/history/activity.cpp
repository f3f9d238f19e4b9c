// What happened to a card, out of the audit record.

#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/requests.hpp"
#include "modules/boards/history/actor.hpp"
#include "modules/boards/operations.hpp"

#include <limits>

namespace svc::boards {

namespace {

// Out of the log, where an entry stands from the moment of its change. $3 is where the last page
// ended. Ids are drawn while a card is locked, so they rise with what happened to it.
constexpr Sql some_activity{"boards.list_card_activity", R"(
    SELECT l.entry_id AS id, l.kind, l.action, l.object AS subject_type, l.object_id AS subject_id,
        l.occurred_at,
        )" SVC_ACTOR("l") R"( AS actor, l.via, l.changes, l.previous, l.id AS log_id
    FROM event_log l
    WHERE l.org_id = $1 AND l.card_id = $2 AND l.id < $3 AND l.outcome = 'success'
    ORDER BY l.id DESC
    LIMIT $4)"};

// The entries that a card's own version rose with, and only as many as a page has: a card can have
// tens of thousands.
constexpr Sql some_versions{"boards.list_card_versions", R"(
    SELECT (e.changes::json ->> 'version')::bigint AS version, e.kind, e.action,
        e.occurred_at AS edited_at,
        )" SVC_ACTOR("e") R"( AS edited_by, e.via,
        CASE WHEN e.kind = 'card.created' THEN '[]' ELSE (
            SELECT json_agg(k ORDER BY k) FROM json_object_keys(e.changes::json) k
            WHERE k NOT IN ('version', 'last_edited_time', 'last_edited_by'))
        END AS changed_fields,
        e.log_id
    FROM (
        SELECT l.id AS log_id, l.kind, l.action, l.actor_id, l.actor_type, l.actor_name, l.via,
            l.changes, l.occurred_at
        FROM event_log l
        WHERE l.org_id = $1 AND l.card_id = $2 AND l.id < $3 AND l.outcome = 'success'
            AND l.object = 'card' AND l.changes::json ->> 'version' IS NOT NULL
        ORDER BY l.id DESC
        LIMIT $4
    ) e
    ORDER BY e.log_id DESC)"};

struct CardActivity {
    Object<"card_activity"> object;
    Uuid id;
    std::optional<std::string> kind;
    std::string action;
    std::optional<std::string> subject_type;
    std::optional<Uuid> subject_id;
    PrincipalRef actor;
    Surface via{};
    JsonText changes, previous;
    Timestamp occurred_at;
};
SVC_RECORD(
    CardActivity,
    (object),
    (id, "The entry's id; its event has the same."),
    (kind, "The event's kind, such as `card.moved`; null for an entry without an event."),
    (action, "The operation that did it."),
    (subject_type, "`card`, or what belongs to the card: a block, a comment, a link, a lease."),
    (subject_id, "Which one."),
    (actor, "Who did it."),
    (via, "The surface it came in by."),
    (changes, "The fields that changed, as they are since then."),
    (previous, "The same fields as they were before."),
    (occurred_at, "When, by the database's clock.")
);

struct ActivityRow {
    CardActivity activity;
    std::int64_t log_id = 0;
};
SVC_RECORD(ActivityRow, (activity, "", flatten), (log_id));

struct CardVersion {
    Object<"card_version"> object;
    std::int64_t version = 0;
    std::optional<std::string> kind;
    std::string action;
    std::vector<std::string> changed_fields;
    PrincipalRef edited_by;
    Surface via{};
    Timestamp edited_at;
};
SVC_RECORD(
    CardVersion,
    (object),
    (version, "What revert_card takes."),
    (kind, "The kind of its event, such as `card.updated`."),
    (action, "The operation that made it."),
    (changed_fields, "The fields in which it differs from the one before; none of the first."),
    (edited_by, "Who made it."),
    (via, "The surface it came in by."),
    (edited_at, "When, by the database's clock.")
);

struct VersionRow {
    CardVersion version;
    std::int64_t log_id = 0;
};
SVC_RECORD(VersionRow, (version, "", flatten), (log_id));

struct CardHistoryQuery {
    CardRef card_id;
    Paging paging;
};
SVC_RECORD(
    CardHistoryQuery, (card_id, "Its id, or its key such as ENG-42."), (paging, "", flatten)
);

/// A page of either list: `Row` has the entry's place in the log besides what is shown of it.
template <class Row, class Shown>
Page<Shown> page_of(Call& call, const CardHistoryQuery& in, const Sql& some, Shown Row::*shown) {
    Tx& tx = call.tx();
    const auto after = call.after(in.paging);
    if (after && after->size() != 1)  // pages went by the time once
        throw wrong_field(
            call, "start_cursor", "This cursor is of an earlier release", FieldPlace::query
        );
    const std::int64_t below =
        after ? std::stoll(after->front()) : std::numeric_limits<std::int64_t>::max();
    const Uuid card = id_of(call, in.card_id);
    auto seen = BoardCaller::of(call).later<CardAccess>(tx, see_card, card);
    auto found = tx.later<Row>(some, call.org(), card, below, in.paging.page_size + 1);
    require_visible(seen.one());
    auto page = call.page(found.all(), in.paging, [](const Row& last) {
        return std::vector{std::to_string(last.log_id)};
    });
    Page<Shown> out{{}, page.next_cursor};
    for (Row& each : page.results) out.results.push_back(std::move(each.*shown));
    return out;
}

Page<CardActivity> list_activity(Call& call, const CardHistoryQuery& in) {
    return page_of(call, in, some_activity, &ActivityRow::activity);
}

Page<CardVersion> list_versions(Call& call, const CardHistoryQuery& in) {
    return page_of(call, in, some_versions, &VersionRow::version);
}

}  // namespace

const Operation list_card_activity{
    .name = "list_card_activity",
    .route = "GET /v1/cards/{card_id}/activity",
    .summary = "List what happened to a card, newest first, with what it was before.",
    .description =
        "All events of the card and of what belongs to it: blocks, comments, links, "
        "leases.",
    .access = Access::board_viewer,
    .handler = list_activity,
};

const Operation list_card_versions{
    .name = "list_card_versions",
    .route = "GET /v1/cards/{card_id}/versions",
    .summary = "List the versions of a card, newest first.",
    .description =
        "Each with who made it and in which fields it differs from the one before; "
        "list_card_activity has the values. Edits of the card's body raise its version as well, "
        "and "
        "are listed there alone.",
    .access = Access::board_viewer,
    .handler = list_versions,
};

}  // namespace svc::boards
