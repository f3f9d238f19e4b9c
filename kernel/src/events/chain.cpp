#include "events/chain.hpp"

#include <algorithm>
#include <array>
#include <set>

namespace svc::events {

namespace {

constexpr std::size_t most_heads = 50'000;  // workspaces and boards that are remembered

constexpr Sql read_heads{"events.read_heads", R"(
    SELECT h.org_id, h.sequence, h.audit_sequence, encode(h.audit_hash, 'hex') AS audit_hash
    FROM event_heads h
    WHERE h.org_id = ANY($1::uuid[]))"};

constexpr Sql read_board_heads{"events.read_board_heads", R"(
    SELECT b.org_id, b.board_id, b.board_sequence
    FROM unnest($1::uuid[], $2::uuid[]) AS n (org_id, board_id)
    CROSS JOIN LATERAL (
        SELECT h.org_id, h.board_id, h.board_sequence
        FROM event_board_heads h
        WHERE h.org_id = n.org_id AND h.board_id = n.board_id
        OFFSET 0
    ) b)"};

// Lists travel as arrays, one per column; nothing and 0 stand for NULL.

constexpr Sql add_links{"events.add_links", R"(
    INSERT INTO event_chain (
        org_id, audit_sequence, log_id, sequence, position, board_id, board_sequence, hash)
    SELECT n.org_id, n.audit_sequence, n.log_id, NULLIF(n.sequence, 0), NULLIF(n.position, 0),
           NULLIF(n.board_id, '')::uuid, NULLIF(n.board_sequence, 0), decode(n.hash, 'hex')
    FROM unnest(
        $1::uuid[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::text[],
        $7::bigint[], $8::text[])
        AS n (org_id, audit_sequence, log_id, sequence, position, board_id, board_sequence,
              hash))"};

constexpr Sql keep_heads{"events.keep_heads", R"(
    INSERT INTO event_heads (org_id, sequence, audit_sequence, audit_hash)
    SELECT org_id, sequence, audit_sequence, decode(audit_hash, 'hex')
    FROM unnest($1::uuid[], $2::bigint[], $3::bigint[], $4::text[])
        AS h (org_id, sequence, audit_sequence, audit_hash)
    ON CONFLICT (org_id) DO UPDATE
    SET sequence = EXCLUDED.sequence, audit_sequence = EXCLUDED.audit_sequence,
        audit_hash = EXCLUDED.audit_hash)"};

constexpr Sql keep_board_heads{"events.keep_board_heads", R"(
    INSERT INTO event_board_heads (org_id, board_id, board_sequence)
    SELECT org_id, board_id, board_sequence
    FROM unnest($1::uuid[], $2::uuid[], $3::bigint[])
        AS b (org_id, board_id, board_sequence)
    ON CONFLICT (org_id, board_id) DO UPDATE
    SET board_sequence = EXCLUDED.board_sequence)"};

/// NULL is refused by the table: somebody else has been here since we read the number. A number
/// that is given twice misleads every reader, so these commits wait for the disk even where others
/// need not.
constexpr Sql keep_end{"events.keep_end", R"(
    UPDATE event_position
    SET batch = CASE WHEN batch = $1::bigint THEN $1::bigint + 1 END,
        position = $2::bigint, low_water = $3::bigint,
        high_water = $4::bigint
    WHERE only_row
    RETURNING set_config('synchronous_commit', 'on', true),
        pg_current_xact_id()::text::bigint AS xid, statement_timestamp() AS at)"};

struct HeadRow {
    Uuid org_id;
    std::int64_t sequence = 0, audit_sequence = 0;
    std::string audit_hash;
};
SVC_RECORD(HeadRow, (org_id), (sequence), (audit_sequence), (audit_hash));

struct BoardRow {
    Uuid org_id, board_id;
    std::int64_t board_sequence = 0;
};
SVC_RECORD(BoardRow, (org_id), (board_id), (board_sequence));

struct Written {
    std::int64_t xid = 0;
    Timestamp at;
};
SVC_RECORD(Written, (xid), (at));

using Texts = std::vector<std::string>;

template <std::size_t Columns>
using Table = std::array<Texts, Columns>;

template <std::size_t Columns, class... Value>
void add_row(Table<Columns>& table, Value&&... value) {
    static_assert(sizeof...(Value) == Columns);
    std::size_t column = 0;
    (table[column++].push_back(std::forward<Value>(value)), ...);
}

template <std::size_t Columns>
void queue_table(Tx& tx, const Sql& sql, const Table<Columns>& table) {
    if (table[0].empty()) return;
    std::apply([&](const auto&... column) { tx.queue(sql, column...); }, table);
}

}  // namespace

/// Gives the numbers and gathers what is to be written.
class Chain::Batch {
public:
    explicit Batch(Chain& chain) : chain_(chain), position_(chain.end_.position) {}

    void add(LogRow&& row) {
        Head& head = chain_.heads_[row.body.org_id];
        AuditEntry entry = audit_entry(row);
        entry.sequence = ++head.audit_sequence;
        entry.prev_hash = head.audit_hash;
        head.audit_hash = hash_of(entry);
        orgs_.insert(row.body.org_id);
        EventNumbers numbers;
        if (row.body.kind) numbers = number(row.body, head);
        const bool on_board = numbers.board_sequence.has_value();
        add_row(
            links_,
            row.body.org_id.str(),
            std::to_string(head.audit_sequence),
            std::to_string(row.id),
            std::to_string(numbers.sequence),
            std::to_string(numbers.position),
            on_board ? row.body.board_id->str() : "",
            std::to_string(numbers.board_sequence.value_or(0)),
            head.audit_hash
        );
        if (!row.body.kind) return;
        row.body.subject.reset();
        events_.push_back(stored_event(std::move(row.body), numbers));
    }

    DeferredRows<Written> queue(Tx& tx) {
        const Lookout& lookout = chain_.lookout_;
        auto written = tx.later<Written>(
            keep_end, chain_.end_.batch, position_, lookout.low_water(), lookout.high_water()
        );
        queue_table(tx, add_links, links_);
        Table<4> heads;
        for (const Uuid& org : orgs_) {
            const Head& head = chain_.heads_[org];
            add_row(
                heads,
                org.str(),
                std::to_string(head.sequence),
                std::to_string(head.audit_sequence),
                head.audit_hash
            );
        }
        queue_table(tx, keep_heads, heads);
        Table<3> boards;
        for (const BoardKey& key : numbered_boards_)
            add_row(boards, key.first.str(), key.second.str(), std::to_string(chain_.boards_[key]));
        queue_table(tx, keep_board_heads, boards);
        return written;
    }

    std::int64_t position() const { return position_; }
    std::vector<StoredEvent> events() && { return std::move(events_); }

private:
    EventNumbers number(const EventBody& body, Head& head) {
        EventNumbers numbers{.position = ++position_, .sequence = ++head.sequence};
        if (!body.board_id) return numbers;
        const BoardKey key{body.org_id, *body.board_id};
        numbered_boards_.insert(key);
        numbers.board_sequence = ++chain_.boards_[key];
        return numbers;
    }

    Chain& chain_;
    std::int64_t position_;
    std::set<Uuid> orgs_;
    std::set<BoardKey> numbered_boards_;
    std::vector<StoredEvent> events_;
    Table<8> links_;
};

std::size_t Chain::take(Tx& tx, int rows, std::int64_t bytes) {
    if (!open_) end_ = lookout_.open(tx);
    open_ = true;
    taken_ = lookout_.look(tx, rows, bytes);
    learn_heads(tx);
    return taken_.size();
}

void Chain::learn_heads(Tx& tx) {
    if (heads_.size() + boards_.size() > most_heads) {
        heads_.clear();
        boards_.clear();
    }
    Table<1> orgs;
    Table<2> boards;
    for (const LogRow& row : taken_) {
        const EventBody& body = row.body;
        if (heads_.try_emplace(body.org_id, Head{.audit_hash = chain_start()}).second)
            add_row(orgs, body.org_id.str());
        if (body.kind && body.board_id && boards_.try_emplace({body.org_id, *body.board_id}).second)
            add_row(boards, body.org_id.str(), body.board_id->str());
    }
    if (orgs[0].empty() && boards[0].empty()) return;
    auto known = tx.later<HeadRow>(read_heads, orgs[0]);
    for (const BoardRow& each : tx.all<BoardRow>(read_board_heads, boards[0], boards[1]))
        boards_[{each.org_id, each.board_id}] = each.board_sequence;
    for (HeadRow& each : known.all())
        heads_[each.org_id] = {each.sequence, each.audit_sequence, std::move(each.audit_hash)};
}

Sequenced Chain::write(Tx& tx) {
    Sequenced out{.rows = taken_.size(), .events = {}};
    if (taken_.empty()) return out;
    const std::int64_t oldest = taken_.front().body.occurred_at.micros;
    Batch batch(*this);
    for (LogRow& row : taken_) batch.add(std::move(row));
    taken_.clear();
    auto answer = batch.queue(tx);
    tx.commit();
    const Written written = answer.one_or_retry();
    end_ = {end_.batch + 1, batch.position()};
    lookout_.sequenced_by(written.xid);
    out.oldest_seconds = static_cast<double>(written.at.micros - oldest) / 1e6;
    out.events = std::move(batch).events();
    return out;
}

}  // namespace svc::events
