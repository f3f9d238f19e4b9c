#include "events/audit.hpp"

#include "events/sequencer.hpp"
#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

namespace {

/// A workspace with a chain of twelve entries, and a neighbour's of one.
struct Chain {
    Chain() {
        for (int i = 0; i < 12; ++i)
            fixture.write(org, [&](Tx& tx) {
                events::queue_event(tx, event(org), {.user_agent = "a,b:c", .action = "do_it"});
            });
        fixture.write(neighbour, [&](Tx& tx) {
            events::queue_event(tx, event(neighbour), {.action = "do_it"});
        });
        events::Sequencer sequencer(fixture.database, {});
        EXPECT_TRUE(eventually([&] { return fixture.all_sequenced(); }));
    }

    static Event event(const Uuid& org) {
        Note note;
        note.id = new_uuid();
        note.title = "Milk";
        return created(note_created, note).in_org(org);
    }

    events::AuditReport verify() { return events::verify_audit(fixture.database, org); }
    /// As somebody who owns the database would.
    void tamper(const std::string& statement) {
        fixture.ask(statement + " AND org_id = '" + org.str() + "'");
    }
    /// The row behind that entry.
    std::string row_of(int entry) const {
        return " WHERE id = (SELECT log_id FROM event_chain WHERE audit_sequence = " +
               std::to_string(entry) + " AND org_id = '" + org.str() + "')";
    }

    EventsFixture fixture;
    Uuid org = new_uuid(), neighbour = new_uuid();
};

}  // namespace

TEST(Audit, AnUntouchedChainVerifies) {
    Chain chain;
    const auto report = chain.verify();
    EXPECT_FALSE(report.fault) << *report.fault;
    EXPECT_EQ(report.entries, 12);
    EXPECT_EQ(
        report.head,
        chain.fixture.ask(
            "SELECT encode(audit_hash, 'hex') FROM event_heads "
            "WHERE org_id = '" +
            chain.org.str() + "'"
        )
    );
    EXPECT_EQ(events::verify_audit(chain.fixture.database, new_uuid()).entries, 0);
}

TEST(Audit, TheServersOwnRoleCannotChangeIt) {
    Chain chain;
    for (const char* text :
         {"UPDATE event_log SET action = 'x'",
          "DELETE FROM event_log",
          "TRUNCATE event_log",
          "UPDATE event_chain SET sequence = 7",
          "DELETE FROM event_chain",
          "TRUNCATE event_chain"})
        EXPECT_ANY_THROW(chain.fixture.write(chain.org, [&](Tx& tx) {
            tx.run(Sql{"test.tamper", text});
        })) << text;
    EXPECT_FALSE(chain.verify().fault);
}

TEST(Audit, EveryColumnThatIsChangedShows) {
    for (const char* change :
         {"action = 'other'",
          "outcome = 'denied'",
          "actor_type = 'agent'",
          "actor_type = 'x'",
          "actor_id = '00000000-0000-0000-0000-000000000001'",
          "actor_name = 'Eve'",
          "actor_token_id = entry_id",
          "on_behalf_of_user_id = entry_id",
          "via = 'mcp'",
          "via = 'x'",
          "actor_json = '{}'",
          "changes = '{}'",
          "previous = '{ }'",
          "object = 'card'",
          "object_id = NULL",
          "object_name = 'x'",
          "user_agent = 'a,b'",
          "client_address = '::1'",
          "request_id = entry_id",
          "occurred_at = occurred_at + interval '1 microsecond'",
          "entry_id = '00000000-0000-0000-0000-000000000000'"}) {
        Chain chain;
        chain.tamper(std::string("UPDATE event_log SET ") + change + chain.row_of(7));
        const auto report = chain.verify();
        ASSERT_TRUE(report.fault) << change;
        EXPECT_EQ(report.entries, 6) << change;
        EXPECT_EQ(*report.fault, "entry 7 was changed") << change;
    }
}

TEST(Audit, AHashThatIsChangedShows) {
    Chain chain;
    chain.tamper(
        "UPDATE event_chain SET hash = decode(repeat('00', 32), 'hex') "
        "WHERE audit_sequence = 7"
    );
    EXPECT_EQ(chain.verify().fault, "entry 7 was changed");
}

TEST(Audit, AnEntryTakenOutShows) {
    Chain chain;
    chain.tamper("DELETE FROM event_chain WHERE audit_sequence = 5");
    EXPECT_EQ(chain.verify().fault, "entry 5 is missing");
}

TEST(Audit, ARowTakenOutShows) {
    Chain chain;
    chain.tamper("DELETE FROM event_log" + chain.row_of(5));
    EXPECT_EQ(chain.verify().fault, "entry 5 is missing");
}

TEST(Audit, AnEndCutOffShows) {
    Chain chain;
    chain.tamper("DELETE FROM event_chain WHERE audit_sequence > 10");
    EXPECT_EQ(chain.verify().fault, "entry 11 is missing");
}

namespace {

/// The hash of an entry in the words of docs/events.md, worked out by somebody else: PostgreSQL.
std::string hash_in_sql() {
    const auto field = [](const std::string& value) {
        return "coalesce(octet_length(" + value + ")::text || ':' || " + value + " || ',', '-,')";
    };
    std::string text = "'workboard-audit-2,'";
    for (const char* value :
         {"encode(prev_hash, 'hex')",
          "org_id::text",
          "sequence::text",
          "id::text",
          "((extract(epoch FROM occurred_at) * 1000000)::bigint)::text",
          "action",
          "outcome",
          "actor_type",
          "actor_id::text",
          "actor_name",
          "actor_token_id::text",
          "on_behalf_of_user_id::text",
          "via",
          "target_type",
          "target_id::text",
          "target_name",
          "before",
          "after",
          "ip_address",
          "user_agent",
          "request_id"})
        text += " || " + field(value);
    return "sha256(convert_to(" + text + ", 'UTF8'))";
}

}  // namespace

TEST(Audit, AnEntryThatIsWrittenAnewWithItsHashShowsInTheNext) {
    Chain chain;
    chain.tamper("UPDATE event_log SET action = 'undo_it'" + chain.row_of(3));
    chain.tamper(
        "UPDATE event_chain SET hash = (SELECT " + hash_in_sql() +
        " FROM audit_events a WHERE a.org_id = event_chain.org_id AND a.sequence = 3) "
        "WHERE audit_sequence = 3"
    );
    const auto report = chain.verify();
    EXPECT_EQ(report.entries, 3);
    EXPECT_EQ(report.fault, "entry 4 was changed");
}

// Somebody who works out the hashes anew can add what looks like one more thing that was done.
TEST(Audit, ARowWithTwoEntriesShows) {
    Chain chain;
    chain.tamper("DELETE FROM event_chain WHERE audit_sequence > 4");
    chain.tamper(
        "UPDATE event_chain SET log_id = (SELECT c.log_id FROM event_chain c "
        "WHERE c.org_id = event_chain.org_id AND c.audit_sequence = 3) WHERE audit_sequence = 4"
    );
    chain.tamper(
        "UPDATE event_chain SET hash = (SELECT " + hash_in_sql() +
        " FROM audit_events a WHERE a.org_id = event_chain.org_id AND a.sequence = 4) "
        "WHERE audit_sequence = 4"
    );
    chain.tamper(
        "UPDATE event_heads SET audit_sequence = 4, audit_hash = (SELECT c.hash FROM event_chain c "
        "WHERE c.org_id = event_heads.org_id AND c.audit_sequence = 4) WHERE true"
    );
    const auto report = chain.verify();
    EXPECT_EQ(report.entries, 4);
    ASSERT_TRUE(report.fault);
    EXPECT_TRUE(report.fault->ends_with("of the log has two entries")) << *report.fault;
}

TEST(Audit, TheCanonicalTextIsTheDocumentedOne) {
    Chain chain;
    EXPECT_EQ(
        chain.fixture.ask("SELECT count(*) FROM audit_events WHERE hash = " + hash_in_sql()), "13"
    );
}

}  // namespace svc::test
