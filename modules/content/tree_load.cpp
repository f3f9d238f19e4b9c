// What a write has to know of a card's blocks.

#include "modules/content/large_cards.hpp"
#include "modules/content/tree.hpp"

namespace svc::content {

namespace {

// OFFSET 0 keeps the planner from joining otherwise than row by row, however many blocks it
// expects.
constexpr Sql load_ancestors{"content.load_ancestors", R"(
    WITH RECURSIVE up AS (
        SELECT b.id, b.parent_id FROM blocks b WHERE b.org_id = $1 AND b.id = ANY ($2::uuid[])
        UNION
        SELECT p.id, p.parent_id FROM up
        CROSS JOIN LATERAL (
            SELECT k.id, k.parent_id FROM blocks k
            WHERE k.org_id = $1 AND k.id = up.parent_id
            OFFSET 0) p
    )
    SELECT v.* FROM up
    CROSS JOIN LATERAL (
        SELECT * FROM block_view w WHERE w.org_id = $1 AND w.id = up.id OFFSET 0) v)"};

constexpr Sql load_below{"content.load_below", R"(
    WITH RECURSIVE down AS (
        SELECT b.id FROM blocks b
        WHERE b.org_id = $1 AND b.parent_id = $2 AND coalesce(b.trashed_by, $2) = $2
        UNION ALL
        SELECT k.id FROM down
        CROSS JOIN LATERAL (
            SELECT b.id FROM blocks b
            WHERE b.org_id = $1 AND b.parent_id = down.id AND coalesce(b.trashed_by, $2) = $2
            OFFSET 0) k
    )
    SELECT v.* FROM down
    CROSS JOIN LATERAL (
        SELECT * FROM block_view w WHERE w.org_id = $1 AND w.id = down.id OFFSET 0) v)"};

// All that is below anything comes along, so nothing has to be asked about each block.
constexpr std::string_view all_of_it = R"(
    SELECT v.id, v.card_id, v.parent_id, v.type, v.payload, v.position, v.trashed_by,
        false AS has_children, v.created_time, v.created_by, v.last_edited_time,
        v.last_edited_by, v.version
    FROM blocks v
    WHERE v.org_id = $1 AND v.trashed_by IS NULL AND v.card_id = )";
constexpr std::string_view the_card = R"((SELECT coalesce($2::uuid, (
            SELECT k.id FROM boards o
            JOIN cards k ON k.org_id = $1 AND k.board_id = o.id AND k.number = $4
            WHERE o.org_id = $1 AND o.key = $3))))";
// Nothing of a card that holds more than $5.
constexpr std::string_view unless_large = R"(
        AND (SELECT c.content_bytes FROM cards c WHERE c.org_id = $1 AND c.id = v.card_id) <= $5)";
constexpr Sql load_whole{"content.load_whole", SqlText<all_of_it, the_card, unless_large>::view};

// The trash of a card has no bound: of $5 those that hold more than $6 bytes together come without
// their payloads.
constexpr std::string_view named_in_trash = R"(
    SELECT v.id, v.card_id, v.parent_id, v.type,
        CASE WHEN f.bytes <= $6 THEN v.payload ELSE 'null' END AS payload, v.position,
        v.trashed_by, v.has_children, v.created_time, v.created_by, v.last_edited_time,
        v.last_edited_by, v.version
    FROM (
        SELECT b.id, sum(octet_length(b.payload::text)) OVER (ORDER BY b.id) AS bytes
        FROM blocks b
        WHERE b.org_id = $1 AND b.id = ANY ($5::uuid[]) AND b.trashed_by IS NOT NULL
            AND b.card_id = )";
constexpr std::string_view as_shown = R"(
    ) f
    CROSS JOIN LATERAL (
        SELECT * FROM block_view w WHERE w.org_id = $1 AND w.id = f.id OFFSET 0) v)";
constexpr Sql load_named_in_trash{
    "content.load_named_in_trash", SqlText<named_in_trash, the_card, as_shown>::view};

// Whatever has an id of its own, and all of version 8: those are made up of others (RFC 9562), as
// the one by which the files among a card's values are kept.
constexpr Sql find_taken{"content.find_taken", R"(
    SELECT b.id FROM blocks b WHERE b.org_id = $1 AND b.id = ANY ($2::uuid[])
    UNION ALL
    SELECT c.id FROM cards c WHERE c.org_id = $1 AND c.id = ANY ($2::uuid[])
    UNION ALL
    SELECT m.id FROM comments m WHERE m.org_id = $1 AND m.id = ANY ($2::uuid[])
    UNION ALL
    SELECT m.discussion_id FROM comments m
    WHERE m.org_id = $1 AND m.discussion_id = ANY ($2::uuid[])
    UNION ALL
    SELECT w.id FROM unnest($2::uuid[]) w (id) WHERE substr(w.id::text, 15, 1) = '8')"};

// $3: `start`, `end` or `after_block`; $4: after which; $5: a block that is about to leave its
// place. Deleted siblings count, so that each comes back to a place of its own.
constexpr Sql find_place_among{"content.find_place", R"(
    WITH anchor AS (
        SELECT b.position FROM blocks b
        WHERE b.org_id = $1 AND b.parent_id = $2 AND b.id = $4 AND b.trashed_by IS NULL
            AND b.id IS DISTINCT FROM $5
    )
    SELECT
        CASE $3
            WHEN 'end' THEN (
                SELECT max(b.position) FROM blocks b
                WHERE b.org_id = $1 AND b.parent_id = $2 AND b.id IS DISTINCT FROM $5)
            WHEN 'after_block' THEN (SELECT a.position FROM anchor a)
        END AS below,
        CASE $3
            WHEN 'start' THEN (
                SELECT min(b.position) FROM blocks b
                WHERE b.org_id = $1 AND b.parent_id = $2 AND b.id IS DISTINCT FROM $5)
            WHEN 'after_block' THEN (
                SELECT min(b.position) FROM blocks b
                WHERE b.org_id = $1 AND b.parent_id = $2 AND b.id IS DISTINCT FROM $5
                    AND b.position > (SELECT a.position FROM anchor a))
        END AS above,
        $3 <> 'after_block' OR EXISTS (SELECT FROM anchor) AS anchored)"};

constexpr Sql find_place_of_own{"content.find_own_place", R"(
    SELECT b.position,
        (SELECT min(s.position) FROM blocks s
         WHERE s.org_id = $1 AND s.parent_id = b.parent_id AND s.position > b.position) AS above,
        EXISTS (
            SELECT FROM blocks s
            WHERE s.org_id = $1 AND s.parent_id = b.parent_id AND s.position = b.position
                AND s.id <> b.id AND s.trashed_by IS NULL) AS taken
    FROM blocks b
    WHERE b.org_id = $1 AND b.id = $2)"};

struct Taken {
    Uuid id;
};
SVC_RECORD(Taken, (id));

}  // namespace

struct CardTree::Loading {
    std::vector<DeferredRows<StoredBlock>> blocks;
    std::optional<CardKey> whole;
    std::optional<LargeCardRead> large;
    std::optional<DeferredRows<Taken>> taken;
};

CardTree::CardTree(Call& call)
    : call_(call), who_(ref_of(call.caller())), loading_(std::make_unique<Loading>()) {}

CardTree::~CardTree() = default;

void CardTree::queue_ancestors(const std::vector<Uuid>& of) {
    loading_->blocks.push_back(call_.tx().later<StoredBlock>(load_ancestors, call_.org(), of));
}

void CardTree::queue_below(const Uuid& block) {
    loading_->blocks.push_back(call_.tx().later<StoredBlock>(load_below, call_.org(), block));
}

void CardTree::queue_whole(const CardKey& card) {
    loading_->whole = card;
    load(card, most_at_any_time);
}

void CardTree::load(const CardKey& card, std::int64_t most_bytes) {
    loading_->blocks.push_back(call_.tx().later<StoredBlock>(
        load_whole, call_.org(), card.id, card.board_key, card.number, most_bytes
    ));
}

void CardTree::queue_named_in_trash(const CardKey& card, const std::vector<Uuid>& ids) {
    loading_->blocks.push_back(call_.tx().later<StoredBlock>(
        load_named_in_trash,
        call_.org(),
        card.id,
        card.board_key,
        card.number,
        ids,
        most_bytes_shown
    ));
}

void CardTree::queue_taken(const std::vector<BlockInput>& blocks) {
    std::vector<Uuid> wanted;
    gather_ids(blocks, wanted);
    if (wanted.empty()) return;
    loading_->taken = call_.tx().later<Taken>(find_taken, call_.org(), wanted);
}

void CardTree::take(CardAccess card) {
    card_ = std::move(card);
    take_loaded();
    if (loading_->whole && card_.block_count > 0 && nodes_.empty()) {
        loading_->large.emplace();
        load(*loading_->whole, however_large);
        take_loaded();
    }
    for (const auto& [id, node] : nodes_)
        if (const auto above = nodes_.find(node.row.parent_id);
            above != nodes_.end() && !node.row.trashed_by)
            above->second.row.has_children = true;
    if (loading_->taken)
        for (const Taken& each : loading_->taken->all()) taken_.insert(each.id);
}

void CardTree::take_loaded() {
    for (auto& each : loading_->blocks)
        for (StoredBlock& row : each.all()) {
            if (row.card_id != card_.card_id || nodes_.contains(row.id)) continue;
            const Uuid id = row.id;
            Node node;
            node.row = std::move(row);
            nodes_.emplace(id, std::move(node));
            link(id);
        }
    loading_->blocks.clear();
}

DeferredRows<Gap> find_gap(Call& call, const Place& place, const std::optional<Uuid>& moved) {
    return call.tx().later<Gap>(
        find_place_among, call.org(), place.parent, place.type, place.after, moved
    );
}

DeferredRows<OwnPlace> find_own_place(Call& call, const Uuid& block) {
    return call.tx().later<OwnPlace>(find_place_of_own, call.org(), block);
}

Place Place::of(
    const Call& call,
    const Uuid& parent,
    const std::optional<Position>& position,
    const std::optional<Uuid>& after,
    const std::string& where
) {
    const std::string before = where.empty() ? "" : where + ",";
    if (after && position)
        throw wrong_at(call, before + "\"after\"", "give either after or position");
    if (after) return {parent, PositionType::after_block, after};
    if (!position) return {parent, PositionType::end, std::nullopt};
    const bool named = position->after_block.has_value();
    if (named != (position->type == PositionType::after_block))
        throw wrong_at(
            call, before + "\"position\",\"after_block\"", "it goes with the type after_block"
        );
    return {
        parent,
        position->type,
        named ? std::optional(position->after_block->id) : std::nullopt,
    };
}

}  // namespace svc::content
