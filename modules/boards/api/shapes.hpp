#pragma once

#include "modules/boards/api/definitions.hpp"
#include "modules/orgs/api.hpp"
#include "svc/caller.hpp"
#include "svc/moment.hpp"
#include "svc/order_key.hpp"

/// Boards, columns and cards as they are shown (contract 6.17 to 6.19).
namespace svc::boards {

enum class Visibility { org, private_ };
BOOST_DESCRIBE_ENUM(Visibility, org, private_)

/// Rights rise from viewer to admin, so that roles compare with <.
enum class BoardRole { viewer, editor, admin };
BOOST_DESCRIBE_ENUM(BoardRole, viewer, editor, admin)

enum class ColumnKind { backlog, queue, active, done };
BOOST_DESCRIBE_ENUM(ColumnKind, backlog, queue, active, done)

enum class WipPolicy { soft, hard };
BOOST_DESCRIBE_ENUM(WipPolicy, soft, hard)

enum class QueueOrder { priority, fifo, due };
BOOST_DESCRIBE_ENUM(QueueOrder, priority, fifo, due)

enum class QueueState { idle, ready, leased, backoff, exhausted, held };
BOOST_DESCRIBE_ENUM(QueueState, idle, ready, leased, backoff, exhausted, held)

enum class Priority { none, low, medium, high, urgent };
BOOST_DESCRIBE_ENUM(Priority, none, low, medium, high, urgent)

// ------------------------------------------------------------------------------------- board

struct Board {
    Object<"board"> object;
    Uuid id;
    Uuid org_id;
    std::string key;
    std::string name;
    std::optional<std::string> description;
    std::optional<orgs::Icon> icon;
    Visibility visibility{};
    AsJson<std::vector<PropertyDefinition>> properties;
    AsJson<std::vector<Label>> labels;
    AsJson<std::vector<Uuid>> column_ids;
    std::int64_t card_count = 0;
    std::optional<std::string> default_view;
    bool is_archived = false;
    bool in_trash = false;
    std::optional<BoardRole> role;
    std::string url;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Board,
    (object),
    (id),
    (org_id, "The workspace."),
    (key, "Prefix of its cards' keys: ENG makes ENG-42. Unique in the workspace."),
    (name, "What people call it."),
    (description, "What it is for; null when nobody said."),
    (icon, "Shown before its name: an emoji, or a picture."),
    (visibility,
     "`org`: everybody in the workspace sees it. `private`: its maker, those with a "
     "grant, and the workspace's admins."),
    (properties, "The properties its cards may have."),
    (labels, "The labels its cards may carry."),
    (column_ids, "From left to right."),
    (card_count, "Cards that are neither archived nor in the trash."),
    (default_view, "How people see it first."),
    (is_archived,
     "It is archived: out of lists, and nothing on it can be changed until it is restored."),
    (in_trash),
    (role, "What you may do here."),
    (url, "Where people see it."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version, "Rises with every change; send it as If-Match to refuse to overwrite others.")
);

// ------------------------------------------------------------------------------------ column

struct ColumnQueue {
    bool enabled = false;
    std::int64_t lease_ttl_seconds = 900;
    std::int64_t max_attempts = 5;
    std::int64_t backoff_seconds = 30;
    std::int64_t backoff_max_seconds = 3600;
    QueueOrder order{};
    std::optional<Uuid> on_complete_column_id;
    std::optional<Uuid> on_exhausted_column_id;
};
SVC_SHARED_RECORD(
    ColumnQueue,
    (enabled, "Workers may claim its cards.", defaulted),
    (lease_ttl_seconds, "How long a claim holds unless renewed.", range(5, 86400), defaulted),
    (max_attempts, "Failed or expired claims before a card is exhausted.", range(1, 100), defaulted
    ),
    (backoff_seconds,
     "Pause after the first failure; doubles with every further one.",
     range(0, 86400),
     defaulted),
    (backoff_max_seconds, "The pause never exceeds this.", range(0, 86400), defaulted),
    (order,
     "Which card is next: the most urgent and then the topmost; the one longest here; the one "
     "due first.",
     defaulted),
    (on_complete_column_id, "Where completed cards go; null: the next column to the right."),
    (on_exhausted_column_id, "Where cards go when their attempts are used up; null: they stay.")
);

struct Column {
    Object<"column"> object;
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    std::string name;
    Color color{};
    ColumnKind kind{};
    std::int64_t position = 0;
    std::optional<std::int64_t> wip_limit;
    WipPolicy wip_policy{};
    std::int64_t card_count = 0;
    bool in_trash = false;
    ColumnQueue queue;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Column,
    (object),
    (id),
    (org_id, "The workspace."),
    (board_id),
    (name, "What people call it."),
    (color, "How people see it."),
    (kind, "What being here means; cards that reach `done` are complete."),
    (position, "Counted from the left, beginning with 0."),
    (wip_limit, "How many cards may stand here at once; null: any number."),
    (wip_policy,
     "`hard` refuses cards beyond the limit, `soft` only shows that there are too many."),
    (card_count, "Cards that stand here, neither archived nor in the trash."),
    (in_trash),
    (queue, "The column as a work queue."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version)
);

// -------------------------------------------------------------------------------------- card

struct LabelRef {
    Uuid id;
    std::string name;
    Color color{};
    auto operator<=>(const LabelRef&) const = default;
};
SVC_SHARED_RECORD(LabelRef, (id), (name, "What people call it."), (color, "How people see it."));

struct CardQueue {
    QueueState state{};
    std::int64_t attempts = 0;
    std::optional<Timestamp> available_at;
    std::optional<std::string> last_error;
    auto operator<=>(const CardQueue&) const = default;
};
SVC_SHARED_RECORD(
    CardQueue,
    (state,
     "`idle` outside queue columns; `ready` to be claimed; `leased` to a worker; in "
     "`backoff` after a failure; `exhausted` after too many; `held` while it waits for a person "
     "(reserved: nothing sets it yet)."),
    (attempts, "Claims since it last came here fresh."),
    (available_at, "When it leaves `backoff`."),
    (last_error, "What the last worker that failed had to say.")
);

struct CardLease {
    Uuid id;
    PrincipalRef holder;
    std::int64_t attempt = 0;
    Timestamp expires_at;
    auto operator<=>(const CardLease&) const = default;
};
SVC_SHARED_RECORD(
    CardLease,
    (id),
    (holder, "Who works on it."),
    (attempt, "Which try this is, beginning with 1."),
    (expires_at, "When others may have it unless the holder renews.")
);

struct Card {
    Object<"card"> object;
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    Uuid column_id;
    std::string key;
    std::string title;
    OrderKey position;
    AsJson<std::vector<LabelRef>> labels;
    AsJson<std::vector<PrincipalRef>> assignees;
    std::optional<Moment> due;
    std::optional<Moment> start;
    Priority priority{};
    std::optional<double> estimate;
    AsJson<std::map<std::string, JsonText>> properties;
    std::optional<Uuid> parent_card_id;
    AsJson<std::vector<Uuid>> blocked_by;
    bool blocked = false;
    std::optional<std::string> external_key;
    bool has_children = false;
    std::int64_t block_count = 0;
    std::int64_t comment_count = 0;
    CardQueue queue;
    std::optional<CardLease> lease;
    bool is_archived = false;
    bool in_trash = false;
    std::optional<Timestamp> completed_at;
    std::string url;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    Card,
    (object),
    (id),
    (org_id, "The workspace."),
    (board_id),
    (column_id),
    (key, "Its name for people, such as ENG-42; calls that take a card's id take it as well."),
    (title, "One line of text."),
    (position,
     "Rises from top to bottom of a column. Cards crowded into one spot may share it; they are "
     "given more room at times, which is no new version of theirs."),
    (labels, "Of those the board has, by name and color."),
    (assignees, "People and agents."),
    (due, "A day, or an instant."),
    (start, "A day, or an instant."),
    (priority, "Queues offer the urgent first, unless the column says otherwise."),
    (estimate, "How much work it is, in whatever unit the team counts."),
    (properties, "Values of the board's own properties, by name; at most 32 KiB together."),
    (parent_card_id, "The card that this one is a part of; null when it is part of none."),
    (blocked_by, "Cards that have to be done first."),
    (blocked, "One of them is not done yet."),
    (external_key, "Your own name for it; unique among the board's open cards."),
    (has_children, "It has a body of blocks."),
    (block_count, "Blocks in its body, at any depth, that are not in the trash."),
    (comment_count, "Comments on it and on its blocks that are not in the trash."),
    (queue, "Queue state of the card."),
    (lease, "Who holds its lease; null when it is not leased."),
    (is_archived, "It is archived: off its column, and out of lists unless they ask for it."),
    (in_trash),
    (completed_at, "When it reached a column of kind `done`."),
    (url, "Where people see it."),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version, "Rises with every change; send it as If-Match to refuse to overwrite others.")
);

enum class LinkType { blocks, relates, duplicates };
BOOST_DESCRIBE_ENUM(LinkType, blocks, relates, duplicates)

struct CardLink {
    Object<"card_link"> object;
    Uuid id;
    LinkType type{};
    Uuid card_id;
    Uuid target_id;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    CardLink,
    (object),
    (id),
    (type,
     "`blocks`: the target has to wait for the card. `relates`: the two are related. "
     "`duplicates`: the card is a duplicate of the target."),
    (card_id),
    (target_id, "The other card."),
    (created_time),
    (created_by),
    (version, "Always 1: links are created and deleted, not changed.")
);

}  // namespace svc::boards
