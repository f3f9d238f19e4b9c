#include "modules/boards/storage/stored_bytes.hpp"

#include "svc/order_key.hpp"
#include "svc/workspace_jobs.hpp"

#include <algorithm>

namespace svc::boards {

namespace {

// The check `storage_within_plan` is what refuses: nothing else has to be read for it.
constexpr std::string_view add_so_many = R"(
    INSERT INTO stored_more (org_id, id, bytes, fits)
    SELECT $1, $2, $3::bigint,
        $4::bigint = 0
            OR coalesce((SELECT s.bytes FROM stored_bytes s WHERE s.org_id = $1), 0)
                + coalesce((SELECT sum(m.bytes) FROM stored_more m WHERE m.org_id = $1), 0)
                + $3::bigint <= $4::bigint)";
constexpr std::string_view if_card_is_there = R"(
    WHERE EXISTS (SELECT FROM cards c WHERE c.org_id = $1 AND c.id = $5))";
constexpr Sql add_bytes{"boards.add_stored_bytes", SqlText<add_so_many>::view};
constexpr Sql add_bytes_of_card{
    "boards.add_stored_card", SqlText<add_so_many, if_card_is_there>::view};

// Of the cards $4.
constexpr std::string_view of_bodies = R"(
    WITH bodies AS MATERIALIZED (
        SELECT coalesce(sum(c.content_bytes), 0)::bigint AS bytes
        FROM cards c
        WHERE c.org_id = $1 AND c.id = ANY ($4::uuid[])
    ))";

// Of the cards that the board $4 is going to have copies of. OFFSET 0: row by row, or the planner
// may read all cards of the workspace for a few.
constexpr std::string_view of_copies = R"(
    WITH bodies AS MATERIALIZED (
        SELECT coalesce(sum(c.bytes), 0)::bigint AS bytes
        FROM board_copy_cards p
        CROSS JOIN LATERAL (
            SELECT k.content_bytes + pg_column_size(k.title) + pg_column_size(k.properties)
                AS bytes
            FROM cards k
            WHERE k.org_id = $1 AND k.id = p.source_id
            OFFSET 0
        ) c
        WHERE p.org_id = $1 AND p.board_id = $4
    ))";

constexpr std::string_view are_added = R"(
    INSERT INTO stored_more (org_id, id, bytes, fits)
    SELECT $1, $2, b.bytes,
        $3::bigint = 0
            OR coalesce((SELECT s.bytes FROM stored_bytes s WHERE s.org_id = $1), 0)
                + coalesce((SELECT sum(m.bytes) FROM stored_more m WHERE m.org_id = $1), 0)
                + b.bytes <= $3::bigint
    FROM bodies b)";

constexpr Sql add_bytes_of_bodies{"boards.add_stored_bodies", SqlText<of_bodies, are_added>::view};
constexpr Sql add_bytes_of_copies{"boards.add_stored_copies", SqlText<of_copies, are_added>::view};

constexpr Sql sum_up{"boards.stored_bytes", R"(
    SELECT (coalesce((SELECT s.bytes FROM stored_bytes s WHERE s.org_id = $1), 0)
        + coalesce((SELECT sum(m.bytes) FROM stored_more m WHERE m.org_id = $1), 0))::bigint
        AS bytes)"};

constexpr Sql grown{"boards.workspaces_that_grew", R"(
    SELECT DISTINCT m.org_id FROM stored_more m WHERE m.org_id IS NOT NULL)"};

constexpr Sql take_together{"boards.add_up_stored_bytes", R"(
    WITH taken AS (
        DELETE FROM stored_more WHERE org_id = $1 RETURNING bytes
    )
    INSERT INTO stored_bytes (org_id, bytes, has_grown)
    SELECT o.id, (SELECT coalesce(sum(t.bytes), 0) FROM taken t), true
    FROM orgs o
    WHERE o.id = $1
    ON CONFLICT (org_id) DO UPDATE
    SET bytes = stored_bytes.bytes + excluded.bytes, has_grown = true)"};

constexpr Sql due{"boards.workspaces_to_count", R"(
    SELECT s.org_id FROM stored_bytes s
    WHERE s.org_id IS NOT NULL
        AND (s.has_grown AND s.counted_at < now() - interval '1 hour'
            OR s.counted_at < now() - interval '1 day')
    ORDER BY s.counted_at
    LIMIT $1)"};

constexpr Sql lock_count{"boards.lock_stored_bytes", R"(
    SELECT org_id FROM stored_bytes WHERE org_id = $1 FOR UPDATE)"};

constexpr Sql keep_count{"boards.keep_stored_bytes", R"(
    UPDATE stored_bytes SET bytes = $2, has_grown = false, counted_at = now() WHERE org_id = $1)"};

// As PostgreSQL keeps them, which is often less than was sent.
constexpr Sql count_cards{"boards.count_bytes_of_cards", R"(
    SELECT (
        (SELECT coalesce(sum(
             pg_column_size(c.title) + pg_column_size(c.properties) + pg_column_size(c.labels)
                 + pg_column_size(c.assignees)), 0)
         FROM cards c WHERE c.org_id = $1)
        + (SELECT coalesce(sum(pg_column_size(v.fields)), 0)
           FROM card_versions v WHERE v.org_id = $1))::bigint AS bytes)"};

constexpr std::int64_t at_once = 20;
constexpr std::int64_t smallest = 4096;
constexpr std::string_view counting = "count_stored_bytes";

/// Of what is small only one in some is written down.
bool is_passed_over(std::int64_t bytes) {
    return bytes < smallest && static_cast<std::int64_t>(random_bits() % smallest) >= bytes;
}

}  // namespace

StoredBytesImpl::StoredBytesImpl(Kernel& kernel, std::int64_t limit)
    : kernel_(kernel), limit_(limit), countings_{&count_cards} {}

void StoredBytesImpl::add(Tx& tx, const Uuid& org, std::int64_t bytes) {
    if (is_passed_over(bytes)) return;
    tx.queue(add_bytes, org, new_uuid(), std::max(bytes, smallest), limit_);
}

void StoredBytesImpl::add_card(Tx& tx, const Uuid& org, const Uuid& card, std::int64_t bytes) {
    if (is_passed_over(bytes)) return;
    tx.queue(add_bytes_of_card, org, new_uuid(), std::max(bytes, smallest), limit_, card);
}

void StoredBytesImpl::add_bodies(Tx& tx, const Uuid& org, const std::vector<Uuid>& cards) {
    tx.queue(add_bytes_of_bodies, org, new_uuid(), limit_, cards);
}

void StoredBytesImpl::add_copies(Tx& tx, const Uuid& org, const Uuid& board) {
    tx.queue(add_bytes_of_copies, org, new_uuid(), limit_, board);
}

void store_copies(Call& call, const Uuid& board) {
    static_cast<StoredBytesImpl&>(call.use<StoredBytes>()).add_copies(call.tx(), call.org(), board);
}

void store_bodies(Call& call, const std::vector<Uuid>& cards) {
    if (cards.empty()) return;
    static_cast<StoredBytesImpl&>(call.use<StoredBytes>()).add_bodies(call.tx(), call.org(), cards);
}

std::function<std::int64_t()> StoredBytesImpl::used(Tx& tx, const Uuid& org) const {
    return
        [sum = tx.later<BytesCounted>(sum_up, org)]() mutable { return sum.one_or_retry().bytes; };
}

std::optional<std::int64_t> StoredBytesImpl::limit() const {
    return limit_ > 0 ? std::optional(limit_) : std::nullopt;
}

void StoredBytesImpl::add_up() const {
    for (const auto& [org] : workspaces(kernel_, grown)) {
        if (kernel_.stopping()) return;
        in_workspace(kernel_, org, counting, [&](Tx& tx, Actor&) { tx.queue(take_together, org); });
    }
}

void StoredBytesImpl::recount() const {
    for (const auto& [org] : workspaces(kernel_, due, at_once)) {
        if (kernel_.stopping()) return;
        in_workspace(kernel_, org, counting, [&](Tx& tx, Actor&) {
            tx.queue(lock_count, org);
            // What is written from here on stands in rows of its own.
            tx.queue(take_together, org);
            std::int64_t bytes = 0;
            for (const Sql* each : countings_) bytes += tx.one<BytesCounted>(*each, org)->bytes;
            tx.queue(keep_count, org, bytes);
        });
    }
}

}  // namespace svc::boards
