// What a batch of changes locks before it begins.

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/card/batch_item.hpp"
#include "modules/boards/link/dependencies.hpp"

#include <algorithm>

namespace svc::boards {

namespace {

// All at once and in one order, so that two batches do not wait for each other's cards. Each by its
// key: asked for those of a list in order, a plan from when the table was small goes through all of
// the workspace's.
constexpr std::string_view requested_cards = R"(
    WITH wanted AS (
        SELECT w.id FROM unnest($5::uuid[]) w (id)
        UNION
        SELECT c.id FROM unnest($6::text[], $7::text[]) w (board_key, number)
        JOIN boards b ON b.org_id = $1 AND b.key = w.board_key
        JOIN cards c
            ON c.org_id = $1 AND c.board_id = b.id AND c.number = w.number::bigint
    ), changed AS (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.id = ANY (ARRAY(SELECT id FROM wanted)) AND)";
constexpr std::string_view and_waited_for = R"(c.board_id)
    ), waiting AS (
        SELECT l.target_id AS id FROM card_links l
        WHERE l.org_id = $1 AND l.kind = 'blocks' AND l.card_id = ANY (ARRAY(TABLE changed))
    ), waited_for AS (
        SELECT c.id FROM cards c
        WHERE c.org_id = $1 AND c.id = ANY ($8::uuid[]) AND)";
constexpr std::string_view all_in_order = R"(c.board_id)
    )
    SELECT c.id, c.board_id, c.number,
        (SELECT b.key FROM boards b WHERE b.org_id = $1 AND b.id = c.board_id) AS board_key,
        c.external_key IS NOT NULL
            AND NOT card_is_open(c.completed_at, c.is_archived, c.in_trash) AS may_take_key
    FROM (
        SELECT id FROM changed UNION SELECT id FROM waiting UNION SELECT id FROM waited_for
        ORDER BY id
        OFFSET 0
    ) w
    CROSS JOIN LATERAL (
        SELECT o.id, o.board_id, o.number, o.external_key, o.completed_at, o.is_archived,
            o.in_trash
        FROM cards o
        WHERE o.org_id = $1 AND o.id = w.id
        OFFSET 0
        FOR UPDATE
    ) c)";
constexpr Sql lock_cards{
    "boards.lock_cards_of_batch",
    SqlText<requested_cards, if_editor, and_waited_for, if_seen, all_in_order>::view
};

struct LockedCard {
    Uuid id;
    Uuid board_id;
    std::int64_t number = 0;
    std::string board_key;
    bool may_take_key = false;  ///< by being open again
};
SVC_RECORD(LockedCard, (id), (board_id), (number), (board_key), (may_take_key));

// An item that shares a board's lock in front of one that wants it alone would hold up another
// such batch, and be held up by it, for good.
constexpr std::string_view boards_of_batch = R"(
    SELECT n.board_id FROM board_counters n
    WHERE n.org_id = $1 AND n.board_id = ANY ($5::uuid[]) AND)";
constexpr std::string_view in_order = "n.board_id) ORDER BY n.board_id FOR UPDATE OF n";
constexpr Sql lock_boards{
    "boards.lock_boards_of_batch", SqlText<boards_of_batch, if_editor, in_order>::view
};

/// Whether update_card would want the lock of the card's board alone: for new names, for an
/// external key, or because it would share it twice.
bool wants_board_alone(const UpdateCardRequest& in) {
    const auto is_name = [](const std::string& label) { return !Uuid::parse(label); };
    return (in.labels.given() && std::ranges::any_of(in.labels.value(), is_name)) ||
           (in.labels.given() && in.properties.given()) ||
           (in.external_key.given() && in.external_key.value());
}

class BatchLocks {
public:
    BatchLocks(Call& call, std::vector<BatchItem>& items) : call_(call), items_(items) {}

    void lock_all() {
        std::vector<Uuid> ids, waited_for;  // to be changed; to be looked at
        std::vector<std::string> keys, numbers;
        bool ties = false;
        const auto wait_for = [&](const std::vector<CardRef>& blockers) {
            for (const CardRef& each : blockers) waited_for.push_back(*each.id);
        };
        find_ids_of_others();
        for (BatchItem& item : items_) {
            if (item.create && item.create->blocked_by) wait_for(*item.create->blocked_by);
            if (item.update && item.update->blocked_by.given())
                wait_for(item.update->blocked_by.value());
            if (item.update)
                ties |= item.update->parent_card_id.given() || item.update->blocked_by.given();
            const CardRef* card = card_in(item);
            if (!card) continue;
            if (card->id) ids.push_back(*card->id);
            else keys.push_back(card->board_key), numbers.push_back(std::to_string(card->number));
        }
        if (ties) lock_ties(call_, ids, keys);
        if (!ids.empty() || !keys.empty() || !waited_for.empty())
            locked_ = BoardCaller::of(call_)
                          .later<LockedCard>(call_.tx(), lock_cards, ids, keys, numbers, waited_for)
                          .all();
        for (BatchItem& item : items_)
            if (CardRef* card = card_in(item)) name_by_id(*card);
        lock_boards_if_wanted();
    }

private:
    /// Of the cards that items name besides the one they are about.
    void find_ids_of_others() {
        std::vector<CardRef*> others;
        const auto add = [&](const std::vector<CardRef*>& refs) {
            others.insert(others.end(), refs.begin(), refs.end());
        };
        for (BatchItem& item : items_) {
            if (item.create) add(others_in(*item.create));
            if (item.update) add(others_in(*item.update));
            if (item.move) add(others_in(*item.move));
        }
        find_ids(call_, others);
    }

    /// What is created, archived or moved to the trash is counted on its board.
    void lock_boards_if_wanted() {
        std::vector<Uuid> boards;
        bool wanted = false;
        for (BatchItem& item : items_) {
            const CardRef* ref = card_in(item);
            const LockedCard* card = ref ? find(*ref) : nullptr;
            if (item.create) boards.push_back(item.create->board_id);
            if (card) boards.push_back(card->board_id);
            if (item.update) wanted |= wants_board_alone(*item.update);
            else if (item.move) wanted |= card && card->may_take_key;
            else wanted = true;
        }
        if (wanted && !boards.empty())
            BoardCaller::of(call_).queue(call_.tx(), lock_boards, boards);
    }

    const LockedCard* find(const CardRef& card) const {
        const auto same = [&](const LockedCard& each) {
            return card.id ? each.id == *card.id
                           : each.board_key == card.board_key && each.number == card.number;
        };
        const auto found = std::ranges::find_if(locked_, same);
        return found == locked_.end() ? nullptr : &*found;
    }

    void name_by_id(CardRef& card) const {
        if (const LockedCard* found = find(card)) card = CardRef(found->id);
    }

    Call& call_;
    std::vector<BatchItem>& items_;
    std::vector<LockedCard> locked_;
};

}  // namespace

CardRef* card_in(BatchItem& item) {
    if (item.update) return &item.update->card_id;
    if (item.move) return &item.move->card_id;
    if (item.archive) return &item.archive->card_id;
    if (item.delete_) return &item.delete_->card_id;
    return nullptr;
}

void lock_for_batch(Call& call, std::vector<BatchItem>& items) {
    BatchLocks(call, items).lock_all();
}

}  // namespace svc::boards
