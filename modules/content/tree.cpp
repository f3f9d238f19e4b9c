// What may become of a card's blocks.

#include "modules/content/tree.hpp"

#include <algorithm>

namespace svc::content {

namespace {

/// Keys for `count` neighbours between two: the middle one first, so that they stay short.
void spread_keys(
    const OrderKey& below, const OrderKey& above, std::size_t count, std::vector<OrderKey>& out
) {
    if (count == 0) return;
    if (!above.exists()) {
        OrderKey last = below;
        for (std::size_t i = 0; i < count; ++i)
            out.push_back(last = OrderKey::last(last, random_bits()));
        return;
    }
    const auto middle = OrderKey::between(below, above, random_bits());
    spread_keys(below, middle, count / 2, out);
    out.push_back(middle);
    spread_keys(middle, above, count - count / 2 - 1, out);
}

std::vector<OrderKey> keys_in(const Gap& gap, std::size_t count) {
    std::vector<OrderKey> keys;
    spread_keys(gap.below, gap.above, count, keys);
    return keys;
}

std::int64_t bytes_of(const StoredBlock& row) {
    return static_cast<std::int64_t>(row.payload.text.size());
}

std::int64_t bytes_of(const std::vector<BlockInput>& blocks) {
    std::int64_t sum = 0;
    for (const BlockInput& each : blocks)
        sum += static_cast<std::int64_t>(each.payload.size()) + bytes_of(each.children);
    return sum;
}

Failure in_trash(std::string_view what) {
    return Failure(Fault::conflict, std::string(what) + " is in the trash; restore it first.")
        .with("reason", "block_in_trash");
}

}  // namespace

Failure CardTree::wrong(std::string_view field, std::string_view message) const {
    const std::string before = where_.empty() ? "" : where_ + ",";
    return wrong_at(call_, before + '"' + std::string(field) + '"', message);
}

// ------------------------------------------------------------------------------------ looking

const StoredBlock& CardTree::block(const Uuid& id) const {
    const auto found = nodes_.find(id);
    if (found == nodes_.end()) not_found("block");
    return found->second.row;
}

void CardTree::link(const Uuid& id) {
    const StoredBlock& row = nodes_.at(id).row;
    below_[row.parent_id].emplace(row.position, id);
}

void CardTree::unlink(const Uuid& id) {
    const StoredBlock& row = nodes_.at(id).row;
    below_[row.parent_id].erase({row.position, id});
}

void CardTree::each(const std::function<void(const StoredBlock&)>& visit) const {
    for (const auto& [id, node] : nodes_) visit(node.row);
}

std::vector<Uuid> CardTree::children(const Uuid& parent) const {
    std::vector<Uuid> live;
    const auto found = below_.find(parent);
    if (found == below_.end()) return live;
    for (const auto& [position, id] : found->second)
        if (!nodes_.at(id).row.trashed_by) live.push_back(id);
    return live;
}

void CardTree::each_below(const Uuid& id, const std::function<void(const Uuid&)>& visit) const {
    const auto found = below_.find(id);
    if (found == below_.end()) return;
    for (const auto& [position, child] : found->second) {
        visit(child);
        each_below(child, visit);
    }
}

std::size_t CardTree::height_below(const Uuid& id) const {
    std::size_t height = 0;
    const auto found = below_.find(id);
    if (found == below_.end()) return height;
    for (const auto& [position, child] : found->second)
        height = std::max(height, 1 + height_below(child));
    return height;
}

bool CardTree::is_within(const Uuid& id, const Uuid& ancestor) const {
    for (auto at = nodes_.find(id); at != nodes_.end(); at = nodes_.find(at->second.row.parent_id))
        if (at->first == ancestor) return true;
    return false;
}

Gap CardTree::gap(const Place& place, const std::optional<Uuid>& moved) const {
    Gap gap;
    gap.anchored = place.type != PositionType::after_block;
    const auto found = below_.find(place.parent);
    if (found == below_.end()) return gap;
    const auto& siblings = found->second;
    if (place.type == PositionType::end) {
        auto last = siblings.rbegin();
        if (last != siblings.rend() && last->second == moved) ++last;
        if (last != siblings.rend()) gap.below = OrderKey(last->first);
        return gap;
    }
    auto next = siblings.begin();
    if (place.type == PositionType::after_block) {
        const auto anchor = place.after ? nodes_.find(*place.after) : nodes_.end();
        if (anchor == nodes_.end() || place.after == moved) return gap;
        const StoredBlock& row = anchor->second.row;
        if (row.parent_id != place.parent || row.trashed_by) return gap;
        gap.below = OrderKey(row.position);
        gap.anchored = true;
        // Those that share its key are passed over.
        next = siblings.lower_bound({row.position + '\0', Uuid()});
    }
    if (next != siblings.end() && next->second == moved) ++next;
    if (next != siblings.end()) gap.above = OrderKey(next->first);
    return gap;
}

const StoredBlock* CardTree::before(const Uuid& id) const {
    const auto& before = nodes_.at(id).before;
    return before ? &*before : nullptr;
}

bool CardTree::is_reworded(const Uuid& id) const { return nodes_.at(id).state == State::reworded; }

std::string CardTree::shown_with_children(const Uuid& id) const {
    const Node& node = nodes_.at(id);
    Block block = shown(node.row);
    const auto live = children(id);
    std::string list;
    for (const Uuid& child : live) {
        if (nodes_.at(child).insertion != node.insertion) continue;
        list += list.empty() ? '[' : ',';
        list += shown_with_children(child);
    }
    block.has_children = !live.empty();
    if (!list.empty()) block.children = BlocksText{list + ']'};
    return to_json(block);
}

// ------------------------------------------------------------------------------------ refusing

void CardTree::require_parent(const Uuid& parent) const {
    if (parent == card_.card_id) return;
    const auto found = nodes_.find(parent);
    if (found == nodes_.end()) throw wrong("parent_id", "the card has no such block");
    if (found->second.row.trashed_by) throw in_trash("The block above");
}

void CardTree::require_fit(const Uuid& parent, BlockType child, const std::string& payload) const {
    std::optional<BlockType> above;
    bool toggleable = false;
    if (parent != card_.card_id) {
        const Node& node = nodes_.at(parent);
        const StoredBlock& row = node.row;
        above = row.type;
        toggleable = is_toggleable(node);
        if (row.type == BlockType::table && child == BlockType::table_row &&
            static_cast<std::int64_t>(cell_count(payload)) != table_width(row.payload.text))
            throw wrong("children", "a row has as many cells as its table is wide");
    }
    const std::string why = why_not_below(above, toggleable, child);
    if (!why.empty()) throw wrong("children", why);
}

bool CardTree::is_toggleable(const Node& node) const {
    if (!node.toggleable)
        node.toggleable = content::is_toggleable(node.row.type, node.row.payload.text);
    return *node.toggleable;
}

void CardTree::require_depth(const Uuid& parent, std::size_t levels) const {
    std::size_t depth = levels;
    for (auto at = nodes_.find(parent); at != nodes_.end();
         at = nodes_.find(at->second.row.parent_id))
        ++depth;
    if (depth > most_depth) throw wrong("children", "blocks stand 32 levels deep at most");
}

void CardTree::require_room(std::int64_t blocks, std::int64_t bytes) const {
    if (!counts_at_end_) require_within_bounds(more_ + blocks, more_bytes_ + bytes);
}

void CardTree::require_within_bounds(std::int64_t more_blocks, std::int64_t more_bytes) const {
    if (more_blocks > 0 && card_.block_count + more_blocks > most_on_card)
        throw wrong("children", "a card holds 10000 blocks at most");
    if (more_bytes > 0 && card_.content_bytes + more_bytes > most_bytes_on_card)
        throw wrong("children", "the blocks of a card hold 16 MiB at most");
}

void CardTree::require_version(const Uuid& id, const std::optional<std::int64_t>& expected) const {
    const std::int64_t current = block(id).version;
    if (!expected || *expected == current) return;
    throw Failure(
        Fault::version_conflict, "Somebody else has changed the block " + id.str() + " meanwhile."
    )
        .with("current_version", std::to_string(current))
        .with("block_id", id.str());
}

// ------------------------------------------------------------------------------------ changing

CardTree::Node& CardTree::touch(const Uuid& id) {
    Node& node = nodes_.at(id);
    if (node.state == State::fresh) return node;
    if (!node.before) node.before = node.row;
    if (node.state == State::as_loaded) node.state = State::changed;
    if (node.row.version == node.before->version) ++node.row.version;
    node.row.last_edited_time = card_.now;
    node.row.last_edited_by = AsJson(who_);
    return node;
}

Uuid CardTree::make(const Uuid& parent, const OrderKey& position, BlockInput block) {
    const bool own = block.id && !taken_.contains(*block.id) && !nodes_.contains(*block.id) &&
                     *block.id != card_.card_id && !block.id->nil();
    const Uuid id = own ? *block.id : new_uuid();
    Node node;
    node.state = State::fresh;
    node.insertion = insertions_;
    node.plain = std::move(block.plain);
    StoredBlock& row = node.row;
    row.id = id;
    row.card_id = card_.card_id;
    row.parent_id = parent;
    row.type = block.type;
    row.payload.text = std::move(block.payload);
    row.position = position.str();
    row.has_children = !block.children.empty();
    row.created_time = row.last_edited_time = card_.now;
    row.created_by = row.last_edited_by = AsJson(who_);
    nodes_.emplace(id, std::move(node));
    link(id);
    ++more_;
    more_bytes_ += bytes_of(nodes_.at(id).row);
    const auto keys = keys_in({}, block.children.size());
    for (std::size_t i = 0; i < keys.size(); ++i) make(id, keys[i], std::move(block.children[i]));
    return id;
}

std::vector<Uuid> CardTree::insert(
    const Place& place, const Gap& gap, std::vector<BlockInput> blocks
) {
    require_parent(place.parent);
    if (!gap.anchored)
        throw wrong("position", "after_block names no block directly below the parent");
    for (const BlockInput& each : blocks) require_fit(place.parent, each.type, each.payload);
    require_depth(place.parent, height_of(blocks));
    require_room(static_cast<std::int64_t>(content::count_blocks(blocks)), bytes_of(blocks));
    const auto keys = keys_in(gap, blocks.size());
    ++insertions_;
    std::vector<Uuid> ids;
    for (std::size_t i = 0; i < blocks.size(); ++i)
        ids.push_back(make(place.parent, keys[i], std::move(blocks[i])));
    if (const auto above = nodes_.find(place.parent); above != nodes_.end())
        above->second.row.has_children = above->second.row.has_children || !ids.empty();
    return ids;
}

void CardTree::change(const Uuid& id, const Worded& worded) {
    const StoredBlock& row = block(id);
    if (row.trashed_by) throw in_trash("The block");
    if (row.payload.text == worded.payload) return;
    const bool folds = content::is_toggleable(row.type, worded.payload);
    if (content::is_toggleable(row.type, row.payload.text) && !folds && row.has_children)
        throw wrong(name_of(row.type), "a heading with blocks below it stays toggleable");
    if (row.type == BlockType::table &&
        table_width(row.payload.text) != table_width(worded.payload))
        throw wrong("table", "table_width is given once, when the table is made");
    if (row.type == BlockType::table_row &&
        cell_count(row.payload.text) != cell_count(worded.payload))
        throw wrong("table_row", "a row has as many cells as its table is wide");
    const auto grown = static_cast<std::int64_t>(worded.payload.size()) - bytes_of(row);
    require_room(0, grown);
    more_bytes_ += grown;
    Node& node = touch(id);
    if (node.state != State::fresh) node.state = State::reworded;
    node.row.payload.text = worded.payload;
    node.toggleable.reset();
    node.plain = worded.plain;
}

bool CardTree::trash(const Uuid& id) {
    if (block(id).trashed_by) return false;
    const auto hide = [&](const Uuid& each) {
        StoredBlock& row = nodes_.at(each).row;
        if (row.trashed_by) return;
        Node& node = each == id ? touch(each) : nodes_.at(each);
        if (!node.before) node.before = row;
        if (node.state == State::as_loaded) node.state = State::changed;
        node.row.trashed_by = id;
        node.row.has_children = false;
        --more_;
        more_bytes_ -= bytes_of(row);
    };
    hide(id);
    each_below(id, hide);
    return true;
}

bool CardTree::restore(const Uuid& id, const OwnPlace& own) {
    const StoredBlock& found = block(id);
    if (!found.trashed_by) return false;
    if (*found.trashed_by != id) throw in_trash("A block above this one");
    require_parent(found.parent_id);
    require_fit(found.parent_id, found.type, found.payload.text);
    require_depth(found.parent_id, 1 + height_below(id));
    std::int64_t back = 1, bytes = bytes_of(found);
    each_below(id, [&](const Uuid& each) {
        const StoredBlock& row = nodes_.at(each).row;
        if (row.trashed_by != id) return;
        ++back;
        bytes += bytes_of(row);
    });
    require_room(back, bytes);
    const auto show = [&](const Uuid& each) {
        StoredBlock& row = nodes_.at(each).row;
        if (row.trashed_by != id) return;
        Node& node = each == id ? touch(each) : nodes_.at(each);
        if (!node.before) node.before = row;
        if (node.state == State::as_loaded) node.state = State::changed;
        node.row.trashed_by.reset();
        ++more_;
        more_bytes_ += bytes_of(row);
    };
    if (own.taken) {
        unlink(id);
        touch(id).row.position = OrderKey::between(own.position, own.above, random_bits()).str();
        link(id);
    }
    show(id);
    each_below(id, show);
    const auto holds = [&](const Uuid& each) {
        nodes_.at(each).row.has_children = !children(each).empty();
    };
    holds(id);
    each_below(id, holds);
    return true;
}

void CardTree::move(const Uuid& id, const Place& place, const Gap& gap) {
    const StoredBlock& row = block(id);
    if (row.trashed_by) throw in_trash("The block");
    require_parent(place.parent);
    if (is_within(place.parent, id))
        throw wrong("parent_id", "a block cannot stand below itself or below what it holds");
    if (!gap.anchored || place.after == id)
        throw wrong("position", "after_block names no other block directly below the parent");
    require_fit(place.parent, row.type, row.payload.text);
    require_depth(place.parent, 1 + height_below(id));
    const std::string key = OrderKey::between(gap.below, gap.above, random_bits()).str();
    unlink(id);
    Node& node = touch(id);
    node.row.parent_id = place.parent;
    node.row.position = key;
    link(id);
}

void CardTree::reorder(
    const std::vector<Uuid>& run, const Uuid& parent, const std::optional<Uuid>& behind
) {
    for (const Uuid& each : run) unlink(each);
    const auto type = behind ? PositionType::after_block : PositionType::start;
    const auto keys = keys_in(gap({parent, type, behind}), run.size());
    for (std::size_t i = 0; i < run.size(); ++i) {
        touch(run[i]).row.position = keys[i].str();
        link(run[i]);
    }
}

}  // namespace svc::content
