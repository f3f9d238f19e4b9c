#include "modules/notifications/long_texts.hpp"

#include <boost/json.hpp>

namespace svc::notifications {

namespace {

constexpr Sql find_comment_text{"notifications.find_comment_text", R"(
    SELECT c.rich_text AS value FROM comments c
    WHERE c.org_id = $1 AND c.id = $2 AND NOT c.in_trash)"};

// Those that were made in one transaction with the block $3 and mention somebody.
constexpr Sql find_made_blocks{"notifications.find_made_blocks", R"(
    SELECT json_build_object('object', 'block', 'id', b.id, 'payload', b.payload) AS value
    FROM blocks b
    WHERE b.org_id = $1 AND b.card_id = $2 AND b.trashed_by IS NULL
        AND b.created_time = (
            SELECT f.created_time FROM blocks f WHERE f.org_id = $1 AND f.id = $3)
        AND strpos(b.payload::text, '"mention"') > 0
    ORDER BY b.id
    LIMIT 1000)"};

struct Text {
    JsonText value;
};
SVC_RECORD(Text, (value));

bool is_left_out(const json::object& changes, std::string_view field) {
    return !object_in(changes, field).empty();
}

}  // namespace

void restore_long_texts(Tx& tx, Facts& facts) {
    const StoredEvent& event = facts.event;
    if (event.kind == "comment.created" && is_left_out(facts.changes, "rich_text")) {
        const auto found = tx.one<Text>(find_comment_text, event.org_id, event.object_id);
        if (found) facts.changes["rich_text"] = json::parse(found->value.text);
    }
    if (event.kind == "block.created" && is_left_out(facts.changes, "blocks")) {
        json::array blocks;
        for (const Text& each :
             tx.all<Text>(find_made_blocks, event.org_id, event.card_id, event.object_id))
            blocks.push_back(json::parse(each.value.text));
        facts.changes["blocks"] = std::move(blocks);
    }
}

}  // namespace svc::notifications
