#include "events/retention.hpp"

#include "events/audit.hpp"
#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

namespace {

void tell(EventsFixture& fixture, const Uuid& org, int count) {
    fixture.write(org, [&](Tx& tx) {
        for (int i = 0; i < count; ++i) {
            Note note;
            note.id = new_uuid();
            tell_as_system(tx, org, "write_note", created(note_created, note));
        }
    });
    events::Sequencer sequencer(fixture.database, {});
    ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM outbox") == "0"; }));
}

}  // namespace

TEST(Retention, DropsWhatIsOldInEveryWorkspaceAndNothingElse) {
    EventsFixture fixture;
    const Uuid first = new_uuid(), second = new_uuid();
    tell(fixture, first, 1'200);
    tell(fixture, second, 3);
    fixture.ask("UPDATE events SET stored_at = now() - interval '91 days'");
    tell(fixture, first, 4);
    EXPECT_EQ(events::drop_old_events(fixture.database, 90 * 24h), 1'203);
    EXPECT_EQ(events::drop_old_events(fixture.database, 90 * 24h), 0);
    EXPECT_EQ(fixture.ask("SELECT min(sequence) || ' ' || max(sequence) FROM events"), "1201 1204");
    const auto report = events::verify_audit(fixture.database, first);
    EXPECT_FALSE(report.fault);
    EXPECT_EQ(report.entries, 1'204) << "the audit record is kept";
}

TEST(Retention, NumbersGoOnWhenEverythingWasDropped) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    tell(fixture, org, 5);
    fixture.ask("UPDATE events SET stored_at = now() - interval '91 days'");
    EXPECT_EQ(events::drop_old_events(fixture.database, 90 * 24h), 5);
    tell(fixture, org, 1);
    EXPECT_EQ(fixture.ask("SELECT sequence || ' ' || position FROM events"), "6 6");
}

TEST(Retention, AConsumerThatWasAwayTooLongGoesOnWithWhatIsLeft) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    Heard heard;
    const Consumer reader{"reader", [&](const StoredEvent& event) { heard.add(event); }};
    {
        events::Consumers consumers(fixture.database, {reader});
        ASSERT_TRUE(eventually([&] { return consumers.load().front().working; }));
    }
    tell(fixture, org, 5);
    fixture.ask("UPDATE events SET stored_at = now() - interval '91 days'");
    EXPECT_EQ(events::drop_old_events(fixture.database, 90 * 24h), 5);
    tell(fixture, org, 1);
    events::Consumers consumers(fixture.database, {reader});
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    EXPECT_EQ(heard.all().front().position, 6);
}

}  // namespace svc::test
