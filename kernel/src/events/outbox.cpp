#include "events/outbox.hpp"

#include "events/envelope.hpp"

namespace svc::events {

namespace {

constexpr Sql add_row{"events.add_outbox_row", R"(
    INSERT INTO outbox (
        org_id, entry_id, kind, outcome, action, object, object_id, object_name, version,
        board_id, column_id, card_id, parent_id, changes, previous, truncated,
        actor, mutation_id, cause, depth, client_address, user_agent, request_id)
    VALUES (
        $1, $2, $3, $4, $5, $6, $7, $8, $9,
        $10, $11, $12, $13, $14, $15, $16,
        $17, $18, $19, $20, $21, $22, $23))"};

constexpr std::size_t longest_text = 1'000;  // bytes of a name or a user agent

std::optional<std::string_view> or_null(std::string_view text) {
    return text.empty() ? std::nullopt : std::optional(text);
}

/// At most `longest_text` bytes, cut between characters.
std::string_view cut(std::string_view text) {
    if (text.size() <= longest_text) return text;
    std::size_t end = longest_text;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
    return text.substr(0, end);
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

std::optional<std::string_view> name_of_thing(const std::optional<std::string>& name) {
    return name ? std::optional(cut(*name)) : std::nullopt;
}

}  // namespace

void queue_event(Tx& tx, const Event& event, const EventContext& context) {
    const Values values = bounded(event.changes, event.previous);
    tx.queue(
        add_row,
        org_of(event, context),
        new_uuid(),
        event.kind->record ? std::optional(event.kind->name) : std::nullopt,
        Outcome::success,
        context.action,
        event.kind->object,
        event.id,
        name_of_thing(event.name),
        event.version,
        event.board_id,
        event.column_id,
        event.card_id,
        event.parent_id,
        values.changes,
        values.previous,
        list_of(values.truncated_fields),
        to_json(actor_of(context.caller, context.surface)),
        context.mutation_id,
        cause_of(context),
        context.depth,
        or_null(context.client_address),
        or_null(cut(context.user_agent)),
        or_null(context.request_id)
    );
}

void queue_audit(Tx& tx, const AuditNote& note, const EventContext& context) {
    const Values values = bounded(note.after, note.before);
    tx.queue(
        add_row,
        note.org_id,
        new_uuid(),
        nullptr,
        note.outcome,
        context.action,
        or_null(note.target_type),
        note.target_id,
        name_of_thing(note.target_name),
        0,
        nullptr,
        nullptr,
        nullptr,
        nullptr,
        values.changes,
        values.previous,
        list_of(values.truncated_fields),
        to_json(actor_of(context.caller, context.surface)),
        context.mutation_id,
        cause_of(context),
        context.depth,
        or_null(context.client_address),
        or_null(cut(context.user_agent)),
        or_null(context.request_id)
    );
}

}  // namespace svc::events

namespace svc {

void tell_as_system(
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
