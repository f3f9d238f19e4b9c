#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/card/access.hpp"
#include "modules/boards/link/waiting.hpp"
#include "modules/boards/placement/moves.hpp"

/// Giving one card another place, or none.
namespace svc::boards {

/// What is asked of a card: a column by name, or the one that the present one names at `turn`.
struct MoveRequest {
    BoardCaller caller;
    Uuid card;
    std::optional<Uuid> column;
    std::string_view turn;
    Anchors anchors{};
    const CardWatcher* asker = nullptr;
};

/// A turn of this module's own, by this name in the statement that locks.
inline constexpr std::string_view back_to_column = "back";

struct LockedCard {
    Timestamp now;
    std::int64_t cards = 0;
    AsJson<std::vector<Uuid>> waiting;  ///< linked to it as blocked by it; sorted
    std::optional<Uuid> target_id;      ///< the column that it locked
};
SVC_SHARED_RECORD(LockedCard, (now), (cards), (waiting), (target_id));

/// The card, where it goes, and what the columns are called that it leaves and comes to.
struct MoveSeen {
    CardAccess access;
    std::optional<Uuid> to_id;
    ColumnFound to;
    std::optional<std::string> to_name;
    std::string from_name, from_kind;
    AsJson<std::vector<Uuid>> links;  ///< the cards that wait for it; sorted
};
SVC_SHARED_RECORD(
    MoveSeen,
    (access, "", flatten),
    (to_id),
    (to, "", flatten),
    (to_name),
    (from_name),
    (from_kind),
    (links)
);

class CardMove final : public Move {
public:
    CardMove(Tx& tx, const MovesImpl& moves, MoveRequest request);

    const std::optional<CardAccess>& seen();
    const Card* card() override { return seen() ? &seen_->card : nullptr; }
    std::optional<CardRights> rights() override;
    const ColumnRules* to() override;
    bool full() override;
    Timestamp now() { return locked_.one_or_retry().now; }

    Card carry_out(Actor& actor) override;
    Card carry_out_beside(Call& call);
    /// Back to life where it was.
    Card restore(Actor& actor);
    /// Off the board.
    Card archive(Actor& actor);
    /// Into the trash.
    Card remove(Actor& actor);

private:
    void read();
    /// Neither archived nor in the trash.
    bool on_board() const { return !seen_->card.is_archived && !seen_->card.in_trash; }
    bool stays() const;
    OrderKey end_of_column();
    Card carry_out_at(Actor& actor, OrderKey key, const EventKind& kind);
    Card leave(Actor& actor, Card after, const EventKind& kind);
    void place(Actor& actor, Card& after, const EventKind& kind, const ColumnRules* column);
    void emit_completion(Actor& actor, const Card& after);
    void lock_late_comers(const Card& card);

    Tx& tx_;
    const MovesImpl& moves_;
    const MoveRequest request_;
    DeferredRows<LockedCard> locked_;
    // Their locks ask for the role as well, so the last word on it comes after them.
    std::vector<CardWatcher::Placed> after_placing_;
    DeferredRows<MoveSeen> seen_later_;
    std::optional<DeferredRows<Gap>> gap_later_;
    bool has_read_ = false;
    std::optional<CardAccess> seen_;
    std::optional<Destination> destination_;
    EventPlace from_, to_;
    std::vector<Uuid> links_;
};

}  // namespace svc::boards
