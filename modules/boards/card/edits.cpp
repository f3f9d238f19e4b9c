#include "modules/boards/card/edits.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/events.hpp"
#include "modules/boards/api/stored_bytes.hpp"

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/people.hpp"
#include "modules/boards/history/versions.hpp"
#include "modules/boards/lib/file_values.hpp"
#include "modules/boards/placement/moves.hpp"
#include "svc/event_row.hpp"

namespace svc::boards {

namespace {

constexpr std::string_view board_of_card = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1
        AND n.board_id = (SELECT c.board_id FROM cards c WHERE c.org_id = $1 AND c.id = $5) AND)";
constexpr std::string_view alone = "n.board_id) FOR UPDATE OF n";
constexpr std::string_view shared = "n.board_id) FOR KEY SHARE OF n";
constexpr Sql lock_board_of_card{
    "boards.lock_board_of_card", SqlText<board_of_card, if_editor, alone>::view};
constexpr Sql share_board_of_card{
    "boards.share_board_of_card", SqlText<board_of_card, if_editor, shared>::view};

constexpr Sql see_key_conflict{"boards.see_key_conflict", R"(
    SELECT o.id FROM cards c
    JOIN cards o
        ON o.org_id = $1 AND o.board_id = c.board_id AND o.external_key = $3 AND o.id <> $2
        AND o.completed_at IS NULL AND NOT o.is_archived AND NOT o.in_trash
    WHERE c.org_id = $1 AND c.id = $2
        AND c.completed_at IS NULL AND NOT c.is_archived AND NOT c.in_trash)"};

// $11 to $39: the event.
constexpr Sql write_card{
    "boards.update_card",
    R"(
    WITH written AS (
        UPDATE cards
        SET title = $3, labels = $4, assignees = $5, external_key = $6, parent_card_id = $7,
            blocked_by = $8, properties = $9, last_edited_time = now(), last_edited_by = $10,
            version = version + 1)" SVC_CARD_ASSIGNMENTS(40) R"(
        WHERE org_id = $1 AND id = $2
        RETURNING id
    )
    )" SVC_INSERT_EVENT(
        11,
        SVC_EVENT_OBJECT(11),
        SVC_EVENT_VERSION(11),
        SVC_EVENT_CARD(11),
        SVC_EVENT_CHANGES(11),
        "written"
    )
};

void store(Call& call, const Card& card, const Event& event) {
    call.tx().queue(
        write_card,
        card.org_id,
        card.id,
        card.title,
        card.labels.text,
        card.assignees.text,
        card.external_key,
        card.parent_card_id,
        card.blocked_by.text,
        card.properties.text,
        card.last_edited_by.text,
        call.event_row(event) SVC_CARD_ARGUMENTS(card)
    );
}

Event placed(Event event, const Card& card) {
    return std::move(event).on_board(card.board_id).in_column(card.column_id);
}

/// One for the edit as a whole, and one for each part of it that somebody may wait for.
std::vector<Event> events_of(const Card& before, const Card& after) {
    std::vector<Event> events{placed(changed(card_updated, before, after), after)};
    if (after.assignees.text != before.assignees.text) {
        Card otherwise = after;
        otherwise.assignees = before.assignees;
        events.push_back(placed(changed(card_assigned, otherwise, after), after));
    }
    if (after.blocked != before.blocked) {
        Card otherwise = after;
        otherwise.blocked = before.blocked;
        const EventKind& kind = after.blocked ? card_blocked : card_unblocked;
        events.push_back(placed(changed(kind, otherwise, after), after));
    }
    return events;
}

}  // namespace

std::int64_t bytes_of(const Card& card) {
    return static_cast<std::int64_t>(
        200 + card.title.size() + card.properties.text.size() + card.labels.text.size() +
        card.assignees.text.size()
    );
}

void lock_definitions_of(Call& call, const Uuid& card) {
    BoardCaller::of(call).queue(call.tx(), lock_board_of_card, card);
}

void share_definitions_of(Call& call, const Uuid& card) {
    BoardCaller::of(call).queue(call.tx(), share_board_of_card, card);
}

DeferredRows<KeyConflict> find_key_conflict(
    Tx& tx, const Uuid& org, const Uuid& card, const std::string& key
) {
    return tx.later<KeyConflict>(see_key_conflict, org, card, key);
}

void store_edit(
    Call& call,
    const Card& before,
    Card& after,
    const Timestamp& now,
    const std::function<void()>& besides
) {
    Tx& tx = call.tx();
    after.last_edited_time = now;
    after.last_edited_by = AsJson(ref_of(call.caller()));
    after.version = before.version + 1;
    const auto events = events_of(before, after);
    for (const Event& event : events) call.check(event);
    besides();
    const auto kept = keep_version(tx, before, after);
    store_bytes(call, kept + std::max<std::int64_t>(bytes_of(after) - bytes_of(before), 0));
    store(call, after, events.front());
    const bool order_changed = after.priority != before.priority || after.due != before.due;
    if (order_changed && after.queue.state != QueueState::idle)
        for (CardWatcher* watcher : MovesImpl::of(call.kernel()).watchers())
            watcher->reordered(tx, after);
    if (after.blocked_by.text != before.blocked_by.text && after.queue.state != QueueState::idle) {
        CallActor actor(call);
        MovesImpl::of(call.kernel())
            .blockers_changed(tx, actor, after.org_id, {{after.id, after.column_id}});
    }
    if (after.properties.text != before.properties.text &&
        (has_files(before.properties.text) || has_files(after.properties.text)))
        follow_files(call, {after.id});
    if (after.assignees.text != before.assignees.text)
        index_assignees(tx, after.org_id, after.id, after.assignees.parsed());
    for (const Event& event : std::span(events).subspan(1)) call.emit(event);
}

}  // namespace svc::boards
