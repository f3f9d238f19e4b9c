#pragma once

#include "modules/boards/api/kinds.hpp"
#include "svc/caller.hpp"

/// What a card says of its place in a queue (contract 6.19).
namespace svc::boards {

struct CardQueue {
    QueueState state{};
    std::int64_t attempts = 0;
    std::optional<Timestamp> available_at;
    std::optional<std::string> last_error;
    bool operator==(const CardQueue&) const = default;
};
SVC_SHARED_RECORD(
    CardQueue,
    (state,
     "`idle` outside queue columns; `ready` to be claimed; `leased` to a worker; in "
     "`backoff` after a failure; `exhausted` after too many; `held` while it waits for a person."),
    (attempts, "Claims since it last came here fresh."),
    (available_at, "When it leaves `backoff`."),
    (last_error, "What the last worker that failed had to say.")
);

struct CardLease {
    Uuid id;
    PrincipalRef holder;
    std::int64_t attempt = 0;
    Timestamp expires_at;
    bool operator==(const CardLease&) const = default;
};
SVC_SHARED_RECORD(
    CardLease,
    (id),
    (holder, "Who works on it."),
    (attempt, "Which try this is, beginning with 1."),
    (expires_at, "When others may have it unless the holder renews.")
);

}  // namespace svc::boards
