// Reading blocks.

#include "modules/boards/api/named_cards.hpp"
#include "modules/content/file_urls.hpp"
#include "modules/content/operations.hpp"

#include <algorithm>

namespace svc::content {

namespace {

constexpr std::size_t most_expanded = 2000;

// One statement, whatever the depth: who may look, a page of the first level, and what is below it,
// level by level. What comes behind $11 bytes stays where it is, but for one more, which shows that
// there is more, and for the second.
constexpr Sql list_tree{"content.list_block_children", R"(
    WITH RECURSIVE seen AS (
        SELECT c.id AS card_id,
            )" SVC_BOARD_ROLE("o.visibility", "o.created_by") R"( AS role
        FROM cards c
        JOIN boards o ON o.org_id = $1 AND o.id = c.board_id
        )" SVC_BOARD_GRANT("c.board_id") R"(
        WHERE c.org_id = $1 AND c.id = (SELECT coalesce(
            (SELECT k.card_id FROM blocks k WHERE k.org_id = $1 AND k.id = $5), $5))
    ), first AS (
        SELECT b.id, b.position, row_number() OVER (ORDER BY b.position, b.id) AS place,
            octet_length(b.payload::text) AS bytes
        FROM seen s
        JOIN blocks b
            ON b.org_id = $1 AND b.parent_id = $5 AND b.trashed_by IS NULL
            AND (b.position, b.id) > ($6, $7::uuid)
        WHERE s.role IS NOT NULL
        ORDER BY b.position, b.id
        LIMIT $8::bigint + 1
    ), tree AS (
        SELECT f.id, 1 AS level, ARRAY[f.position || '/' || f.id] AS path, f.place <= $8 AS opens,
            f.bytes
        FROM first f
        UNION ALL
        SELECT b.id, t.level + 1, t.path || (b.position || '/' || b.id), true, b.bytes
        FROM tree t
        CROSS JOIN LATERAL (
            SELECT k.id, k.position, octet_length(k.payload::text) AS bytes FROM blocks k
            WHERE k.org_id = $1 AND k.parent_id = t.id AND k.trashed_by IS NULL
            OFFSET 0
        ) b
        WHERE t.opens AND t.level < $9
    ), cut AS (
        SELECT m.id, m.level, m.path
        FROM (
            SELECT t.id, t.level, t.path, row_number() OVER up_to_it AS place,
                sum(t.bytes) OVER up_to_it - t.bytes AS bytes_before
            FROM tree t
            WINDOW up_to_it AS (
                ORDER BY t.level, t.path COLLATE "C" ROWS UNBOUNDED PRECEDING)
        ) m
        WHERE m.bytes_before <= $11 OR m.place <= 2
        ORDER BY m.level, m.path COLLATE "C"
        LIMIT $10
    )
    SELECT s.role, n.level, v.id, v.card_id, v.parent_id, v.type, v.payload, v.position,
        v.trashed_by, v.has_children, v.created_time, v.created_by, v.last_edited_time,
        v.last_edited_by, v.version
    FROM seen s
    LEFT JOIN cut n ON true
    LEFT JOIN LATERAL (
        SELECT * FROM block_view w WHERE w.org_id = $1 AND w.id = n.id OFFSET 0
    ) v ON true
    ORDER BY n.level, n.path COLLATE "C")"};

/// A block of the answer; without one, the row says only who asks.
struct Listed {
    std::optional<BoardRole> role;
    std::optional<std::int64_t> level;
    std::optional<Uuid> id, card_id, parent_id, trashed_by;
    std::optional<BlockType> type;
    JsonText payload;
    std::optional<std::string> position;
    std::optional<bool> has_children;
    std::optional<Timestamp> created_time, last_edited_time;
    AsJson<PrincipalRef> created_by, last_edited_by;
    std::optional<std::int64_t> version;

    StoredBlock block() const {
        StoredBlock row;
        row.id = *id;
        row.card_id = *card_id;
        row.parent_id = *parent_id;
        row.type = *type;
        row.payload = payload;
        row.position = *position;
        row.trashed_by = trashed_by;
        row.has_children = *has_children;
        row.created_time = *created_time;
        row.created_by = created_by;
        row.last_edited_time = *last_edited_time;
        row.last_edited_by = last_edited_by;
        row.version = *version;
        return row;
    }
};
SVC_RECORD(
    Listed,
    (role),
    (level),
    (id),
    (card_id),
    (parent_id),
    (trashed_by),
    (type),
    (payload),
    (position),
    (has_children),
    (created_time),
    (last_edited_time),
    (created_by),
    (last_edited_by),
    (version)
);

struct ListChildrenQuery {
    boards::CardRef parent_id;
    std::int64_t depth = 1;
    Paging paging;
};
SVC_RECORD(
    ListChildrenQuery,
    (parent_id,
     "A block, or a card, by its id or its key such as ENG-42, for the blocks directly on it."),
    (depth,
     "Levels of blocks: 1 returns the blocks directly below, more returns their descendants as "
     "well, in `children`.",
     range(1, most_levels),
     defaulted),
    (paging, "", flatten)
);

/// Puts rows that come level by level one below the other. A list of children is given whole or
/// not at all.
class Unfolding {
public:
    Unfolding(std::vector<Listed> rows, std::size_t page_size) : rows_(std::move(rows)) {
        const std::size_t room = room_for(page_size);
        if (rows_.size() > room) {
            const auto [parent, below] = std::pair(rows_[room].parent_id, rows_[room].level > 1);
            rows_.resize(room);  // what comes behind may be the beginning of another list
            cut(parent, below);
        }
        for (const Listed& each : rows_) {
            if (each.level == 1) first_.push_back(each.block());
            else below_[*each.parent_id].push_back(each.block());
        }
    }

    std::vector<StoredBlock>& first() { return first_; }

    /// Where the first level takes all the room, nothing below it is there: the first block that
    /// has children says so.
    void count_unopened() {
        if (cut_ || !below_.empty()) return;
        const auto parent = std::ranges::find(first_, true, &StoredBlock::has_children);
        if (parent != first_.end()) cut_ = parent->id;
    }

    Block unfold(const StoredBlock& row) const {
        Block block = shown(row);
        if (row.id == cut_) block.children_truncated = true;
        const auto found = below_.find(row.id);
        if (found == below_.end()) return block;
        std::string list;
        for (const StoredBlock& each : found->second) {
            list += list.empty() ? '[' : ',';
            list += to_json(unfold(each));
        }
        block.children = BlocksText{list + ']'};
        return block;
    }

private:
    /// How many rows are kept: the first level, which a page cuts by itself, and what is below it
    /// up to so many blocks and bytes.
    std::size_t room_for(std::size_t page_size) const {
        const auto first = static_cast<std::size_t>(
            std::ranges::count_if(rows_, [](const Listed& each) { return each.level == 1; })
        );
        const std::size_t most = most_expanded + (first > page_size ? 1 : 0);
        std::size_t room = 0, bytes = 0;
        for (; room < rows_.size() && room < most; ++room) {
            bytes += rows_[room].payload.text.size();
            if (room >= first && bytes > page_bytes) break;
        }
        return room;
    }

    void cut(const std::optional<Uuid>& parent, bool below) {
        if (!below) return;
        cut_ = parent;
        std::erase_if(rows_, [&](const Listed& each) { return each.parent_id == parent; });
    }

    std::vector<Listed> rows_;
    std::optional<Uuid> cut_;
    std::vector<StoredBlock> first_;
    std::map<Uuid, std::vector<StoredBlock>> below_;
};

Page<Block> list_children(Call& call, const ListChildrenQuery& in) {
    const Uuid parent = boards::id_of(call, in.parent_id);
    const auto after = call.after(in.paging);
    auto rows = BoardCaller::of(call)
                    .later<Listed>(
                        call.tx(),
                        list_tree,
                        parent,
                        after ? after->at(0) : std::string(),
                        after ? after->at(1) : Uuid().str(),
                        in.paging.page_size,
                        in.depth,
                        static_cast<std::int64_t>(most_expanded + 2),
                        static_cast<std::int64_t>(page_bytes)
                    )
                    .all();
    if (rows.empty()) not_found("block or card");
    boards::require(rows.front().role, BoardRole::viewer, "block or card");
    if (!rows.front().id) return {};
    FileUrls addressing;
    for (Listed& each : rows) addressing.add(*each.type, each.payload.text);
    addressing.fill(call);
    Unfolding tree(std::move(rows), static_cast<std::size_t>(in.paging.page_size));
    if (in.depth > 1) tree.count_unopened();
    auto page = call.page(std::move(tree.first()), in.paging, [](const StoredBlock& last) {
        return std::vector{last.position, last.id.str()};
    });
    Page<Block> blocks{{}, page.next_cursor};
    for (const StoredBlock& each : page.results) blocks.results.push_back(tree.unfold(each));
    return blocks;
}

// -------------------------------------------------------------------------------- reading one

constexpr Sql see_block{"content.get_block", R"(
    SELECT v.*,
        )" SVC_BOARD_ROLE("o.visibility", "o.created_by") R"( AS role
    FROM block_view v
    JOIN cards c ON c.org_id = $1 AND c.id = v.card_id
    JOIN boards o ON o.org_id = $1 AND o.id = c.board_id
    )" SVC_BOARD_GRANT("c.board_id") R"(
    WHERE v.org_id = $1 AND v.id = $5)"};

struct BlockAccess {
    StoredBlock block;
    std::optional<BoardRole> role;
};
SVC_RECORD(BlockAccess, (block, "", flatten), (role));

struct BlockId {
    Uuid block_id;
};
SVC_RECORD(BlockId, (block_id, "A block."));

Block get(Call& call, const BlockId& in) {
    const auto seen =
        BoardCaller::of(call).later<BlockAccess>(call.tx(), see_block, in.block_id).one();
    if (!seen) not_found("block");
    boards::require(seen->role, BoardRole::viewer, "block");
    return linked(call, seen->block);
}

}  // namespace

const Operation list_block_children{
    .name = "list_block_children",
    .route = "GET /v1/blocks/{parent_id}/children",
    .summary = "Read the blocks of a card, or those below a block.",
    .description =
        "Takes a card's id for the blocks directly on it, or a block's. `depth` gives several "
        "levels at once, in `children`; the page counts the first level alone. At most 2000 blocks "
        "are given, or 1 MiB of what they hold: the first whose children have no more room says "
        "`children_truncated`, and "
        "blocks behind it that have children and show none were not opened.",
    .access = Access::board_viewer,
    .handler = list_children,
};

const Operation get_block{
    .name = "get_block",
    .route = "GET /v1/blocks/{block_id}",
    .summary = "Read a block.",
    .description =
        "Without what is below it: see list_block_children. One in the trash is given, "
        "too, and says `in_trash`.",
    .access = Access::board_viewer,
    .handler = get,
};

}  // namespace svc::content
