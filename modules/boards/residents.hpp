#pragma once

#include "modules/boards/columns.hpp"
#include "modules/boards/moves.hpp"

/// The cards that stand in a column, for changes of the column that concern all of them.
namespace svc::boards {

inline constexpr std::size_t most_residents = 10'000;  ///< that one request changes

struct CardFound {
    Uuid id;
};
SVC_RECORD(CardFound, (id, ""));

/// Locked until the transaction ends, with the columns themselves: nobody comes or goes.
class Residents {
public:
    /// Queues the locks: the cards, those that wait for them, the board's row, the columns, and who
    /// came meanwhile.
    Residents(Call& call, const Uuid& board, const Uuid& column, const std::vector<Uuid>& others);

    /// Who they are, and what the watchers know of them: sends the pipeline once the request has
    /// been found to be in order, and again for their shapes. Throws Failure 409 when they are
    /// too many.
    const std::vector<Card>& cards();
    std::size_t count() { return locked().size(); }

    /// Asks for every card that `after` says otherwise about, in the order of cards().
    void ask(const EventKind& kind, const std::vector<Card>& after);
    /// Queues their rows and tells of them, and of the cards that wait for those of them which are
    /// done now, or open again.
    void store(const EventKind& kind, const std::vector<Card>& after);
    /// The watchers keep up: with cards that stand elsewhere now, or come in afresh.
    void settle(const std::vector<Card>& after, const ColumnRules& column, const Timestamp& now);
    void settle_afresh(const ColumnRules& column, const Timestamp& now);

private:
    const std::vector<CardFound>& locked();
    Later<CardFound> lock();
    std::vector<Uuid> turned(const std::vector<Card>& after);

    Call& call_;
    const Uuid column_;
    Later<CardFound> first_, second_;
    std::optional<std::vector<CardFound>> locked_;
    std::optional<std::vector<Card>> cards_;
    std::vector<std::vector<CardWatcher::Settle>> settles_;
};

struct KeyTwice {
    std::string external_key;
};
SVC_RECORD(KeyTwice, (external_key, ""));

/// Queues the question whether two open cards of the board would have one external key if those in
/// the column were open.
Later<KeyTwice> find_keys_twice(Tx& tx, const Uuid& org, const Uuid& board, const Uuid& column);
/// 409 external_key_taken when they would.
void require_keys_once(Later<KeyTwice>& found);

}  // namespace svc::boards
