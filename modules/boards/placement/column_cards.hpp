#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/column/columns.hpp"
#include "modules/boards/placement/moves.hpp"

/// The cards that stand in a column, for changes of the column that concern all of them.
namespace svc::boards {

/// The end of a statement that locks cards of a column, `inside`, and those that wait for them: all
/// in the order of their ids, as all who lock cards.
inline constexpr std::string_view locked_with_waiting = R"($5)
        ORDER BY c.id
        LIMIT 20002
    ), waiting AS MATERIALIZED (
        SELECT l.target_id AS id FROM card_links l
        WHERE l.org_id = $1 AND l.kind = 'blocks' AND l.card_id = ANY (ARRAY(TABLE inside))
        LIMIT 10001
    )
    SELECT c.id FROM cards c
    WHERE c.org_id = $1 AND c.id = ANY (ARRAY(TABLE inside UNION TABLE waiting))
    ORDER BY c.id
    FOR UPDATE OF c)";

inline constexpr std::size_t most_column_cards = 10'000;  ///< that one request concerns
/// That one request rewrites, each with an event of its own: what that costs is to stay below a
/// second of the processors' time.
inline constexpr std::size_t most_rewritten = 2'500;

struct CardFound {
    Uuid id;
};
SVC_SHARED_RECORD(CardFound, (id));

/// A card that waits for cards in the column.
struct WaitingFound {
    Uuid id;
    std::int64_t links =
        0;  ///< of all that wait; one more than `most_column_cards` stands for more
};
SVC_SHARED_RECORD(WaitingFound, (id), (links));

/// Locked until the transaction ends, with the columns themselves: nobody comes or goes.
/// Whoever may not change what is on the board locks nothing.
class ColumnCards {
public:
    /// Queues the locks: the cards, those that wait for them, the board's row, the columns, and who
    /// came meanwhile.
    ColumnCards(Call& call, const Uuid& board, const Uuid& column, const std::vector<Uuid>& others);

    /// Who they are, and what the watchers know of them: sends the pipeline once the request has
    /// been found to be in order, and again for their shapes, without labels, assignees and values.
    /// Throws Failure 409 when they are too many.
    const std::vector<Card>& cards();
    /// Throws Failure 409 when there are more, these others counted in.
    void require_at_most(std::size_t most, std::size_t others = 0);
    /// One more than `most_column_cards` stands for any number beyond.
    std::size_t count() { return locked().size(); }

    /// They are moved: the events say from where to where.
    void go(EventPlace from, EventPlace to) { way_ = {std::move(from), std::move(to)}; }
    /// Asks for every card that `after` says otherwise about, in the order of cards().
    void check(const EventKind& kind, const std::vector<Card>& after);
    /// Queues their rows and emits their events, and those of the cards that wait for those of them
    /// which are done now, or open again. Throws Failure 409 when all these are too many.
    void store(const EventKind& kind, const std::vector<Card>& after);
    /// The watchers keep up: with cards that stand elsewhere now, or come in afresh.
    void placed(const std::vector<Card>& after, const ColumnRules& column, const Timestamp& now);
    void placed_again(const ColumnRules& column, const Timestamp& now);

private:
    const std::vector<CardFound>& locked();
    DeferredRows<CardFound> lock();
    static Failure too_many(std::size_t most, const std::string& what);
    /// Throws Failure 409 when too many wait for them to be locked, or to be emitted.
    void require_waiting_at_most(std::size_t most, std::size_t waiting_cards);
    std::vector<Uuid> completed_or_reopened(const std::vector<Card>& after);
    void placed(
        const std::vector<Card>& before,
        const std::vector<Card>& after,
        const ColumnRules& column,
        const Timestamp& now
    );

    Event event_of(const EventKind& kind, const Card& before, const Card& after) const;

    Call& call_;
    const Uuid board_;
    const Uuid column_;
    std::optional<std::pair<EventPlace, EventPlace>> way_;
    std::optional<DeferredRows<WaitingFound>> waiting_;
    DeferredRows<CardFound> locked_later_;
    std::optional<std::vector<CardFound>> locked_;
    std::optional<std::vector<Card>> cards_;
    std::vector<CardWatcher::PlacedAll> after_placing_;  // of each watcher
};

struct KeyTwice {
    std::string external_key;
};
SVC_SHARED_RECORD(KeyTwice, (external_key));

/// Queues the question whether two open cards of the board would have one external key if those in
/// the column were open.
DeferredRows<KeyTwice> find_keys_twice(
    Tx& tx, const Uuid& org, const Uuid& board, const Uuid& column
);
/// 409 external_key_taken when they would.
void require_keys_once(DeferredRows<KeyTwice>& found);

}  // namespace svc::boards
