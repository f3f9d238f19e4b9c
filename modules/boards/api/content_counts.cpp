#include "modules/boards/api/content_counts.hpp"

namespace svc::boards {

namespace {

constexpr Sql raise_version{"boards.raise_card", R"(
    UPDATE cards
    SET version = version + 1, block_count = block_count + $4, content_bytes = content_bytes + $5,
        last_edited_time = now(), last_edited_by = $3
    WHERE org_id = $1 AND id = $2)"};

constexpr Sql add_bytes{"boards.add_content_bytes", R"(
    UPDATE cards SET content_bytes = content_bytes + $3 WHERE org_id = $1 AND id = $2)"};

constexpr Sql set_counts{"boards.set_content_counts", R"(
    UPDATE cards SET block_count = $3, content_bytes = $4 WHERE org_id = $1 AND id = $2)"};

constexpr Sql add_comments{"boards.count_comments", R"(
    UPDATE cards SET comment_count = comment_count + $3 WHERE org_id = $1 AND id = $2)"};

}  // namespace

void raise_card(
    Tx& tx, const Uuid& org, const Uuid& card, const ContentChange& more, const PrincipalRef& by
) {
    tx.queue(raise_version, org, card, by, more.blocks, more.bytes);
}

void add_content_bytes(Tx& tx, const Uuid& org, const Uuid& card, std::int64_t bytes) {
    tx.queue(add_bytes, org, card, bytes);
}

void set_content_counts(Tx& tx, const Uuid& org, const Uuid& card, const ContentChange& all) {
    tx.queue(set_counts, org, card, all.blocks, all.bytes);
}

void count_comments(Tx& tx, const Uuid& org, const Uuid& card, std::int64_t more) {
    tx.queue(add_comments, org, card, more);
}

}  // namespace svc::boards
