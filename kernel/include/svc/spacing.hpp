#pragma once

#include "svc/order_key.hpp"
#include "svc/tx.hpp"

/// More room for siblings that were crowded into one spot, whose keys have grown long.
namespace svc {

/// The statements that a table of siblings is spaced by. All take the workspace first.
struct Siblings {
    /// Standings around the key $3 in $2, in order: up to $4 not above it, up to $4 above it.
    const Sql& near;
    /// A row for each of $3 that still stands in $2, locked; others' locks are not waited for.
    /// Null when whoever calls has locked what they stand in.
    const Sql* lock;
    /// Gives $2 the keys $3.
    const Sql& place;
};

struct Standing {
    Uuid id;
    OrderKey position;
    bool above = false;  ///< the key that was asked for
};
SVC_SHARED_RECORD(Standing, (id), (position), (above));

/// Gives those around `key` in `parent` new keys, in the same order: as few of them as find room,
/// and none when somebody else is just writing one, since whoever comes to this spot next tries
/// again. That is no change of theirs: it raises no version. Answers whose keys, queued, are other
/// ones.
std::vector<Uuid> make_room(
    Tx& tx, const Siblings& siblings, const Uuid& org, const Uuid& parent, const OrderKey& key
);

}  // namespace svc
