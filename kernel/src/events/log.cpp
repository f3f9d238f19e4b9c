#include "events/log.hpp"

#include "decl/utf8.hpp"
#include "events/envelope.hpp"
#include "svc/event_row.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace svc::events {

namespace {

constexpr Sql add_row{"events.add_log_row", SVC_EVENT_COLUMNS R"(
    VALUES (
        $1, $2, $3, $4, $5, $6, $7, $8,
        $9, $10, $11, $12, $13, $14, $15,
        $16, $17, $18,
        $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31))"};

constexpr Sql add_event{
    "events.add_event",
    SVC_INSERT_EVENT(
        2,
        SVC_EVENT_OBJECT(2),
        SVC_EVENT_VERSION(2),
        SVC_EVENT_CARD(2),
        SVC_EVENT_CHANGES(2),
        "(VALUES (1)) one"
    )
};

// Lists travel as arrays of text, one per column; empty text stands for NULL. In the order given,
// which their ids keep.
constexpr Sql add_rows{"events.add_log_rows", SVC_EVENT_COLUMNS R"(
    SELECT e.org_id, e.entry_id, NULLIF(e.kind, ''), 'success', e.object, e.object_id,
        NULLIF(e.object_name, ''), e.version, NULLIF(e.board_id, '')::uuid,
        NULLIF(e.column_id, '')::uuid, NULLIF(e.card_id, '')::uuid,
        NULLIF(e.parent_id, '')::uuid, e.changes, e.previous, NULLIF(e.truncated, ''),
        NULLIF(e.moved_from, ''), NULLIF(e.moved_to, ''), NULLIF(e.subject, ''),
        $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30,
        coalesce(NULLIF(e.request_id, '')::uuid, $31::uuid)
    FROM unnest(
        $1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::uuid[], $6::text[], $7::bigint[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
        $15::text[], $16::text[], $17::text[], $18::text[])
        WITH ORDINALITY
        AS e (org_id, entry_id, kind, object, object_id, object_name, version, board_id, column_id,
              card_id, parent_id, changes, previous, truncated, moved_from, moved_to, subject,
              request_id, n)
    ORDER BY e.n)"};

constexpr std::size_t rows_a_statement = 1'000;
constexpr std::size_t longest_text = 1'000;  // bytes of a name or a user agent

std::optional<std::string> or_null(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(std::string(text));
}

std::string_view cut(std::string_view text) {
    return text.size() <= longest_text ? text : decl::utf8::beginning(text, longest_text);
}

std::optional<std::string> cause_of(const EventContext& context) {
    if (!context.cause_event) return std::nullopt;
    return to_json(EventCause{*context.cause_event, context.cause_automation, context.depth});
}

std::optional<std::string> list_of(const std::vector<std::string>& names) {
    if (names.empty()) return std::nullopt;
    std::string list;
    Json<std::vector<std::string>>::write(names, list);
    return list;
}

Uuid org_of(const Event& event, const EventContext& context) {
    if (event.org_id) return *event.org_id;
    if (context.caller && context.caller->org_id) return *context.caller->org_id;
    throw std::logic_error("an event without a workspace: " + std::string(event.kind->name));
}

std::optional<std::string> name_of_thing(const std::optional<std::string>& name) {
    return name ? std::optional(std::string(cut(*name))) : std::nullopt;
}

std::optional<std::string> text_of(const std::optional<Uuid>& id) {
    return id ? std::optional(id->str()) : std::nullopt;
}

/// What all rows end with: who did it, and by which request.
ParamList by_whom(const EventContext& context, std::string_view request_id) {
    const EventActor actor = actor_of(context.caller, context.surface);
    return {{
        std::string(context.action),
        std::string(name_of(actor.principal_type)),
        actor.id.str(),
        actor.name,
        text_of(actor.token_id),
        text_of(actor.on_behalf_of_user_id),
        std::string(name_of(actor.via)),
        text_of(context.mutation_id),
        cause_of(context),
        std::to_string(context.depth),
        or_null(context.client_address),
        or_null(cut(context.user_agent)),
        or_null(request_id),
    }};
}

/// What is stored of the subject; nothing where it is read, or where `changes` says it all.
std::optional<std::string> kept_subject(const Event& event) {
    const EventKind& kind = *event.kind;
    if (!kind.record || kind.from == Subject::read) return std::nullopt;
    if (event.subject.empty())
        throw std::logic_error("an event without its subject: " + std::string(kind.name));
    if (event.subject == event.changes) return std::nullopt;
    return bounded(event.subject);
}

std::optional<std::string> text_of(const std::optional<EventPlace>& place) {
    return place ? std::optional(to_json(*place)) : std::nullopt;
}

}  // namespace

void queue_event(Tx& tx, const Event& event, const EventContext& context) {
    tx.queue(add_event, org_of(event, context), row_of(event, context));
}

ParamList row_of(const Event& event, const EventContext& context) {
    Values values = bounded(event.changes, event.previous);
    const PlaceIds place = place_of(event);
    ParamList row{{
        new_uuid().str(),
        event.kind->record ? std::optional<std::string>(event.kind->name) : std::nullopt,
        std::string(event.kind->object),
        event.id.str(),
        name_of_thing(event.name),
        std::to_string(event.version),
        text_of(place.board_id),
        text_of(place.column_id),
        text_of(place.card_id),
        text_of(place.parent_id),
        std::move(values.changes),
        std::move(values.previous),
        list_of(values.truncated_fields),
        text_of(event.from),
        text_of(event.to),
        kept_subject(event),
    }};
    const bool own = !event.request_id.empty();
    std::ranges::move(
        by_whom(context, own ? event.request_id : context.request_id).values,
        std::back_inserter(row.values)
    );
    return row;
}

void queue_events(Tx& tx, std::span<const Event> events, const EventContext& context) {
    if (events.size() == 1) return queue_event(tx, events.front(), context);
    const auto id_text = [](const std::optional<Uuid>& id) { return id ? id->str() : ""; };
    for (; !events.empty(); events = events.subspan(std::min(events.size(), rows_a_statement))) {
        std::array<std::vector<std::string>, 18> lists;
        for (const Event& each : events.first(std::min(events.size(), rows_a_statement))) {
            Values values = bounded(each.changes, each.previous);
            const PlaceIds place = place_of(each);
            std::size_t list = 0;
            const auto add = [&](std::string text) { lists[list++].push_back(std::move(text)); };
            add(org_of(each, context).str());
            add(new_uuid().str());
            add(each.kind->record ? std::string(each.kind->name) : "");
            add(std::string(each.kind->object));
            add(each.id.str());
            add(each.name ? std::string(cut(*each.name)) : "");
            add(std::to_string(each.version));
            add(id_text(place.board_id));
            add(id_text(place.column_id));
            add(id_text(place.card_id));
            add(id_text(place.parent_id));
            add(std::move(values.changes));
            add(std::move(values.previous));
            add(list_of(values.truncated_fields).value_or(""));
            add(text_of(each.from).value_or(""));
            add(text_of(each.to).value_or(""));
            add(kept_subject(each).value_or(""));
            add(each.request_id);
        }
        std::apply(
            [&](const auto&... list) {
                tx.queue(add_rows, list..., by_whom(context, context.request_id));
            },
            lists
        );
    }
}

void queue_audit(Tx& tx, const AuditNote& note, const EventContext& context) {
    const Values values = bounded(note.after, note.before);
    tx.queue(
        add_row,
        note.org_id,
        new_uuid(),
        nullptr,
        note.outcome,
        or_null(note.target_type),
        note.target_id,
        name_of_thing(note.target_name),
        0,
        nullptr,
        nullptr,
        note.target_type == "card" ? note.target_id : std::nullopt,
        nullptr,
        values.changes,
        values.previous,
        list_of(values.truncated_fields),
        nullptr,
        nullptr,
        nullptr,
        by_whom(context, context.request_id)
    );
}

}  // namespace svc::events

namespace svc {

void emit_as_system(
    Tx& tx,
    const Uuid& org,
    std::string_view action,
    const Event& event,
    const std::optional<EventCause>& cause
) {
    Event of_org = event;
    of_org.org_id = org;
    events::EventContext context{.action = action};
    if (cause) {
        context.cause_event = cause->event_id;
        context.cause_automation = cause->automation_id;
        context.depth = static_cast<int>(cause->depth);
    }
    events::queue_event(tx, of_org, context);
}

}  // namespace svc
