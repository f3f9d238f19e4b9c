#pragma once

#include "events/audit.hpp"
#include "svc/envelope.hpp"

/// Rows of event_log, and what is made of one: the event that readers get and the audit entry.
namespace svc::events {

/// What the event is made of, under the names of the view `events`.
struct EventBody {
    Uuid event_id, org_id;
    std::optional<std::string> kind;  ///< none: for the audit record alone
    std::optional<std::string> object;
    std::optional<Uuid> object_id;
    std::int64_t version = 0;
    std::optional<Uuid> board_id, column_id, card_id, parent_id;
    std::string changes, previous;
    std::optional<std::vector<std::string>> truncated;
    ActorColumns actor;
    std::optional<Uuid> mutation_id;
    std::optional<std::string> cause;
    std::int64_t depth = 0;
    std::optional<JsonText> moved_from, moved_to;
    std::optional<std::string> subject;
    Timestamp occurred_at;
};
SVC_SHARED_RECORD(
    EventBody,
    (event_id),
    (org_id),
    (kind),
    (object),
    (object_id),
    (version),
    (board_id),
    (column_id),
    (card_id),
    (parent_id),
    (changes),
    (previous),
    (truncated),
    (actor, "", flatten),
    (mutation_id),
    (cause),
    (depth),
    (moved_from),
    (moved_to),
    (subject),
    (occurred_at)
);

#define SVC_LOGGED_ACTOR(e)                                                     \
    e ".actor_type, " e ".actor_id, " e ".actor_name, " e ".actor_token_id, " e \
      ".on_behalf_of_user_id, " e ".via"

/// The columns of an EventBody but `subject`, of a row of event_log.
#define SVC_LOGGED_EVENT(e)                                                                     \
    e ".entry_id AS event_id, " e ".org_id, " e ".kind, " e ".object, " e ".object_id, " e      \
      ".version, " e ".board_id, " e ".column_id, " e ".card_id, " e ".parent_id, " e           \
      ".changes, " e ".previous, " e ".truncated, " SVC_LOGGED_ACTOR(e) ", " e ".mutation_id, " \
    e ".cause, " e ".depth, " e ".moved_from, " e ".moved_to, " e ".occurred_at"

/// A whole row.
struct LogRow {
    std::int64_t id = 0;
    EventBody body;
    std::string outcome, action;
    std::optional<std::string> actor_json, object_name, client_address, user_agent, request_id;
};
SVC_SHARED_RECORD(
    LogRow,
    (id),
    (body, "", flatten),
    (outcome),
    (action),
    (actor_json),
    (object_name),
    (client_address),
    (user_agent),
    (request_id)
);

/// The numbers that an event has been given.
struct EventNumbers {
    std::int64_t position = 0, sequence = 0;
    std::optional<std::int64_t> board_sequence;
};
SVC_SHARED_RECORD(EventNumbers, (position), (sequence), (board_sequence));

/// A row of the view `events`.
struct NumberedEvent {
    EventBody body;
    EventNumbers numbers;
};
SVC_SHARED_RECORD(NumberedEvent, (body, "", flatten), (numbers, "", flatten));

/// The event as it is delivered; its envelope is the same bytes whoever asks and whenever.
StoredEvent stored_event(EventBody&& body, const EventNumbers& numbers);

/// The entry of a row, but for its place in the chain.
AuditEntry audit_entry(const LogRow& row);

}  // namespace svc::events
