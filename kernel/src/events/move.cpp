#include "events/move.hpp"

#include "events/audit.hpp"
#include "svc/envelope.hpp"

#include <map>

namespace svc::events {

namespace {

/// The oldest rows with the last numbers given in their workspaces and on their boards. The
/// lengths are known without fetching what is stored out of line.
constexpr Sql take{"events.take_outbox_rows", R"(
    WITH oldest AS (
        SELECT o.*, octet_length(o.changes) + octet_length(o.previous) +
                coalesce(octet_length(o.subject), 0) AS bytes
        FROM outbox o
        ORDER BY o.id
        LIMIT $1
    ), taken AS (
        SELECT oldest.*, sum(bytes) OVER (ORDER BY id) - bytes AS bytes_before
        FROM oldest
    )
    SELECT t.id, t.org_id, t.entry_id, t.kind, t.outcome, t.action, t.object, t.object_id,
           t.object_name, t.version, t.board_id, t.column_id, t.card_id, t.parent_id,
           t.changes, t.previous, t.truncated, t.actor, t.mutation_id, t.cause, t.depth,
           t.client_address, t.user_agent, t.request_id, t.moved_from, t.moved_to, t.subject,
           (extract(epoch FROM t.occurred_at) * 1000000)::bigint AS occurred_micros,
           extract(epoch FROM statement_timestamp() - t.occurred_at)::double precision AS age,
           coalesce(h.sequence, 0) AS last_sequence,
           coalesce(h.audit_sequence, 0) AS last_audit_sequence,
           encode(h.audit_hash, 'hex') AS last_audit_hash,
           coalesce(b.board_sequence, 0) AS last_board_sequence,
           (SELECT position FROM event_position) AS last_position
    FROM taken t
    LEFT JOIN event_heads h ON h.org_id = t.org_id
    LEFT JOIN event_board_heads b ON b.org_id = t.org_id AND b.board_id = t.board_id
    WHERE t.bytes_before < $2
    ORDER BY t.id)"};

struct Row {
    std::int64_t id = 0;
    Uuid org_id, entry_id;
    std::optional<std::string> kind;
    std::string outcome, action;
    std::optional<std::string> object;
    std::optional<Uuid> object_id;
    std::optional<std::string> object_name;
    std::int64_t version = 0;
    std::optional<Uuid> board_id, column_id, card_id, parent_id;
    std::string changes, previous;
    std::optional<std::vector<std::string>> truncated;
    std::string actor;
    std::optional<Uuid> mutation_id;
    std::optional<std::string> cause;
    std::int64_t depth = 0;
    std::optional<std::string> client_address, user_agent, request_id;
    std::optional<JsonText> moved_from, moved_to;
    std::optional<std::string> subject;
    std::int64_t occurred_micros = 0;
    double age = 0;
    std::int64_t last_sequence = 0, last_audit_sequence = 0;
    std::optional<std::string> last_audit_hash;
    std::int64_t last_board_sequence = 0, last_position = 0;
};
SVC_RECORD(
    Row,
    (id),
    (org_id),
    (entry_id),
    (kind),
    (outcome),
    (action),
    (object),
    (object_id),
    (object_name),
    (version),
    (board_id),
    (column_id),
    (card_id),
    (parent_id),
    (changes),
    (previous),
    (truncated),
    (actor),
    (mutation_id),
    (cause),
    (depth),
    (client_address),
    (user_agent),
    (request_id),
    (moved_from),
    (moved_to),
    (subject),
    (occurred_micros),
    (age),
    (last_sequence),
    (last_audit_sequence),
    (last_audit_hash),
    (last_board_sequence),
    (last_position)
);

// Lists travel as arrays of text, one per column; empty text stands for NULL.

constexpr Sql add_events{"events.add_events", R"(
    INSERT INTO events (
        org_id, sequence, position, event_id, board_id, board_sequence, kind, depth, object,
        object_id, column_id, card_id, actor, envelope, subject)
    SELECT org_id, sequence, position, event_id,
           NULLIF(board_id, '')::uuid, NULLIF(board_sequence, '')::bigint, kind, depth, object,
           object_id, NULLIF(column_id, '')::uuid, NULLIF(card_id, '')::uuid, actor, envelope,
           NULLIF(subject, '')
    FROM unnest(
        $1::uuid[], $2::bigint[], $3::bigint[], $4::uuid[], $5::text[], $6::text[], $7::text[],
        $8::integer[], $9::text[], $10::uuid[], $11::text[], $12::text[], $13::text[], $14::text[],
        $15::text[])
        AS e (org_id, sequence, position, event_id, board_id, board_sequence, kind, depth, object,
              object_id, column_id, card_id, actor, envelope, subject))"};

constexpr Sql add_audit_entries{"events.add_audit_entries", R"(
    INSERT INTO audit_events (
        org_id, sequence, id, occurred_at, action, outcome, actor, target_type, target_id,
        target_name, before, after, ip_address, user_agent, request_id, prev_hash, hash,
        kind, card_id)
    SELECT org_id, sequence, id,
           timestamptz 'epoch' + occurred_micros * interval '1 microsecond',
           action, outcome, actor, NULLIF(target_type, ''), NULLIF(target_id, '')::uuid,
           NULLIF(target_name, ''), NULLIF(before, ''), NULLIF(after, ''),
           NULLIF(ip_address, ''), NULLIF(user_agent, ''), NULLIF(request_id, ''),
           decode(prev_hash, 'hex'), decode(hash, 'hex'),
           NULLIF(kind, ''), NULLIF(card_id, '')::uuid
    FROM unnest(
        $1::uuid[], $2::bigint[], $3::uuid[], $4::bigint[], $5::text[], $6::text[], $7::text[],
        $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], $13::text[], $14::text[],
        $15::text[], $16::text[], $17::text[], $18::text[], $19::text[])
        AS a (org_id, sequence, id, occurred_micros, action, outcome, actor, target_type,
              target_id, target_name, before, after, ip_address, user_agent, request_id,
              prev_hash, hash, kind, card_id))"};

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

/// NULL is refused by the table: somebody else has been here since we read the number.
constexpr Sql keep_position{"events.keep_position", R"(
    UPDATE event_position
    SET position = CASE WHEN position = $1::bigint THEN $2::bigint END)"};

constexpr Sql drop_rows{"events.drop_outbox_rows", R"(
    DELETE FROM outbox
    WHERE org_id = ANY($1::uuid[]) AND id = ANY($2::bigint[]))"};

/// A number that is given twice misleads every reader, so these commits wait for the disk even
/// where others need not.
constexpr Sql be_durable{"events.be_durable", R"(
    SELECT set_config('synchronous_commit', 'on', true))"};

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

std::string text_of(const std::optional<Uuid>& id) { return id ? id->str() : std::string(); }

struct Head {
    std::int64_t sequence = 0, audit_sequence = 0;
    std::string audit_hash;
};

/// Gives the numbers and gathers what is to be written.
class Batch {
public:
    explicit Batch(std::int64_t position) : first_position_(position), position_(position) {}

    void add(Row&& row) {
        Head& head = head_of(row);
        add_audit_entry(row, head);
        add_row(dropped_, row.org_id.str(), std::to_string(row.id));
        if (row.kind) add_event(std::move(row), head);
    }

    std::vector<StoredEvent> write(Tx& tx) {
        for (const auto& [org, head] : heads_)
            add_row(
                heads_table_,
                org.str(),
                std::to_string(head.sequence),
                std::to_string(head.audit_sequence),
                head.audit_hash
            );
        for (const auto& [board, sequence] : boards_)
            add_row(boards_table_, board.first.str(), board.second.str(), std::to_string(sequence));
        tx.queue(be_durable);
        tx.queue(keep_position, first_position_, position_);
        queue_table(tx, add_events, events_table_);
        queue_table(tx, add_audit_entries, audit_);
        queue_table(tx, keep_heads, heads_table_);
        queue_table(tx, keep_board_heads, boards_table_);
        queue_table(tx, drop_rows, dropped_);
        return std::move(events_);
    }

private:
    Head& head_of(const Row& row) {
        return heads_
            .try_emplace(
                row.org_id,
                Head{
                    row.last_sequence,
                    row.last_audit_sequence,
                    row.last_audit_hash.value_or(chain_start())}
            )
            .first->second;
    }

    void add_audit_entry(const Row& row, Head& head) {
        AuditEntry entry{
            .org_id = row.org_id,
            .sequence = ++head.audit_sequence,
            .id = row.entry_id,
            .occurred_micros = row.occurred_micros,
            .action = row.action,
            .outcome = row.outcome,
            .actor = row.actor,
            .target_type = row.object,
            .target_id = row.object_id,
            .target_name = row.object_name,
            .before = row.previous == "{}" ? std::nullopt : std::optional(row.previous),
            .after = row.changes == "{}" ? std::nullopt : std::optional(row.changes),
            .ip_address = row.client_address,
            .user_agent = row.user_agent,
            .request_id = row.request_id,
            .prev_hash = head.audit_hash,
        };
        // NULL and the empty text are one in the table, and so in the chain.
        for (auto* text :
             {&entry.target_type,
              &entry.target_name,
              &entry.ip_address,
              &entry.user_agent,
              &entry.request_id})
            if (*text && (*text)->empty()) text->reset();
        entry.hash = head.audit_hash = hash_of(entry);
        add_row(
            audit_,
            entry.org_id.str(),
            std::to_string(entry.sequence),
            entry.id.str(),
            std::to_string(entry.occurred_micros),
            std::move(entry.action),
            std::move(entry.outcome),
            std::move(entry.actor),
            std::move(entry.target_type).value_or(""),
            text_of(entry.target_id),
            std::move(entry.target_name).value_or(""),
            std::move(entry.before).value_or(""),
            std::move(entry.after).value_or(""),
            std::move(entry.ip_address).value_or(""),
            std::move(entry.user_agent).value_or(""),
            std::move(entry.request_id).value_or(""),
            std::move(entry.prev_hash),
            std::move(entry.hash),
            row.kind.value_or(""),
            text_of(card_of(row))
        );
    }

    static std::optional<Uuid> card_of(const Row& row) {
        return row.object == "card" ? row.object_id : row.card_id;
    }

    void add_event(Row&& row, Head& head) {
        StoredEvent event{
            .position = ++position_,
            .event_id = row.entry_id,
            .org_id = row.org_id,
            .board_id = row.board_id,
            .sequence = ++head.sequence,
            .board_sequence = next_on_board(row),
            .kind = *row.kind,
            .depth = row.depth,
            .object = row.object.value_or(""),
            .object_id = row.object_id.value_or(Uuid{}),
            .column_id = row.column_id,
            .card_id = card_of(row),
            .actor = {},
            .envelope = {},
            .subject = {},
        };
        event.actor.text = row.actor;
        std::string subject = std::move(row.subject).value_or("");
        event.envelope = envelope(std::move(row), event);
        add_row(
            events_table_,
            event.org_id.str(),
            std::to_string(event.sequence),
            std::to_string(event.position),
            event.event_id.str(),
            text_of(event.board_id),
            event.board_sequence ? std::to_string(*event.board_sequence) : "",
            event.kind,
            std::to_string(event.depth),
            event.object,
            event.object_id.str(),
            text_of(event.column_id),
            text_of(event.card_id),
            event.actor.text,
            event.envelope,
            std::move(subject)
        );
        events_.push_back(std::move(event));
    }

    std::optional<std::int64_t> next_on_board(const Row& row) {
        if (!row.board_id) return std::nullopt;
        return ++boards_.try_emplace({row.org_id, *row.board_id}, row.last_board_sequence)
                     .first->second;
    }

    /// The record gives the names and the order; actor and cause are copied as they were
    /// written, so that a row left by an older server passes unread.
    static std::string envelope(Row&& row, const StoredEvent& event) {
        EventEnvelope envelope;
        envelope.event_id = event.event_id;
        envelope.kind = event.kind;
        envelope.org_id = event.org_id;
        envelope.board_id = event.board_id;
        envelope.sequence = event.sequence;
        envelope.board_sequence = event.board_sequence;
        envelope.occurred_at = {row.occurred_micros};
        envelope.mutation_id = row.mutation_id;
        envelope.data = {
            .object = std::move(row.object).value_or(""),
            .id = row.object_id.value_or(Uuid{}),
            .version = row.version,
            .board_id = row.board_id,
            .column_id = row.column_id,
            .card_id = row.card_id,
            .parent_id = row.parent_id,
            .from = std::move(row.moved_from),
            .to = std::move(row.moved_to),
            .changes = {std::move(row.changes)},
            .previous = {std::move(row.previous)},
            .truncated_fields = std::move(row.truncated).value_or(std::vector<std::string>{}),
        };
        const Record& record = record_of<EventEnvelope>();
        std::string out;
        for (const Field& field : record.fields) {
            out += out.empty() ? '{' : ',';
            write_text(field.name, out);
            out += ':';
            if (field.name == "actor") out += row.actor;
            else if (field.name == "cause") out += row.cause.value_or("null");
            else field.codec->write(field.in_const(&envelope), out);
        }
        return out += '}';
    }

    std::int64_t first_position_, position_;
    std::map<Uuid, Head> heads_;
    std::map<std::pair<Uuid, Uuid>, std::int64_t> boards_;
    std::vector<StoredEvent> events_;
    Table<15> events_table_;
    Table<19> audit_;
    Table<4> heads_table_;
    Table<3> boards_table_;
    Table<2> dropped_;
};

}  // namespace

Moved move_batch(Tx& tx, int rows, std::int64_t bytes) {
    tx.set_scope_to_all_orgs();
    std::vector<Row> taken = tx.all<Row>(take, rows, bytes);
    Moved moved{.rows = taken.size(), .events = {}};
    if (taken.empty()) return moved;
    moved.oldest_seconds = taken.front().age;
    Batch batch(taken.front().last_position);
    for (Row& row : taken) batch.add(std::move(row));
    moved.events = batch.write(tx);
    return moved;
}

}  // namespace svc::events
