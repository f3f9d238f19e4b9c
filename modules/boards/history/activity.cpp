// What happened to a card, out of the audit record.

#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/requests.hpp"
#include "modules/boards/operations.hpp"

namespace svc::boards {

namespace {

// What has not been moved to the record yet is still in the outbox; one snapshot shows every entry
// in exactly one of them, under the same id and time. $3 and $4 are where the last page ended.
constexpr Sql some_activity{"boards.list_card_activity", R"(
    SELECT e.id, e.kind, e.action, e.subject_type, e.subject_id, e.occurred_at,
        json_build_object('object', 'user', 'id', e.actor::json ->> 'id',
            'principal_type', e.actor::json ->> 'principal_type',
            'name', e.actor::json ->> 'name') AS actor,
        e.actor::json ->> 'via' AS via,
        coalesce(e.changes, '{}') AS changes, coalesce(e.previous, '{}') AS previous,
        (extract(epoch FROM e.occurred_at) * 1000000)::bigint AS micros
    FROM (
        (SELECT a.id, a.kind, a.action, a.target_type AS subject_type, a.target_id AS subject_id,
            a.actor, a.after AS changes, a.before AS previous, a.occurred_at
        FROM audit_events a
        WHERE a.org_id = $1 AND a.card_id = $2 AND a.outcome = 'success'
            AND (a.occurred_at, a.id) < (
                timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::uuid)
        ORDER BY a.occurred_at DESC, a.id DESC
        LIMIT $5)
        UNION ALL
        SELECT o.entry_id, o.kind, o.action, o.object, o.object_id, o.actor, o.changes, o.previous,
            o.occurred_at
        FROM outbox o
        WHERE o.org_id = $1 AND (o.card_id = $2 OR (o.object_id = $2 AND o.object = 'card'))
            AND o.outcome = 'success'
            AND (o.occurred_at, o.entry_id) < (
                timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::uuid)
    ) e
    ORDER BY e.occurred_at DESC, e.id DESC
    LIMIT $5)"};

// The entries that a card's own version rose with, and only as many as a page has: a card can have
// tens of thousands. They are written while the card is locked, so their times rise with it.
constexpr Sql some_versions{"boards.list_card_versions", R"(
    SELECT (e.changes::json ->> 'version')::bigint AS version, e.kind, e.action,
        e.occurred_at AS edited_at,
        json_build_object('object', 'user', 'id', e.actor::json ->> 'id',
            'principal_type', e.actor::json ->> 'principal_type',
            'name', e.actor::json ->> 'name') AS edited_by,
        e.actor::json ->> 'via' AS via,
        CASE WHEN e.kind = 'card.created' THEN '[]' ELSE (
            SELECT json_agg(k ORDER BY k) FROM json_object_keys(e.changes::json) k
            WHERE k NOT IN ('version', 'last_edited_time', 'last_edited_by'))
        END AS changed_fields,
        e.id, (extract(epoch FROM e.occurred_at) * 1000000)::bigint AS micros
    FROM (
        (SELECT a.id, a.kind, a.action, a.actor, a.after AS changes, a.occurred_at
        FROM audit_events a
        WHERE a.org_id = $1 AND a.card_id = $2 AND a.target_type = 'card'
            AND a.outcome = 'success' AND a.after::json ->> 'version' IS NOT NULL
            AND (a.occurred_at, a.id) < (
                timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::uuid)
        ORDER BY a.occurred_at DESC, a.id DESC
        LIMIT $5)
        UNION ALL
        SELECT o.entry_id, o.kind, o.action, o.actor, o.changes, o.occurred_at
        FROM outbox o
        WHERE o.org_id = $1 AND o.object_id = $2 AND o.object = 'card' AND o.outcome = 'success'
            AND o.changes::json ->> 'version' IS NOT NULL
            AND (o.occurred_at, o.entry_id) < (
                timestamptz 'epoch' + $3::bigint * interval '1 microsecond', $4::uuid)
    ) e
    ORDER BY e.occurred_at DESC, e.id DESC
    LIMIT $5)"};

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
    std::int64_t micros = 0;
};
SVC_RECORD(ActivityRow, (activity, "", flatten), (micros));

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
    Uuid id;
    std::int64_t micros = 0;
};
SVC_RECORD(VersionRow, (version, "", flatten), (id), (micros));

struct CardHistoryQuery {
    CardRef card_id;
    Paging paging;
};
SVC_RECORD(
    CardHistoryQuery, (card_id, "Its id, or its key such as ENG-42."), (paging, "", flatten)
);

const Uuid& entry_of(const ActivityRow& row) { return row.activity.id; }
const Uuid& entry_of(const VersionRow& row) { return row.id; }

constexpr std::int64_t latest = 253402300799999999;  // the last instant of year 9999
constexpr std::string_view highest_id = "ffffffff-ffff-ffff-ffff-ffffffffffff";

/// A page of either list: `Row` has the entry's time and id besides what is shown of it.
template <class Row, class Shown>
Page<Shown> page_of(Call& call, const CardHistoryQuery& in, const Sql& some, Shown Row::*shown) {
    Tx& tx = call.tx();
    const auto after = call.after(in.paging);
    if (after && after->size() != 2)  // versions were paged by their number once
        throw wrong_field(
            call, "start_cursor", "This cursor is of an earlier release", FieldPlace::query
        );
    const Uuid card = id_of(call, in.card_id);
    auto seen = BoardCaller::of(call).later<CardAccess>(tx, see_card, card);
    auto found = tx.later<Row>(
        some,
        call.org(),
        card,
        after ? after->at(0) : std::to_string(latest),
        after ? after->at(1) : std::string(highest_id),
        in.paging.page_size + 1
    );
    require_visible(seen.one());
    auto page = call.page(found.all(), in.paging, [](const Row& last) {
        return std::vector{std::to_string(last.micros), entry_of(last).str()};
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
