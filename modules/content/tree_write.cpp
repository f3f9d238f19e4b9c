// How changed blocks are written, and how a block is shown.

#include "modules/boards/api/content_counts.hpp"
#include "modules/boards/api/stored_bytes.hpp"
#include "modules/content/file_urls.hpp"
#include "svc/spacing.hpp"

namespace svc::content {

namespace {

constexpr Sql insert_blocks{"content.insert_blocks", R"(
    INSERT INTO blocks (
        org_id, id, card_id, parent_id, type, payload, plain, position, trashed_by, trashed_at,
        created_by, last_edited_by)
    SELECT $1::uuid, r.id, $2::uuid, r.parent_id, r.type, r.payload, r.plain, r.position,
        r.trashed_by, CASE WHEN r.trashed_by IS NOT NULL THEN now() END, $3::jsonb, $3::jsonb
    FROM json_to_recordset($4::json) AS r (
        id uuid, parent_id uuid, type text, payload json, plain text, position text,
        trashed_by uuid))"};

// How many of a card's blocks are changed cannot be told beforehand: each is found by its key, and
// looks up what it becomes, in whatever order the planner would take a join.
constexpr Sql update_blocks{"content.update_blocks", R"(
    UPDATE blocks b
    SET (parent_id, position, payload, plain, trashed_by, trashed_at, last_edited_time,
         last_edited_by, version) = (
        SELECT r.parent_id, r.position, coalesce(r.payload::json, b.payload),
            coalesce(r.plain, b.plain), r.trashed_by,
            CASE WHEN r.trashed_by IS NOT NULL THEN coalesce(b.trashed_at, now()) END,
            CASE WHEN r.version > b.version THEN now() ELSE b.last_edited_time END,
            CASE WHEN r.version > b.version THEN $2::jsonb ELSE b.last_edited_by END,
            r.version
        FROM jsonb_to_record($3::jsonb -> b.id::text) AS r (
            parent_id uuid, payload text, plain text, position text, trashed_by uuid,
            version bigint))
    WHERE b.org_id = $1 AND b.id = ANY (ARRAY(SELECT jsonb_object_keys($3::jsonb)::uuid)))"};

constexpr Sql near_blocks{"content.near_blocks", R"(
    (SELECT id, position, false AS above FROM blocks
     WHERE org_id = $1 AND parent_id = $2 AND position <= $3
     ORDER BY position DESC, id DESC
     LIMIT $4)
    UNION ALL
    (SELECT id, position, true FROM blocks
     WHERE org_id = $1 AND parent_id = $2 AND position > $3
     ORDER BY position, id
     LIMIT $4)
    ORDER BY position, id)"};

constexpr Sql space_blocks{"content.space_blocks", R"(
    UPDATE blocks b SET position = n.position
    FROM unnest($2::uuid[], $3::text[]) n (id, position)
    WHERE b.org_id = $1 AND b.id = n.id)"};

// The card is locked, and so are its blocks.
constexpr Siblings blocks_of_parent{near_blocks, nullptr, space_blocks};

struct Inserted {
    Uuid id, parent_id;
    BlockType type{};
    JsonText payload;
    std::string plain;
    std::string position;
    std::optional<Uuid> trashed_by;
};
SVC_RECORD(Inserted, (id), (parent_id), (type), (payload), (plain), (position), (trashed_by));

struct Updated {
    Uuid parent_id;
    std::optional<std::string> payload;  // as text, so that it is kept to the letter
    std::optional<std::string> plain;
    std::string position;
    std::optional<Uuid> trashed_by;
    std::int64_t version = 1;
};
SVC_RECORD(
    Updated,
    (parent_id),
    (payload, "", omit_empty),
    (plain, "", omit_empty),
    (position),
    (trashed_by),
    (version)
);

/// Appends a record to a JSON list that is being made.
template <class T>
void append(std::string& list, const T& record) {
    list += list.empty() ? '[' : ',';
    Json<T>::write(record, list);
}

}  // namespace

bool CardTree::write(Raise raise) {
    if (counts_at_end_) require_within_bounds(more_, more_bytes_);
    std::string fresh;
    std::map<std::string, Updated> changed;
    std::int64_t more_reworded = 0;
    const auto grown = [](const Node& node) {
        const auto is = node.row.payload.text.size(), was = node.before->payload.text.size();
        return static_cast<std::int64_t>(is) - static_cast<std::int64_t>(was);
    };
    for (const auto& [id, node] : nodes_) {
        const StoredBlock& row = node.row;
        if (node.state == State::fresh) {
            append(
                fresh,
                Inserted{
                    id,
                    row.parent_id,
                    row.type,
                    row.payload,
                    node.plain,
                    row.position,
                    row.trashed_by}
            );
        } else if (node.state != State::as_loaded) {
            Updated update{row.parent_id, {}, {}, row.position, row.trashed_by, row.version};
            if (node.state == State::reworded) {
                more_reworded += std::max<std::int64_t>(grown(node), 0);
                update.payload = row.payload.text;
                update.plain = node.plain;
            }
            changed.emplace(id.str(), std::move(update));
        }
    }
    if (fresh.empty() && changed.empty()) return false;
    Tx& tx = call_.tx();
    const Uuid& org = call_.org();
    if (raise == Raise::yes) boards::raise_card(tx, org, card_.card_id, {more_, more_bytes_}, who_);
    else boards::add_content_bytes(tx, org, card_.card_id, more_bytes_);
    boards::store_bytes(call_, static_cast<std::int64_t>(fresh.size()) + more_reworded);
    if (!fresh.empty()) tx.queue(insert_blocks, org, card_.card_id, who_, fresh + ']');
    if (!changed.empty()) {
        std::string texts;
        Json<std::map<std::string, Updated>>::write(changed, texts);
        tx.queue(update_blocks, org, who_, texts);
    }
    make_room_for_blocks();
    attach_files();
    return true;
}

void CardTree::make_room_for_blocks() const {
    std::map<Uuid, OrderKey> crowded;  // one new key for each parent
    for (const auto& [id, node] : nodes_) {
        const bool placed = node.state == State::fresh ||
                            (node.before && node.before->position != node.row.position);
        if (!placed) continue;
        const OrderKey key(node.row.position);
        if (key.is_long()) crowded.emplace(node.row.parent_id, key);
    }
    for (const auto& [parent, key] : crowded)
        make_room(call_.tx(), blocks_of_parent, call_.org(), parent, key);
}

void CardTree::attach_files() const {
    files::Files::Shown blocks;
    for (const auto& [id, node] : nodes_) {
        if (node.state != State::fresh && node.state != State::reworded) continue;
        auto shows = files_in(node.row.payload.text);
        const bool showed = node.before && !files_in(node.before->payload.text).empty();
        if (showed || !shows.empty()) blocks.emplace_back(id, std::move(shows));
    }
    content::attach_files(call_.kernel(), call_.tx(), call_.org(), card_.card_id, blocks);
}

Block shown(const StoredBlock& row) {
    Block block;
    block.id = row.id;
    block.card_id = row.card_id;
    if (row.parent_id == row.card_id) {
        block.parent = {ParentType::card_id, row.parent_id, std::nullopt};
    } else {
        block.parent = {ParentType::block_id, std::nullopt, row.parent_id};
    }
    block.type = row.type;
    const Field* payload = record_of<Block>().find(name_of(row.type));
    const Cell cell{row.payload.text.data(), row.payload.text.size(), false};
    payload->codec->from_db(cell, payload->in(&block));
    block.has_children = row.has_children;
    block.in_trash = block.archived = row.trashed_by.has_value();
    block.created_time = row.created_time;
    block.created_by = row.created_by;
    block.last_edited_time = row.last_edited_time;
    block.last_edited_by = row.last_edited_by;
    block.version = row.version;
    return block;
}

}  // namespace svc::content
