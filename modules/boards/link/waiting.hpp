#pragma once

#include "modules/boards/statements.hpp"
#include "svc/actor.hpp"

/// Cards that wait for others, and what they are told when that changes.
namespace svc::boards {

class MovesImpl;
struct Card;

/// A card that waits for one that changes, and for no other that is open.
struct Waiting {
    Uuid id;
    Uuid board_id;
    Uuid column_id;
    std::string title;
    std::int64_t version = 0;
    Uuid blocker_id;  ///< the one that changes; of several the last
};
SVC_SHARED_RECORD(Waiting, (id), (board_id), (column_id), (title), (version), (blocker_id));

/// Whoever waits for it has to: it is neither done, archived nor in the trash.
bool is_open(const Card& card);

/// Queues the question who waits for these cards, which all close or all open now, and for no other
/// that is open. None of these cards is among the answers.
DeferredRows<Waiting> waiting_for(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards);

/// What became of whoever they wait for.
enum class Blockers { opened, closed };

/// Emits that they have to wait again, or are free, and tells it to the watchers of cards. The
/// change behind it is queued.
void tell_waiting(
    Tx& tx,
    const MovesImpl& moves,
    Actor& actor,
    const Uuid& org,
    const std::vector<Waiting>& waiting,
    Blockers now
);

}  // namespace svc::boards
