#pragma once

#include "svc/as_json.hpp"
#include "svc/envelope.hpp"

#include <chrono>
#include <functional>
#include <span>

/// What happened: one record, many listeners (docs/events.md).
namespace svc {

/// What `data` of an event has beside `object`, `id` and `version`: flags of EventKind::at.
namespace at {
inline constexpr unsigned board = 1;   ///< board_id
inline constexpr unsigned column = 2;  ///< column_id
inline constexpr unsigned card = 4;    ///< card_id
inline constexpr unsigned parent = 8;  ///< parent_id
inline constexpr unsigned move = 16;   ///< from and to
}  // namespace at

/// Where an automation that answers an event gets the event's subject from
/// (docs/decisions/0031-an-event-has-its-subject.md).
enum class Subject {
    kept,  ///< stored beside the event, as it was after the change: what is small or seldom changes
    read,  ///< from the operation `get_<object>`, when the automation runs
};

/// Who gets the events of a kind, by streams and lists.
enum class Audience {
    everyone,  ///< who may see the board it happened on; without one, who is in the workspace
    admins,    ///< of these, who administers the board, or the workspace
};

/// A kind of event, declared once beside the resource it is about, with static storage.
struct EventKind {
    std::string_view name;     ///< `noun.verb`
    std::string_view object;   ///< the `object` of what it is about
    std::string_view summary;  ///< when it happens, for list_event_kinds
    /// Whose fields `changes` and `previous` hold; none: for the audit record alone, no event.
    const Record& (*record)() = nullptr;
    unsigned at = 0;  ///< what every event of this kind says about its place
    Subject from = Subject::kept;
    const Record& (*subject)() = nullptr;  ///< of the subject, where it is not `record`
    /// Whether hooks may refuse it. Taking rights away is nothing that anybody has a say in.
    bool vetoable = true;
    /// Unless said otherwise what happens on a board is for everyone, and all else for admins.
    std::optional<Audience> said_audience{};

    Audience audience() const {
        if (said_audience) return *said_audience;
        return at & svc::at::board ? Audience::everyone : Audience::admins;
    }
    const Record& subject_record() const { return subject ? subject() : record(); }
};

/// Something that is about to happen (vetoes are asked) or has happened (emitted) in a workspace.
struct Event {
    const EventKind* kind = nullptr;
    Uuid id;                   ///< of what it is about
    std::int64_t version = 0;  ///< after the change
    std::optional<Uuid> board_id, column_id, card_id, parent_id;
    std::string changes = "{}", previous = "{}";  ///< JSON objects
    /// The whole record as it is after the change, or was before it went: a JSON object. Whoever
    /// asks has it; whoever emits has it where EventKind::from is `kept`.
    std::string subject;
    std::optional<EventPlace> from, to;  ///< of a move
    std::optional<std::string> name;     ///< as people call it: its name, title or key
    std::optional<Uuid> org_id;          ///< when it is not the caller's workspace
    std::string request_id{};            ///< when it is not the call's (svc/joint.hpp)
    std::optional<Uuid> because_of{};    ///< the card whose change it follows from, if another's

    Event&& in_org(const Uuid& org) && { return org_id = org, std::move(*this); }
    Event&& on_board(const Uuid& board) && { return board_id = board, std::move(*this); }
    Event&& in_column(const Uuid& column) && { return column_id = column, std::move(*this); }
    Event&& of_card(const Uuid& card) && { return card_id = card, std::move(*this); }
    Event&& moved(EventPlace before, EventPlace after) && {
        return from = std::move(before), to = std::move(after), std::move(*this);
    }
};

namespace detail {
Event make_event(
    const EventKind& kind,
    const Uuid& id,
    std::int64_t version,
    const Record& record,
    const void* before,
    const void* after,
    std::span<const std::string_view> gaps = {}
);
}  // namespace detail

/// `from` as JSON, with marks in place of some fields (created_with_gaps).
std::string text_with_gaps(
    const Record& record, const void* from, std::span<const std::string_view> gaps
);

/// An event whose changes are the whole record; the record has `id` and `version`.
template <Described T>
Event created(const EventKind& kind, const T& record) {
    return detail::make_event(kind, record.id, record.version, record_of<T>(), nullptr, &record);
}
/// The same of a record some of whose fields only the statement will know that inserts the event:
/// in their place stand marks, for SVC_FILL. The values that the record has of them only tell
/// whether a value stands in quotes.
template <Described T>
Event created_with_gaps(
    const EventKind& kind, const T& record, std::span<const std::string_view> gaps
) {
    return detail::make_event(
        kind, record.id, record.version, record_of<T>(), nullptr, &record, gaps
    );
}
/// An event whose changes are the fields that differ.
template <Described T>
Event changed(const EventKind& kind, const T& before, const T& after) {
    return detail::make_event(kind, after.id, after.version, record_of<T>(), &before, &after);
}

/// A veto's answer. The default is yes.
struct Refusal {
    std::string code;
    std::string message;
};
using Verdict = std::optional<Refusal>;
inline constexpr std::nullopt_t allow = std::nullopt;

class Call;
class Tx;
struct ParamList;

/// The envelope (svc/envelope.hpp) that `event`, asked in `call`, would be delivered in: what
/// scripts see, without the subject. Its event_id and sequence are zero, for it has not happened.
std::string envelope_of(Call& call, const Event& event);

/// Writes an event of the system's own: a job's, where no Call is. `action` names it in the
/// audit record; `cause` is the event that it answers, if it answers one. Queued like
/// Call::emit, inside the job's transaction.
void emit_as_system(
    Tx& tx,
    const Uuid& org,
    std::string_view action,
    const Event& event,
    const std::optional<EventCause>& cause = std::nullopt
);

/// Asked whether a change may be made, inside the transaction that would make it, on that request's
/// thread. It changes nothing itself.
using Veto = std::function<Verdict(Call&, const Event&)>;
/// Writes what belongs to a change, in its transaction, once nobody has refused it and before it is
/// made. On that request's thread.
using TransactionHook = std::function<void(Call&, const Event&)>;

/// An event as it is kept and delivered.
struct StoredEvent {
    /// Rises by one over all workspaces, in the order of delivery: a consumer's cursor.
    std::int64_t position = 0;
    Uuid event_id;
    Uuid org_id;
    std::optional<Uuid> board_id;
    std::int64_t sequence = 0;                   ///< rises by one per workspace
    std::optional<std::int64_t> board_sequence;  ///< rises by one per board
    std::string kind;
    std::int64_t depth = 0;                  ///< how many automations stand behind it
    std::string object;                      ///< the type of what it is about
    Uuid object_id;                          ///< of that
    std::optional<Uuid> column_id, card_id;  ///< where it happened, or what it is about
    AsJson<EventActor> actor;                ///< who did it
    std::string envelope;  ///< the JSON that webhooks, streams and scripts get, byte for byte
    /// The subject, where it is kept and `changes` is not all of it; only deliveries have it.
    std::optional<std::string> subject;
};
SVC_SHARED_RECORD(
    StoredEvent,
    (position),
    (event_id),
    (org_id),
    (board_id),
    (sequence),
    (board_sequence),
    (kind),
    (depth),
    (object),
    (object_id),
    (column_id),
    (card_id),
    (actor),
    (envelope),
    (subject)
);

/// True when `kind` passes `filter`: exact, `noun.*` or `*`.
bool kind_matches(std::string_view filter, std::string_view kind);

/// A durable reader of every workspace's events. `subscribers` says whom an event is for; each of
/// them gets it by a job of its own (svc/jobs.hpp), after those that it was to get before. So what
/// is slow or fails with one subscriber delays no other. A subscriber may get an event twice, when
/// `deliver` throws or its server ends in the middle.
struct Consumer {
    std::string name;  ///< its position is kept under this name
    /// Of an event, perhaps without envelope and subject. Asked of whatever happens while this
    /// server reads for the consumer, by the sequencer's thread, so that what is for nobody costs no
    /// statement; and again of what is handed over, by the consumer's. Each time in the order of the
    /// events. Asks nobody, and throws nothing.
    std::function<std::vector<std::string>(const StoredEvent&)> subscribers;
    /// Any thread. After a throw it is tried again after a pause, and in the end it is given up
    /// (docs/events.md).
    std::function<void(const std::string& subscriber, const StoredEvent&)> deliver{};
    /// In place of `deliver`, for a consumer that delivers by itself: writes down what is to be done
    /// about these events, which have subscribers, in the transaction that moves its position past
    /// them; so each is recorded once. Without envelopes; the transaction acts for all workspaces.
    /// On the consumer's thread, of one server at a time; after a throw the same events come again.
    std::function<void(Tx&, std::span<const StoredEvent>)> record{};
    /// Called when this server begins to read for the consumer, in place of whichever did before:
    /// what `subscribers` goes by may have changed unseen. On the consumer's thread.
    std::function<void()> begin{};
    /// How long to wait after something was handed over: what happens meanwhile is handed over
    /// together. For whoever nobody waits for, since each look costs the database several statements
    /// and a commit.
    std::chrono::milliseconds gather{0};
    int at_once = 4;                ///< deliveries on one server
    int at_once_per_workspace = 2;  ///< of these
    std::int64_t most_attempts = 12;
    std::chrono::milliseconds pause{500}, longest_pause{30'000};
    std::chrono::milliseconds slice{200};  ///< then it is another's turn, between two events
};

/// Called with every batch of events once it is stored, on the sequencer's thread; must not block.
using EventListener = std::function<void(std::span<const StoredEvent>)>;

}  // namespace svc
