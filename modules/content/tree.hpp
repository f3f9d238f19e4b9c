#pragma once

#include "modules/content/statements.hpp"
#include "svc/order_key.hpp"

#include <set>

/// A card's tree of blocks, as far as one write needs it.
namespace svc::content {

/// A block as the database has it (block_view).
struct StoredBlock {
    Uuid id;
    Uuid card_id;
    Uuid parent_id;
    BlockType type{};
    JsonText payload;
    std::string position;
    std::optional<Uuid> trashed_by;
    bool has_children = false;
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    StoredBlock,
    (id),
    (card_id),
    (parent_id),
    (type),
    (payload),
    (position),
    (trashed_by),
    (has_children),
    (created_time),
    (created_by),
    (last_edited_time),
    (last_edited_by),
    (version)
);

/// As answers show it.
Block shown(const StoredBlock& row);

/// Storage limits (contract 6.20).
inline constexpr std::size_t most_depth = 32;
inline constexpr std::int64_t most_on_card = 10'000;
/// What the blocks of a card may hold together: all of it is in memory when the card is read or
/// written as a whole. What is in the trash does not count, and is not loaded then.
inline constexpr std::int64_t most_bytes_on_card = 16 << 20;
/// What the blocks may hold that a request changes and its answer shows.
inline constexpr std::int64_t most_bytes_shown = 8 << 20;

enum class PositionType { start, end, after_block };
BOOST_DESCRIBE_ENUM(PositionType, start, end, after_block)

struct AfterBlock {
    Uuid id;
};
SVC_SHARED_RECORD(AfterBlock, (id, "A block directly below the same parent."));

struct Position {
    PositionType type{};
    std::optional<AfterBlock> after_block;
};
SVC_SHARED_RECORD(
    Position,
    (type, "`start`, `end`, or `after_block` for behind the block of that name."),
    (after_block, "With `after_block`: which.", omit_empty)
);

/// Between which siblings something goes; deleted ones keep their places.
struct Gap {
    OrderKey below, above;
    bool anchored = true;
};
SVC_SHARED_RECORD(Gap, (below), (above), (anchored));

/// Where a block that is in the trash was.
struct OwnPlace {
    OrderKey position;
    OrderKey above;      ///< of the next sibling
    bool taken = false;  ///< a sibling that came meanwhile has the same key
};
SVC_SHARED_RECORD(OwnPlace, (position), (above), (taken));

/// Where a request wants its blocks. Throws Failure 422 when it contradicts itself.
struct Place {
    Uuid parent;
    PositionType type = PositionType::end;
    std::optional<Uuid> after;
    static Place of(
        const Call& call,
        const Uuid& parent,
        const std::optional<Position>& position,
        const std::optional<Uuid>& after = std::nullopt,
        const std::string& where = {}
    );
};

/// Changes one card's blocks, in memory first. The card is locked; what an operation looks at has
/// been loaded. Refusals are Failures at `where` in the request.
class CardTree {
public:
    explicit CardTree(Call& call);
    ~CardTree();

    // Loading: these queue, take() reads.
    void queue_ancestors(const std::vector<Uuid>& of);
    /// What is below it, and what went to the trash with it; nothing that went by itself.
    void queue_below(const Uuid& block);
    /// All but what is in the trash. Of a card that holds much take() asks for it, once there is
    /// room for that, or else throws Failure 429.
    void queue_whole(const CardKey& card);
    /// Of these blocks those in the trash of the card. What holds more than `most_bytes_shown` in
    /// all comes with the payload `null`.
    void queue_named_in_trash(const CardKey& card, const std::vector<Uuid>& ids);
    void queue_taken(const std::vector<BlockInput>& blocks);
    void take(CardAccess card);

    /// From here on there may be more in between than a card holds: what is too much at the end is
    /// refused by write().
    void count_at_end() { counts_at_end_ = true; }

    /// From here on: where in the request an operation stands, such as `"operations",3`.
    void set_location(std::string where) { where_ = std::move(where); }

    const CardAccess& card() const { return card_; }
    bool has(const Uuid& id) const { return nodes_.contains(id); }
    /// A block of this card; 404 when there is none.
    const StoredBlock& block(const Uuid& id) const;
    /// Blocks on the card that are not in the trash.
    std::int64_t live_count() const { return card_.block_count + more_; }
    void each(const std::function<void(const StoredBlock&)>& visit) const;
    /// Live children in order.
    std::vector<Uuid> children(const Uuid& parent) const;
    /// Where a place lies among the blocks that are loaded.
    Gap gap(const Place& place, const std::optional<Uuid>& moved = std::nullopt) const;

    /// New blocks; the ids of those of the first level.
    std::vector<Uuid> insert(const Place& place, const Gap& gap, std::vector<BlockInput> blocks);
    void change(const Uuid& id, const Worded& worded);
    /// False when it was so already.
    bool trash(const Uuid& id);
    /// To where it was, which `own` says.
    bool restore(const Uuid& id, const OwnPlace& own);
    void move(const Uuid& id, const Place& place, const Gap& gap);
    /// Puts these children of one parent, in this order, directly behind another one, or in front
    /// of all.
    void reorder(
        const std::vector<Uuid>& run, const Uuid& parent, const std::optional<Uuid>& behind
    );

    /// Refuses another version than `expected` with 412.
    void require_version(const Uuid& id, const std::optional<std::int64_t>& expected) const;

    /// Whether the card gets its next version and its new number of blocks, or whoever calls sees
    /// to its row.
    enum class Raise { yes, no };
    /// Queues everything that changed; false when nothing did. Throws Failure 422 when that is more
    /// than a card holds.
    bool write(Raise raise = Raise::yes);

    /// The block as it was before this write; null when it is new, or as it was.
    const StoredBlock* before(const Uuid& id) const;
    /// Whether its own content changes.
    bool is_reworded(const Uuid& id) const;
    /// A new block as JSON, with everything live below that one insert() made with it.
    std::string shown_with_children(const Uuid& id) const;

private:
    enum class State { as_loaded, changed, reworded, fresh };
    struct Node {
        StoredBlock row;
        std::optional<StoredBlock> before;  ///< once it is changed
        std::string plain;                  ///< once it is reworded, or of a fresh one
        State state{};
        std::size_t insertion = 0;                 ///< of a fresh one: which insert() made it
        mutable std::optional<bool> toggleable{};  ///< once somebody has asked
    };
    struct Loading;

    void load(const CardKey& card, std::int64_t most_bytes);
    void take_loaded();
    Failure wrong(std::string_view field, std::string_view message) const;
    Node& touch(const Uuid& id);
    void require_parent(const Uuid& parent) const;
    void require_fit(const Uuid& parent, BlockType child, const std::string& payload) const;
    void require_depth(const Uuid& parent, std::size_t levels) const;
    /// For so much besides what has been added already.
    void require_room(std::int64_t blocks, std::int64_t bytes) const;
    void require_within_bounds(std::int64_t more_blocks, std::int64_t more_bytes) const;
    bool is_toggleable(const Node& node) const;
    void make_room_for_blocks() const;
    std::size_t height_below(const Uuid& id) const;
    bool is_within(const Uuid& id, const Uuid& ancestor) const;
    void each_below(const Uuid& id, const std::function<void(const Uuid&)>& visit) const;
    Uuid make(const Uuid& parent, const OrderKey& position, BlockInput block);
    void attach_files() const;
    void link(const Uuid& id);
    void unlink(const Uuid& id);

    Call& call_;
    CardAccess card_;
    PrincipalRef who_;
    std::string where_;
    std::unique_ptr<Loading> loading_;
    std::map<Uuid, Node> nodes_;
    /// Children in order, as far as they are loaded.
    std::map<Uuid, std::set<std::pair<std::string, Uuid>>> below_;
    std::set<Uuid> taken_;
    std::size_t insertions_ = 0;
    bool counts_at_end_ = false;
    std::int64_t more_ = 0;        ///< live blocks added, less those taken away
    std::int64_t more_bytes_ = 0;  ///< the same of what they hold
};

/// Queues the question where a place is; for writes that load no siblings.
DeferredRows<Gap> find_gap(Call& call, const Place& place, const std::optional<Uuid>& moved);
/// The same for a block that may come back from the trash.
DeferredRows<OwnPlace> find_own_place(Call& call, const Uuid& block);

}  // namespace svc::content
