#pragma once

#include "modules/boards/statements.hpp"

/// Writing down what somebody made of a card, but for its place.
namespace svc::boards {

struct Card;

/// What a card's row takes, roughly: most of it are its values.
std::int64_t bytes_of(const Card& card);

inline constexpr Sql ask_time{"boards.time", "SELECT now() AS now"};

struct Now {
    Timestamp now;
};
SVC_SHARED_RECORD(Now, (now));

/// lock_definitions() of the card's board: requests that give a card a key, or name a new label,
/// run one after another.
void lock_definitions_of(Call& call, const Uuid& card);
/// The same, shared: a request that renames what a board defines waits until the card shows it.
void share_definitions_of(Call& call, const Uuid& card);

/// The open card of the same board that has the external key, unless this one is not open itself.
struct KeyConflict {
    Uuid id;
};
SVC_SHARED_RECORD(KeyConflict, (id));
DeferredRows<KeyConflict> find_key_conflict(
    Tx& tx, const Uuid& org, const Uuid& card, const std::string& key
);

/// Asks, then queues the card as it is from now on and what follows from that, and emits it.
/// `after` gets its version, its author and `now`. `besides` queues what else belongs to the edit,
/// once nobody has refused it. The card is locked.
void store_edit(
    Call& call,
    const Card& before,
    Card& after,
    const Timestamp& now,
    const std::function<void()>& besides
);

}  // namespace svc::boards
