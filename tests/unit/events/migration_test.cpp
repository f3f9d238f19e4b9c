#include "events/audit.hpp"
#include "events/sequencer.hpp"
#include "events/stored.hpp"
#include "tests/unit/events/events_fixture.hpp"

#include <gmock/gmock.h>

namespace svc::test {

namespace {

/// A database of the version before event_log, in which two things happened and a third is still in
/// the outbox.
class OldDatabase {
public:
    OldDatabase() : url(cluster.empty_database()), database(EventsFixture::settings_for(url)) {
        database.open();
        auto steps = all();
        std::erase_if(steps, [](const db::Migration& each) { return each.number > 9; });
        db::migrate(database, steps);
    }

    static std::vector<db::Migration> all() {
        return db::unpack_migrations("kernel", svc_kernel_migrations);
    }
    std::string ask(const std::string& sql) const { return cluster.run(sql, url); }

    /// Entry 1, whose event is no longer kept; entry 2 with its event; entry 3, which has none.
    void fill() {
        add_entry({.action = "create_card", .target_type = "card", .target_id = card});
        events::AuditEntry moved{
            .action = "move_card", .target_type = "card", .target_id = card, .target_name = "Pack"};
        moved.before = R"({"position":"a"})";
        moved.after = R"({"position":"b", "text":{"truncated":true}})";
        moved.ip_address = "192.0.2.7";
        const auto id = add_entry(moved);
        envelope = R"({"object":"event","event_id":")" + id.str() +
                   R"(","kind":"card.moved","api_version":"2026-06-19","org_id":")" + org.str() +
                   R"(","board_id":")" + board.str() + R"(","sequence":2,"board_sequence":5,)" +
                   R"("actor":)" + actor + R"(,"occurred_at":)" +
                   R"("2026-01-02T03:04:05.678Z","mutation_id":")" + mutation.str() +
                   R"(","cause":{"event_id":")" + board.str() +
                   R"(","automation_id":null,"depth":2},"data":{"object":"card","id":")" +
                   card.str() + R"(","version":7,"board_id":")" + board.str() +
                   R"(","column_id":")" + column.str() + R"(","card_id":")" + card.str() +
                   R"(","from":{"name":"A"},"to":{"name": "B"},"changes":)" + *moved.after +
                   R"(,"previous":)" + *moved.before + R"(,"truncated_fields":["text"]}})";
        ask("INSERT INTO events (org_id, sequence, position, event_id, board_id, board_sequence, "
            "kind,"
            " depth, envelope, object, object_id, column_id, card_id, actor, subject) VALUES ('" +
            org.str() + "', 2, 31, '" + id.str() + "', '" + board.str() +
            "', 5, 'card.moved', 2, '" + envelope + "', 'card', '" + card.str() + "', '" +
            column.str() + "', '" + card.str() +
            "', '" + actor + R"(', '{"title":"Pack"}'))");
        add_entry({.action = "list_tokens", .outcome = "denied"});
        ask("INSERT INTO event_heads VALUES ('" + org.str() + "', 2, 3, decode('" + last_hash +
            "', 'hex')); INSERT INTO event_board_heads VALUES ('" + org.str() + "', '" +
            board.str() + "', 5); UPDATE event_position SET position = 31");
        ask("INSERT INTO event_deliveries VALUES ('" + org.str() + "', 'reader', 'all', 1), ('" +
            org.str() + "', 'reader', 'all', 2)");
        ask("INSERT INTO outbox (org_id, entry_id, kind, outcome, action, object, object_id, "
            "version,"
            " board_id, changes, previous, actor, depth) VALUES ('" +
            org.str() +
            "', gen_random_uuid(), 'card.updated', 'success', 'update_card', 'card', '" +
            card.str() + "', 8, '" + board.str() +
            R"(', '{"a":1}', '{}', ')" + actor + "', 0)");
    }

    Postgres& cluster = Postgres::shared();
    const std::string url;
    db::Database database;
    const Uuid org = new_uuid(), board = new_uuid(), column = new_uuid(), card = new_uuid(),
               mutation = new_uuid();
    const std::string actor =
        R"({"principal_type":"user","id":"01890000-0000-7000-8000-000000000001","name":"Ada",)"
        R"("token_id":null,"on_behalf_of_user_id":null,"via":"web"})";
    std::string envelope, last_hash = events::chain_start();

private:
    Uuid add_entry(events::AuditEntry entry) {
        entry.org_id = org;
        entry.sequence = ++entries_;
        entry.id = new_uuid();
        entry.occurred_at = {1'767'323'045'678'912};  // 2026-01-02T03:04:05.678912Z
        if (entry.outcome.empty()) entry.outcome = "success";
        entry.actor_json = actor;
        entry.prev_hash = last_hash;
        entry.hash = last_hash = events::hash_of(entry);
        const auto text = [](const std::optional<std::string>& value) {
            return value ? "'" + *value + "'" : "NULL";
        };
        const auto id = [](const std::optional<Uuid>& value) {
            return value ? "'" + value->str() + "'" : "NULL";
        };
        ask("INSERT INTO audit_events (org_id, sequence, id, occurred_at, action, outcome, actor,"
            " target_type, target_id, target_name, before, after, ip_address, prev_hash, hash, "
            "kind,"
            " card_id) VALUES ('" +
            org.str() + "', " + std::to_string(entry.sequence) + ", '" + entry.id.str() +
            "', '2026-01-02T03:04:05.678912Z', '" + entry.action + "', '" + entry.outcome + "', '" +
            actor + "', " + text(entry.target_type) + ", " + id(entry.target_id) + ", " +
            text(entry.target_name) + ", " + text(entry.before) + ", " + text(entry.after) + ", " +
            text(entry.ip_address) + ", decode('" + entry.prev_hash + "', 'hex'), decode('" +
            entry.hash + "', 'hex'), " + text(entry.target_type ? "card.x" : entry.target_type) +
            ", " + id(entry.target_id) + ")");
        return entry.id;
    }

    std::int64_t entries_ = 0;
};

}  // namespace

TEST(MigrationOfEvents, CarriesOverWhatWasSequencedAndWhatWasNot) {
    OldDatabase old;
    old.fill();
    db::migrate(old.database, OldDatabase::all());
    EXPECT_EQ(
        old.ask("SELECT string_agg(sequence || ' ' || position, ',') FROM event_deliveries"), "2 31"
    ) << "the other's event is no longer kept";
    EXPECT_EQ(old.ask("SELECT dropped FROM event_heads"), "1");
    EXPECT_EQ(old.ask("SELECT low_water || ' ' || dropped FROM event_position"), "3 30");

    events::Sequencer sequencer(old.database, {});
    ASSERT_TRUE(eventually([&] { return sequencer.load().events == 1; }));
    sequencer.stop();
    const auto report = events::verify_audit(old.database, old.org);
    EXPECT_FALSE(report.fault) << *report.fault;
    EXPECT_EQ(report.entries, 4);
    const auto tx = old.database.begin(Tx::Mode::read);
    tx->set_scope_to_all_orgs();
    const auto events = events::events_after(*tx, 0, 100);
    ASSERT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].envelope, old.envelope);
    EXPECT_EQ(events[0].position, 31);
    EXPECT_EQ(events[1].position, 32);
    EXPECT_EQ(events[1].sequence, 3);
    EXPECT_EQ(events[1].board_sequence, 6);
    EXPECT_EQ(events[1].card_id, old.card);
    EXPECT_EQ(
        old.ask(
            "SELECT string_agg(action, ' ' ORDER BY id) FROM event_log WHERE card_id = '" +
            old.card.str() + "'"
        ),
        "create_card move_card update_card"
    );
    EXPECT_EQ(old.ask("SELECT subject FROM events WHERE position = 31"), R"({"title":"Pack"})");
}

TEST(MigrationOfEvents, WhoDidWhatIsReadOutOfColumnsAndProvedByTheOldText) {
    OldDatabase old;
    old.fill();
    db::migrate(old.database, OldDatabase::all());
    EXPECT_EQ(
        old.ask("SELECT DISTINCT concat_ws(' ', actor_type, actor_id, actor_name, actor_token_id,"
                " on_behalf_of_user_id, via) FROM event_log"),
        "user 01890000-0000-7000-8000-000000000001 Ada web"
    );
    EXPECT_FALSE(events::verify_audit(old.database, old.org).fault);
    old.ask("UPDATE event_log SET actor_name = 'Eve' WHERE action = 'move_card'");
    EXPECT_EQ(events::verify_audit(old.database, old.org).fault, "entry 2 was changed");
}

TEST(MigrationOfEvents, OfADatabaseInWhichNothingHappened) {
    OldDatabase old;
    db::migrate(old.database, OldDatabase::all());
    EXPECT_EQ(old.ask("SELECT low_water || ' ' || dropped FROM event_position"), "0 0");
    EXPECT_EQ(old.ask("SELECT nextval('event_log_id_seq')"), "1");
}

}  // namespace svc::test
