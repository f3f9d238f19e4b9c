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
        EXPECT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM outbox") == "0"; }));
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
         {"UPDATE audit_events SET action = 'x'",
          "DELETE FROM audit_events",
          "TRUNCATE audit_events",
          "UPDATE events SET envelope = 'x'",
          "TRUNCATE events"})
        EXPECT_ANY_THROW(chain.fixture.write(chain.org, [&](Tx& tx) {
            tx.run(Sql{"test.tamper", text});
        })) << text;
    EXPECT_FALSE(chain.verify().fault);
}

TEST(Audit, EveryColumnThatIsChangedShows) {
    for (const char* change :
         {"action = 'other'",
          "outcome = 'denied'",
          "actor = '{}'",
          "after = NULL",
          "before = '{}'",
          "target_type = 'card'",
          "target_id = NULL",
          "target_name = 'x'",
          "user_agent = 'a,b'",
          "ip_address = '::1'",
          "request_id = 'r'",
          "occurred_at = occurred_at + interval '1 microsecond'",
          "id = '00000000-0000-0000-0000-000000000000'",
          "hash = decode(repeat('00', 32), 'hex')"}) {
        Chain chain;
        chain.tamper(std::string("UPDATE audit_events SET ") + change + " WHERE sequence = 7");
        const auto report = chain.verify();
        ASSERT_TRUE(report.fault) << change;
        EXPECT_EQ(report.entries, 6) << change;
        EXPECT_EQ(*report.fault, "entry 7 was changed") << change;
    }
}

TEST(Audit, AnEntryTakenOutShows) {
    Chain chain;
    chain.tamper("DELETE FROM audit_events WHERE sequence = 5");
    EXPECT_EQ(chain.verify().fault, "entry 5 is missing");
}

TEST(Audit, AnEndCutOffShows) {
    Chain chain;
    chain.tamper("DELETE FROM audit_events WHERE sequence > 10");
    EXPECT_EQ(chain.verify().fault, "entry 11 is missing");
}

TEST(Audit, AnEntryWithANewHashShowsInTheNext) {
    Chain chain;
    chain.tamper(
        "UPDATE audit_events SET prev_hash = decode(repeat('11', 32), 'hex') "
        "WHERE sequence = 3"
    );
    EXPECT_EQ(chain.verify().fault, "entry 3 does not continue the one before it");
}

/// The words of docs/events.md, made into a hash by somebody else: PostgreSQL.
TEST(Audit, TheCanonicalTextIsTheDocumentedOne) {
    Chain chain;
    const auto field = [](const std::string& value) {
        return "coalesce(octet_length(" + value + ")::text || ':' || " + value + " || ',', '-,')";
    };
    std::string text = "'workboard-audit-1,'";
    for (const char* value :
         {"encode(prev_hash, 'hex')",
          "org_id::text",
          "sequence::text",
          "id::text",
          "((extract(epoch FROM occurred_at) * 1000000)::bigint)::text",
          "action",
          "outcome",
          "actor",
          "target_type",
          "target_id::text",
          "target_name",
          "before",
          "after",
          "ip_address",
          "user_agent",
          "request_id"})
        text += " || " + field(value);
    EXPECT_EQ(
        chain.fixture.ask(
            "SELECT count(*) FROM audit_events WHERE hash = sha256(convert_to(" + text +
            ", 'UTF8'))"
        ),
        "13"
    );
}

}  // namespace svc::test
