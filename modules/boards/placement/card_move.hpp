#pragma once

#include "modules/boards/placement/move_set.hpp"

#include <memory>

/// Giving one card another place, or none.
namespace svc::boards {

class CardMove final : public Move {
public:
    /// One of those that were asked for together.
    CardMove(std::shared_ptr<MoveSet> set, std::size_t number)
        : set_(std::move(set)), number_(number) {}
    /// One by itself; `anchors` say where in the column that is named.
    CardMove(
        Tx& tx,
        const MovesImpl& moves,
        const BoardCaller& caller,
        const MoveWish& card,
        std::string_view turn,
        const Anchors& anchors = {}
    );

    const std::optional<CardAccess>& seen();
    const Card* card() override { return seen() ? &seen_->card : nullptr; }
    std::optional<CardRights> rights() override;
    const ColumnRules* to() override;
    bool full() override;

    Card decide(Actor& actor) override;
    void write(Actor& actor) override { set_->write(actor); }
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
    Destination destination() const { return set_->by_now(*destination_, seen_->card); }
    OrderKey end_of_column();
    Card decide_at(Actor& actor, OrderKey key, const EventKind& kind);
    Card carry_out_at(Actor& actor, OrderKey key, const EventKind& kind);
    Card leave(Actor& actor, Card after, const EventKind& kind);
    void place(Actor& actor, Card& after, const EventKind& kind, const ColumnRules* column);

    const std::shared_ptr<MoveSet> set_;
    const std::size_t number_;
    std::optional<std::pair<Anchors, DeferredRows<Gap>>> gap_later_;
    bool has_read_ = false;
    std::optional<CardAccess> seen_;
    std::optional<Destination> destination_;
    EventPlace from_, to_;
    std::vector<Uuid> links_;
};

}  // namespace svc::boards
