#include "events/retention.hpp"

#include "events/audit.hpp"
#include "events/consumers.hpp"
#include "events/sequencer.hpp"
#include "tests/unit/events/world.hpp"

namespace svc::test {

namespace {

void tell(World& world, const Uuid& org, int count) {
    world.write(org, [&](Tx& tx) {
        for (int i = 0; i < count; ++i) {
            Note note;
            note.id = new_uuid();
            tell_as_system(tx, org, "write_note", created(note_created, note));
        }
    });
    events::Sequencer sequencer(world.database, {});
    ASSERT_TRUE(eventually([&] { return world.ask("SELECT count(*) FROM outbox") == "0"; }));
}

}  // namespace

TEST(Retention, DropsWhatIsOldInEveryWorkspaceAndNothingElse) {
    World world;
    const Uuid first = new_uuid(), second = new_uuid();
    tell(world, first, 1'200);
    tell(world, second, 3);
    world.ask("UPDATE events SET stored_at = now() - interval '91 days'");
    tell(world, first, 4);
    EXPECT_EQ(events::drop_old_events(world.database, 90 * 24h), 1'203);
    EXPECT_EQ(events::drop_old_events(world.database, 90 * 24h), 0);
    EXPECT_EQ(world.ask("SELECT min(sequence) || ' ' || max(sequence) FROM events"), "1201 1204");
    const auto report = events::verify_audit(world.database, first);
    EXPECT_FALSE(report.fault);
    EXPECT_EQ(report.entries, 1'204) << "the audit record is kept";
}

TEST(Retention, NumbersGoOnWhenEverythingWasDropped) {
    World world;
    const Uuid org = new_uuid();
    tell(world, org, 5);
    world.ask("UPDATE events SET stored_at = now() - interval '91 days'");
    EXPECT_EQ(events::drop_old_events(world.database, 90 * 24h), 5);
    tell(world, org, 1);
    EXPECT_EQ(world.ask("SELECT sequence || ' ' || position FROM events"), "6 6");
}

TEST(Retention, AConsumerThatWasAwayTooLongGoesOnWithWhatIsLeft) {
    World world;
    const Uuid org = new_uuid();
    Heard heard;
    const Consumer reader{"reader", [&](const StoredEvent& event) { heard.add(event); }};
    {
        events::Consumers consumers(world.database, {reader});
        ASSERT_TRUE(eventually([&] { return consumers.load().front().working; }));
    }
    tell(world, org, 5);
    world.ask("UPDATE events SET stored_at = now() - interval '91 days'");
    EXPECT_EQ(events::drop_old_events(world.database, 90 * 24h), 5);
    tell(world, org, 1);
    events::Consumers consumers(world.database, {reader});
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    EXPECT_EQ(heard.all().front().position, 6);
}

}  // namespace svc::test
