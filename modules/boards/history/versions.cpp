// Earlier versions of cards, and the way back to one.

#include "modules/boards/history/versions.hpp"
#include "modules/boards/lib/file_values.hpp"

#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/card/edits.hpp"
#include "modules/boards/card/rewrites.hpp"
#include "modules/boards/card/writes.hpp"
#include "modules/boards/link/dependencies.hpp"
#include "modules/boards/operations.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/property/values.hpp"

#include "svc/json.hpp"

#include <boost/json/object.hpp>
#include <boost/json/string.hpp>
#include <boost/json/value.hpp>

namespace svc::boards {

namespace {

/// What an edit may replace and revert_card brings back.
struct CardFields {
    std::string title;
    AsJson<std::vector<LabelRef>> labels;
    AsJson<std::vector<PrincipalRef>> assignees;
    SVC_CARD_MEMBERS;
    AsJson<std::map<std::string, JsonText>> properties;
    std::optional<Uuid> parent_card_id;
    std::optional<std::string> external_key;
};
SVC_RECORD(
    CardFields,
    (title),
    (labels),
    (assignees),
    SVC_CARD_STORED,
    (properties),
    (parent_card_id),
    (external_key)
);

/// Every so many versions all fields are kept, so that none is put together of more rows than this.
constexpr std::int64_t whole_every = 32;

constexpr Sql keep{"boards.keep_version", R"(
    INSERT INTO card_versions (org_id, card_id, last_version, fields, whole)
    VALUES ($1, $2, $3, $4, $5))"};

// What an edit did not change, a later row says, or the card itself: `kept` are the rows from the
// version on to the first one that says everything. Values of properties are told apart by the
// property's id. The fields come in today's words: labels, people, properties and options that are
// gone meanwhile stay away, and those with another name come under that one.
constexpr Sql find_version{"boards.find_version", R"(
    WITH kept AS MATERIALIZED (
        SELECT v.last_version, v.whole, v.fields FROM card_versions v
        WHERE v.org_id = $1 AND v.card_id = $2 AND v.last_version >= $3
            AND v.last_version <= (SELECT coalesce(
                (SELECT min(w.last_version) FROM card_versions w
                 WHERE w.org_id = $1 AND w.card_id = $2 AND w.last_version >= $3 AND w.whole),
                9223372036854775807))
    ), said AS (
        SELECT DISTINCT ON (e.name) e.name, e.value
        FROM kept k
        CROSS JOIN LATERAL jsonb_each(k.fields) e (name, value)
        WHERE e.name NOT IN ('properties', 'values')
        ORDER BY e.name, k.last_version
    ), valued AS (
        SELECT DISTINCT ON (v.id) v.id, v.value
        FROM (
            SELECT e.id, e.value, k.last_version
            FROM kept k
            CROSS JOIN LATERAL jsonb_each(k.fields -> 'values') e (id, value)
            WHERE NOT k.whole
            UNION ALL
            SELECT e.value ->> 'id', e.value, k.last_version
            FROM kept k
            CROSS JOIN LATERAL jsonb_each(k.fields -> 'properties') e (name, value)
            WHERE k.whole
            UNION ALL
            SELECT e.value ->> 'id', e.value, 9223372036854775807
            FROM cards c
            CROSS JOIN LATERAL jsonb_each(c.properties) e (name, value)
            WHERE c.org_id = $1 AND c.id = $2 AND NOT EXISTS (SELECT FROM kept k WHERE k.whole)
        ) v
        ORDER BY v.id, v.last_version
    ), old AS (
        SELECT jsonb_build_object(
                'title', c.title, 'labels', c.labels, 'assignees', c.assignees,
                'parent_card_id', c.parent_card_id, 'external_key',
                c.external_key)" SVC_CARD_PAIRS("c.") R"()
            || (SELECT coalesce(jsonb_object_agg(s.name, s.value), '{}') FROM said s)
            || jsonb_build_object('properties', coalesce(
                (SELECT jsonb_object_agg(v.id, v.value) FROM valued v WHERE v.value <> 'null'),
                '{}')) AS fields
        FROM cards c
        WHERE c.org_id = $1 AND c.id = $2 AND EXISTS (SELECT FROM kept)
    )
    SELECT o.fields || jsonb_build_object(
        'labels', coalesce(
            (SELECT jsonb_agg(
                 jsonb_build_object('id', l.id, 'name', l.name, 'color', l.color) ORDER BY e.n)
             FROM jsonb_array_elements(o.fields -> 'labels') WITH ORDINALITY e (label, n)
             JOIN labels l
                 ON l.org_id = $1 AND l.board_id = c.board_id
                 AND l.id = (e.label ->> 'id')::uuid),
            '[]'),
        'assignees', coalesce(
            (SELECT jsonb_agg(
                 jsonb_build_object('object', 'user', 'id', p.id, 'principal_type', p.type,
                     'name', p.name) ORDER BY e.n)
             FROM jsonb_array_elements(o.fields -> 'assignees') WITH ORDINALITY e (assignee, n)
             JOIN principals p ON p.org_id = $1 AND p.id = (e.assignee ->> 'id')::uuid
             WHERE EXISTS (
                     SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = p.id)
                 OR EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = p.id)),
            '[]'),
        'properties', coalesce(
            (SELECT jsonb_object_agg(f.name, f.value)
             FROM (
                 SELECT p.name,
                     CASE
                         WHEN p.type IN ('select', 'status') THEN
                             jsonb_set(e.value, ARRAY[p.type], (
                                 SELECT x.option
                                 FROM jsonb_array_elements(p.options) x (option)
                                 WHERE x.option ->> 'id' = e.value #>> ARRAY[p.type, 'id']))
                         WHEN p.type = 'multi_select' THEN
                             jsonb_set(e.value, ARRAY[p.type], (
                                 SELECT jsonb_agg(x.option ORDER BY w.n)
                                 FROM jsonb_array_elements(e.value -> p.type)
                                     WITH ORDINALITY w (was, n)
                                 JOIN jsonb_array_elements(p.options) x (option)
                                     ON x.option ->> 'id' = w.was ->> 'id'))
                         WHEN p.type = 'people' THEN
                             jsonb_set(e.value, ARRAY[p.type], (
                                 SELECT jsonb_agg(w.was ORDER BY w.n)
                                 FROM jsonb_array_elements(e.value -> p.type)
                                     WITH ORDINALITY w (was, n)
                                 WHERE EXISTS (
                                         SELECT FROM memberships m
                                         WHERE m.org_id = $1
                                             AND m.user_id = (w.was ->> 'id')::uuid)
                                     OR EXISTS (
                                         SELECT FROM agents a
                                         WHERE a.org_id = $1 AND a.id = (w.was ->> 'id')::uuid)))
                         ELSE e.value
                     END AS value
                 FROM jsonb_each(o.fields -> 'properties') e (name, value)
                 JOIN properties p
                     ON p.org_id = $1 AND p.board_id = c.board_id
                     AND p.id = (e.value ->> 'id')::uuid AND p.type = e.value ->> 'type') f
             WHERE f.value IS NOT NULL),
            '{}')) AS fields
    FROM old o
    JOIN cards c ON c.org_id = $1 AND c.id = $2)"};

// What no edit clears.
constexpr Sql find_required{"boards.find_required_properties", R"(
    SELECT p.name FROM cards c
    JOIN properties p ON p.org_id = $1 AND p.board_id = c.board_id AND p.required
    WHERE c.org_id = $1 AND c.id = $2)"};

struct RequiredProperty {
    std::string name;
};
SVC_RECORD(RequiredProperty, (name));

struct OldVersion {
    CardFields fields;
};
SVC_RECORD(OldVersion, (fields));

struct RevertCardRequest {
    CardRef card_id;
    std::int64_t version = 0;
};
SVC_RECORD(
    RevertCardRequest,
    (card_id, "Its id, or its key such as ENG-42."),
    (version, "One of list_card_versions.", range(1, std::numeric_limits<std::int64_t>::max()))
);

template <class T>
void restore_field(T& field, const T& old) {
    if constexpr (requires { field.parsed(); }) {
        if (field.parsed() != old.parsed()) field = old;
    } else {
        field = old;
    }
}

void restore_field(Card& card, const CardFields& old) {
    card.title = old.title;
    restore_field(card.labels, old.labels);
    restore_field(card.assignees, old.assignees);
    SVC_COPY_CARD_FIELDS(card, old);
    restore_field(card.properties, old.properties);
    card.parent_card_id = old.parent_card_id;
    card.external_key = old.external_key;
}

/// A value that the card has to have and did not have then stays as it is.
void keep_required(Card& card, const Card& before, const std::vector<RequiredProperty>& required) {
    PropertyValues values = card.properties.parsed();
    const PropertyValues present = before.properties.parsed();
    for (const RequiredProperty& each : required)
        if (const auto found = present.find(each.name); found != present.end())
            values.insert(*found);
    restore_field(card.properties, AsJson(values));
}

/// Files that were deleted since then do not come back; those that the card has now stay.
void leave_out_deleted_files(Call& call, CardFields& old, const Card& before) {
    const auto wanted = files_in(old.properties.text);
    auto* files = call.kernel().find<CardFiles>();
    if (wanted.empty() || !files) return;
    auto there = files->kept(call.tx(), call.org(), wanted)();
    std::ranges::copy(files_in(before.properties.text), std::back_inserter(there));
    old.properties.text = without_files(old.properties.text, [&](const Uuid& file) {
        return std::ranges::find(there, file) == there.end();
    });
}

/// A parent that is gone since then, or is not for the caller to see, does not come back.
void keep_parent_if_gone(Call& call, Card& after, const Card& before) {
    if (after.parent_card_id == before.parent_card_id || !after.parent_card_id) return;
    ParentResolver parent(call, after.parent_card_id, after.id);
    if (parent.is_there()) parent.require();
    else after.parent_card_id = before.parent_card_id;
}

/// Another card may have got the key since then.
void require_key_is_free(Call& call, const Card& before, const Card& after) {
    if (!after.external_key || after.external_key == before.external_key) return;
    auto conflict = find_key_conflict(call.tx(), call.org(), after.id, *after.external_key);
    if (const auto found = conflict.one()) throw external_key_taken(found->id);
}

Card revert(Call& call, const RevertCardRequest& in) {
    Tx& tx = call.tx();
    const Uuid card = id_of(call, in.card_id);
    lock_ties(call, card);
    lock_card(call, card);
    lock_definitions_of(call, card);
    CatchUp catch_up(call, card);
    auto seen_later = BoardCaller::of(call).later<CardAccess>(tx, see_card, card);
    auto old = tx.later<OldVersion>(find_version, call.org(), card, in.version);
    auto required = tx.later<RequiredProperty>(find_required, call.org(), card);
    auto time = tx.later<Now>(ask_time);

    const auto seen = seen_later.one();
    require_changeable(seen, BoardRole::editor);
    require_out_of_trash(seen->card);
    call.require_version(seen->card.version);
    if (in.version > seen->card.version)
        throw wrong_field(
            call, "version", "the card is at version " + std::to_string(seen->card.version)
        );
    Card before = seen->card;
    catch_up.apply_to(before);
    Card after = before;
    if (auto found = old.one()) {
        leave_out_deleted_files(call, found->fields, before);
        restore_field(after, found->fields);
    }
    keep_required(after, before, required.all());
    keep_parent_if_gone(call, after, before);
    if (to_json(after) == to_json(before)) return shown(call, after);
    require_key_is_free(call, before, after);
    store_edit(call, before, after, time.one_or_retry().now, [] {});
    catch_up.let_files_go(after);
    return shown(call, after);
}

CardFields fields_of(const Card& card) {
    return {
        card.title,
        card.labels,
        card.assignees SVC_CARD_ARGUMENTS(card),
        card.properties,
        card.parent_card_id,
        card.external_key};
}

/// The values that the other lacks or has otherwise, by the id of the property; null for those that
/// only the other has.
std::string changed_values(const PropertyValues& was, const PropertyValues& is) {
    std::string out = "{";
    const auto add = [&](const JsonText& owner, std::string_view value) {
        if (out.size() > 1) out += ',';
        write_text(std::string_view(parse_json(owner.text).at("id").as_string()), out);
        out.append(":").append(value);
    };
    for (const auto& [name, value] : was) {
        const auto now = is.find(name);
        if (now == is.end() || now->second.text != value.text) add(value, value.text);
    }
    for (const auto& [name, value] : is)
        if (!was.contains(name)) add(value, "null");
    return out + '}';
}

/// As they were, of those that differ.
std::string changed_fields(const CardFields& was, const CardFields& is) {
    std::string out = "{";
    const auto add = [&](std::string_view name, std::string_view json) {
        if (out.size() > 1) out += ',';
        out.append("\"").append(name).append("\":").append(json);
    };
    for (const Field& field : record_of<CardFields>().fields) {
        std::string before, after;
        field.codec->write(field.in_const(&was), before);
        field.codec->write(field.in_const(&is), after);
        if (before == after) continue;
        if (field.name != "properties") add(field.name, before);
        else add("values", changed_values(was.properties.parsed(), is.properties.parsed()));
    }
    return out + '}';
}

}  // namespace

std::int64_t keep_version(Tx& tx, const Card& before, const Card& after) {
    const CardFields was = fields_of(before);
    const bool whole = before.version % whole_every == 0;
    const std::string fields = whole ? to_json(was) : changed_fields(was, fields_of(after));
    tx.queue(keep, before.org_id, before.id, before.version, fields, whole);
    return static_cast<std::int64_t>(fields.size());
}

const Operation revert_card{
    .name = "revert_card",
    .route = "POST /v1/cards/{card_id}:revert",
    .summary = "Restore an earlier version of a card.",
    .description =
        "Makes a new version with all that the earlier one was given, its labels, properties, "
        "parent "
        "and external key among it. Its column, body and links stay as they are. Labels, people, "
        "options and files that are gone since "
        "then do not come back; a required property that had no value then keeps its own. 409 "
        "when another open card has taken its external key, or when its parent has become one of "
        "its parts.",
    .access = Access::board_editor,
    .idempotent = true,
    .versioned = true,
    .under_lease = true,
    .handler = revert,
};

}  // namespace svc::boards
