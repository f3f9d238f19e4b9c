#pragma once

#include "svc/events.hpp"
#include "svc/tx.hpp"

/// The row that a change leaves behind in its own transaction: the event and the audit entry, to
/// which the sequencer adds numbers.
namespace svc::events {

/// Who made a change, by which way it came in, and what it answers. Views need only live as
/// long as the call they are given to.
struct EventContext {
    const Caller* caller = nullptr;  ///< null: the system itself
    Surface surface = Surface::system;
    std::string_view request_id{}, client_address{}, user_agent{};
    std::string_view action{};               ///< the operation's name
    std::optional<Uuid> mutation_id{};       ///< as the client named its write
    std::optional<Uuid> cause_event{};       ///< the event that a script answers
    std::optional<Uuid> cause_automation{};  ///< the script that does
    int depth = 0;                           ///< how many automations stand behind it
};

/// Queues the event with the next pipeline; no round trip of its own. The workspace is the
/// event's own or else the caller's; without either it is a std::logic_error.
void queue_event(Tx& tx, const Event& event, const EventContext& context);

/// The event as the parameters of a statement that inserts it itself (svc/event_row.hpp).
ParamList row_of(const Event& event, const EventContext& context);

/// The same for many, a thousand to a statement.
void queue_events(Tx& tx, std::span<const Event> events, const EventContext& context);

enum class Outcome { success, denied };
BOOST_DESCRIBE_ENUM(Outcome, success, denied)

/// Something for the audit record alone: a write that is no event, or a privileged call that
/// was refused.
struct AuditNote {
    Uuid org_id;
    Outcome outcome = Outcome::success;
    std::string_view target_type{};  ///< `object` of what it is about; empty when there is none
    std::optional<Uuid> target_id{};
    std::optional<std::string> target_name{};
    std::string before = "{}", after = "{}";  ///< JSON objects without secrets
};

/// Queues the note with the next pipeline; no round trip of its own.
void queue_audit(Tx& tx, const AuditNote& note, const EventContext& context);

}  // namespace svc::events
