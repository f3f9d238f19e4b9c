#pragma once

#include "modules/boards/api/definitions.hpp"
#include "modules/boards/api/kinds.hpp"
#include "svc/caller.hpp"

/// Columns as they are shown (contract 6.18).
namespace svc::boards {

struct ColumnQueue {
    bool enabled = false;
    std::int64_t lease_ttl_seconds = 900;
    std::int64_t max_attempts = 5;
    std::int64_t backoff_seconds = 30;
    std::int64_t backoff_max_seconds = 3600;
    bool paused = false;
    std::optional<std::int64_t> max_in_flight;
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
    (paused, "Nobody is given a card; who has one goes on.", defaulted),
    (max_in_flight,
     "How many of its cards may be worked on at a time; null: any number.",
     range(1, 1000)),
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

}  // namespace svc::boards
