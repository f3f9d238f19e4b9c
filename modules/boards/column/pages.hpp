#pragma once

#include "modules/boards/api/shapes.hpp"
#include "modules/boards/statements.hpp"

#include <map>

/// A whole board in one answer: each column with its first cards and a cursor of its own. The cards
/// come compact, and all together take no more than `page_bytes`.
namespace svc::boards {

/// Values that are longer together, in bytes of JSON, are left out of a compact card.
inline constexpr std::int64_t most_compact_values = 4096;

inline constexpr std::string_view about_omitted =
    "True: the values in `properties` take more than 4 KiB together and are left out here; "
    "get_card has them. Absent otherwise.";

/// A card as one of many.
struct CompactCard {
    Card card;
    bool properties_omitted = false;
};
SVC_SHARED_RECORD(
    CompactCard, (card, "", flatten), (properties_omitted, about_omitted, omit_empty)
);

/// Where a column's cards go on.
struct ColumnPlace {
    std::optional<Uuid> column;
    std::string key;
    Uuid card;
};

inline ColumnPlace column_place_of(const Call& call, const Paging& paging) {
    const auto after = call.after(paging);
    if (!after) return {};
    return {Uuid::parse(after->at(0)), after->at(1), Uuid::parse(after->at(2)).value_or(Uuid{})};
}

// `chosen`: the cards to be shown, chosen column by column from the index of their order, before
// their shapes are gathered. First the topmost of every column, then the second of every column,
// and so on until they take up the bytes; the first always comes. `found` says how many of its
// column are there for this page, one more than it holds when the column goes on.
//
// $1 workspace, $2 board, $3 one column alone, after the card at $4 and $5, $6 page_size, $7 one
// card alone, with all its values, $8 most_compact_values, $9 page_bytes.
inline constexpr std::string_view chosen_cards = R"(
    WITH first AS MATERIALIZED (
        SELECT k.id AS column_id, k.position AS column_place, p.id, p.position, p.omitted,
            1200 + p.shown_bytes - CASE WHEN p.omitted THEN p.values_bytes ELSE 0 END AS bytes,
            row_number() OVER (PARTITION BY k.id ORDER BY p.position, p.id) AS rank,
            count(*) OVER (PARTITION BY k.id) AS found
        FROM columns k
        CROSS JOIN LATERAL (
            SELECT c.id, c.position, c.shown_bytes, c.values_bytes,
                $7::uuid IS NULL AND c.values_bytes > $8::bigint AS omitted
            FROM cards c
            WHERE c.org_id = $1 AND c.column_id = k.id AND NOT c.is_archived AND NOT c.in_trash
                AND (c.position, c.id) > ($4, $5::uuid) AND ($7::uuid IS NULL OR c.id = $7)
            ORDER BY c.position, c.id
            LIMIT $6::bigint + 1
        ) p
        WHERE k.org_id = $1 AND k.board_id = $2 AND NOT k.in_trash
            AND ($3::uuid IS NULL OR k.id = $3)
    ), chosen AS MATERIALIZED (
        SELECT t.* FROM (
            SELECT f.*, sum(f.bytes) OVER (
                ORDER BY f.rank, f.column_place, f.column_id ROWS UNBOUNDED PRECEDING) AS total
            FROM first f
            WHERE f.rank <= $6
        ) t
        WHERE t.total <= $9::bigint OR t.total = t.bytes
    ))";

/// Queues such a statement.
template <Described Row>
DeferredRows<Row> later_chosen(
    Tx& tx,
    const Sql& sql,
    const Uuid& org,
    const Uuid& board,
    const ColumnPlace& from,
    const Paging& paging,
    const std::optional<Uuid>& card
) {
    return tx.later<Row>(
        sql,
        org,
        board,
        from.column,
        from.key,
        from.card,
        paging.page_size,
        card,
        most_compact_values,
        static_cast<std::int64_t>(page_bytes)
    );
}

/// Keeps account of what is shown of each column, and where it goes on.
class ColumnPages {
public:
    explicit ColumnPages(const ColumnPlace& from) : goes_on_(from.column.has_value()) {}

    /// Whether the card still fits; once one does not, none does.
    template <class Card>
    bool take(const Card& card) {
        Json<Card>::write(card, measured_);
        full_ |= !ends_.empty() && measured_.size() > page_bytes;
        return !full_;
    }
    /// It is shown: the last of its column so far, of which there are `found`.
    void shown(const Uuid& column, std::string key, const Uuid& card, std::int64_t found) {
        End& end = ends_[column];
        end = {std::move(key), card, end.count + 1, found};
    }
    /// Where a column goes on that has `card_count` cards; nothing when all are shown.
    std::optional<std::string> cursor(const Call& call, const Uuid& column, std::int64_t card_count)
        const {
        const auto end = ends_.find(column);
        if (end == ends_.end()) {
            if (card_count == 0 || goes_on_) return std::nullopt;
            return call.cursor({column.str(), "", Uuid{}.str()});  // from its beginning
        }
        const auto& [key, card, count, found] = end->second;
        if (found <= count) return std::nullopt;
        return call.cursor({column.str(), key, card.str()});
    }

private:
    struct End {
        std::string key;
        Uuid card;
        std::int64_t count = 0, found = 0;
    };
    const bool goes_on_;  // one column alone, which has shown its first cards already
    std::map<Uuid, End> ends_;
    std::string measured_;
    bool full_ = false;
};

}  // namespace svc::boards
