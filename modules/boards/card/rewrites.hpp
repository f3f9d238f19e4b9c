#pragma once

#include "modules/boards/board/board.hpp"
#include "modules/boards/property/copied_values.hpp"
#include "svc/jobs.hpp"

/// Cards hold what they show of their board's labels, properties and options. When one of these
/// changes, the newest cards follow in the same transaction and the others batch by batch
/// (docs/decisions/0034-cards-follow-a-changed-definition.md).
namespace svc::boards {

struct Card;

/// A card whose row is locked.
struct HeldCard {
    Uuid id;
};
SVC_SHARED_RECORD(HeldCard, (id));

/// The newest cards of a board, for whoever changes its definitions.
class NewestCards {
public:
    /// Queues their locks, if the caller may edit the board: in front of that of the definitions.
    /// Waits for nobody; a card that somebody else holds follows later.
    NewestCards(Call& call, const Uuid& board);
    /// Rewrites them as the definitions say, which are locked and of which the change has been
    /// queued. The job sees to the others.
    void follow();

private:
    Call& call_;
    const Uuid board_;
    DeferredRows<HeldCard> held_;
};

/// The job that goes on where cards have still to follow; its key is their board.
JobKind rewrite_job(Kernel& kernel);

/// What labels and values of cards are called on their board.
struct Definitions {
    AsJson<std::vector<Label>> labels;
    AsJson<std::vector<PropertyDefinition>> properties;
};
SVC_SHARED_RECORD(Definitions, (labels), (properties));

/// For whoever changes or copies a card that may not have followed yet: otherwise it would take the
/// name of one property for that of another.
class CatchUp {
public:
    /// Queues the question; the board's definitions are locked, and so stay as they are.
    CatchUp(Call& call, const Uuid& card);
    /// Reads. The card shows what there is now; its row does not yet.
    void apply_to(Card& card);
    /// To be called once its row has been queued: files hang there no more whose property is gone.
    void let_files_go(const Card& card);

private:
    Call& call_;
    DeferredRows<Definitions> definitions_;
    bool had_files_ = false;
};

}  // namespace svc::boards
