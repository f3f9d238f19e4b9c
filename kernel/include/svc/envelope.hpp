#pragma once

#include "svc/caller.hpp"
#include "svc/version.hpp"

/// The shape of a delivered event (contract section 6.27).
namespace svc {

struct EventActor {
    PrincipalType principal_type = PrincipalType::system;
    Uuid id;
    std::optional<std::string> name;
    std::optional<Uuid> token_id;
    std::optional<Uuid> on_behalf_of_user_id;
    Surface via = Surface::system;
};
SVC_SHARED_RECORD(
    EventActor,
    (principal_type, "What sort of principal did it."),
    (id, "Id of the person, agent or automation; zero for the system."),
    (name, "As people see it."),
    (token_id, "The token it was done with."),
    (on_behalf_of_user_id, "The person whose rights an agent used."),
    (via, "The surface it came in by.")
);

struct EventCause {
    Uuid event_id;
    std::optional<Uuid> automation_id;
    std::int64_t depth = 0;
};
SVC_SHARED_RECORD(
    EventCause,
    (event_id,
     "The event that an automation answered with this change; of the changes of one batch, the "
     "batch's `cause_id`."),
    (automation_id, "Which automation."),
    (depth, "How many automations stand one behind the other.")
);

/// Where something stands, as people call it.
struct EventPlace {
    Uuid board_id;
    Uuid column_id;
    std::string name;
    std::string kind;
};
SVC_SHARED_RECORD(
    EventPlace,
    (board_id, "The board."),
    (column_id, "The column."),
    (name, "The column's name at that time."),
    (kind, "The column's kind at that time.")
);

struct EventData {
    std::string object;
    Uuid id;
    std::int64_t version = 0;
    std::optional<Uuid> board_id, column_id, card_id, parent_id;
    std::optional<JsonText> from, to;  // each an EventPlace
    JsonText changes, previous;
    std::vector<std::string> truncated_fields;
};
SVC_SHARED_RECORD(
    EventData,
    (object, "The type of the subject."),
    (id, "The subject's id."),
    (version, "The subject's version after the change."),
    (board_id, "The board it is on, or that it is.", omit_empty),
    (column_id, "The column it is in, or that it is.", omit_empty),
    (card_id, "The card it belongs to, or that it is.", omit_empty),
    (parent_id, "The block or card it is below.", omit_empty),
    (from, "The column that a move leaves.", omit_empty),
    (to, "The column that a move goes to.", omit_empty),
    (changes, "The new values of the fields that changed; of a new thing, all."),
    (previous, "The old values of the fields that changed."),
    (truncated_fields, "Fields too large to be sent, `{\"truncated\":true}` in both.", omit_empty)
);

struct EventEnvelope {
    Object<"event"> object;
    Uuid event_id;
    std::string kind;
    std::string api_version{svc::api_version};
    Uuid org_id;
    std::optional<Uuid> board_id;
    std::int64_t sequence = 0;
    std::optional<std::int64_t> board_sequence;
    EventActor actor;
    Timestamp occurred_at;
    std::optional<Uuid> mutation_id;
    std::optional<EventCause> cause;
    EventData data;
};
SVC_SHARED_RECORD(
    EventEnvelope,
    (object, "Always \"event\"."),
    (event_id, "The same in every delivery of the event: tell repeats by it."),
    (kind, "`noun.verb`, one of list_event_kinds."),
    (api_version, "The version of this shape."),
    (org_id, "The workspace."),
    (board_id, "The board, when it happened on one."),
    (sequence, "Rises by one in the workspace."),
    (board_sequence, "Rises by one on the board."),
    (actor, "Who did it."),
    (occurred_at, "When, by the database's clock."),
    (mutation_id, "As the client named its write (X-Svc-Mutation)."),
    (cause, "What it was done for: the event that an automation answered, or a batch."),
    (data, "What changed.")
);

}  // namespace svc
