#pragma once

#include "svc/caller.hpp"

/// A caller who is confirmed by the statement that does what they ask for (Call::goes_alone).
namespace svc::orgs {

/// Whether the rights of a caller in the workspace $1 are as they are known; the parameters are the
/// members of KnownRights. True for callers who are confirmed in another way.
#define SVC_CALLER_HOLDS(epoch, until, past_due)                                           \
    "(" epoch "::bigint IS NULL OR EXISTS (SELECT FROM orgs o WHERE o.id = $1 AND "        \
    "o.security_epoch = " epoch " AND coalesce(now() < " until "::timestamptz, true) AND " \
    "(o.billing_state = 'past_due') = " past_due "::boolean))"

struct KnownRights {
    explicit KnownRights(const Caller& caller) : until(caller.until), past_due(caller.past_due) {
        if (caller.token_id && caller.as_of) epoch = caller.as_of;
    }
    std::optional<std::int64_t> epoch;
    std::optional<Timestamp> until;
    bool past_due;
};

}  // namespace svc::orgs
