#include "events/rows.hpp"

namespace svc::events {

namespace {

/// The record gives the names and the order; the cause is copied as it was written.
std::string envelope_of(EventBody&& body, const EventNumbers& numbers, std::string_view actor) {
    constexpr std::size_t beside_values = 800;
    std::string out;
    out.reserve(beside_values + actor.size() + body.changes.size() + body.previous.size());
    EventEnvelope envelope;
    envelope.event_id = body.event_id;
    envelope.kind = *body.kind;
    envelope.org_id = body.org_id;
    envelope.board_id = body.board_id;
    envelope.sequence = numbers.sequence;
    envelope.board_sequence = numbers.board_sequence;
    envelope.occurred_at = body.occurred_at;
    envelope.mutation_id = body.mutation_id;
    envelope.data = {
        .object = std::move(body.object).value_or(""),
        .id = body.object_id.value_or(Uuid{}),
        .version = body.version,
        .board_id = body.board_id,
        .column_id = body.column_id,
        .card_id = body.card_id,
        .parent_id = body.parent_id,
        .from = std::move(body.moved_from),
        .to = std::move(body.moved_to),
        .changes = {std::move(body.changes)},
        .previous = {std::move(body.previous)},
        .truncated_fields = std::move(body.truncated).value_or(std::vector<std::string>{}),
    };
    for (const Field& field : record_of<EventEnvelope>().fields) {
        out += out.empty() ? '{' : ',';
        write_text(field.name, out);
        out += ':';
        if (field.name == "actor") out += actor;
        else if (field.name == "cause") out += body.cause.value_or("null");
        else field.codec->write(field.in_const(&envelope), out);
    }
    return out += '}';
}

/// NULL and the empty text are one in the chain.
std::optional<std::string> said(const std::optional<std::string>& text) {
    return text && !text->empty() ? text : std::nullopt;
}

std::optional<std::string> said_of_values(const std::string& values) {
    return values == "{}" ? std::nullopt : std::optional(values);
}

}  // namespace

StoredEvent stored_event(EventBody&& body, const EventNumbers& numbers) {
    StoredEvent event{
        .position = numbers.position,
        .event_id = body.event_id,
        .org_id = body.org_id,
        .board_id = body.board_id,
        .sequence = numbers.sequence,
        .board_sequence = numbers.board_sequence,
        .kind = *body.kind,
        .depth = body.depth,
        .object = body.object.value_or(""),
        .object_id = body.object_id.value_or(Uuid{}),
        .column_id = body.column_id,
        .card_id = body.card_id,
        .actor = {},
        .envelope = {},
        .subject = std::move(body.subject),
    };
    event.actor = AsJson(actor_in(body.actor));
    event.envelope = envelope_of(std::move(body), numbers, event.actor.text);
    return event;
}

AuditEntry audit_entry(const LogRow& row) {
    const EventBody& body = row.body;
    return {
        .org_id = body.org_id,
        .log_id = row.id,
        .id = body.event_id,
        .occurred_at = body.occurred_at,
        .action = row.action,
        .outcome = row.outcome,
        .actor_json = row.actor_json,
        .actor = body.actor,
        .target_type = said(body.object),
        .target_id = body.object_id,
        .target_name = said(row.object_name),
        .before = said_of_values(body.previous),
        .after = said_of_values(body.changes),
        .ip_address = said(row.client_address),
        .user_agent = said(row.user_agent),
        .request_id = said(row.request_id),
        .hash = {},
        .prev_hash = {},
    };
}

}  // namespace svc::events
