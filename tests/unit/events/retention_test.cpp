#include "events/retention.hpp"

#include "events/audit.hpp"
#include "tests/unit/events/site.hpp"

namespace svc::test {

namespace {

void emit_and_sequence(EventsFixture& fixture, const Uuid& org, int count) {
    fixture.write(org, [&](Tx& tx) {
        for (int i = 0; i < count; ++i) {
            Note note;
            note.id = new_uuid();
            emit_as_system(tx, org, "write_note", created(note_created, note));
        }
    });
    events::Sequencer sequencer(fixture.database, {});
    ASSERT_TRUE(eventually([&] { return fixture.all_sequenced(); }));
}

/// Everything so far is older than a second from now on.
void grow_old() { std::this_thread::sleep_for(1'100ms); }

}  // namespace

TEST(Retention, DropsWhatIsOldInEveryWorkspaceAndNothingElse) {
    EventsFixture fixture;
    const Uuid first = new_uuid(), second = new_uuid();
    emit_and_sequence(fixture, first, 1'200);
    emit_and_sequence(fixture, second, 3);
    grow_old();
    emit_and_sequence(fixture, first, 4);
    EXPECT_EQ(events::drop_old_events(fixture.database, 1s), 1'203);
    EXPECT_EQ(events::drop_old_events(fixture.database, 1s), 0);
    EXPECT_EQ(fixture.ask("SELECT min(sequence) || ' ' || max(sequence) FROM events"), "1201 1204");
    const auto report = events::verify_audit(fixture.database, first);
    EXPECT_FALSE(report.fault);
    EXPECT_EQ(report.entries, 1'204) << "the audit record is kept";
}

TEST(Retention, NumbersGoOnWhenEverythingWasDropped) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    emit_and_sequence(fixture, org, 5);
    grow_old();
    EXPECT_EQ(events::drop_old_events(fixture.database, 1s), 5);
    emit_and_sequence(fixture, org, 1);
    EXPECT_EQ(fixture.ask("SELECT sequence || ' ' || position FROM events"), "6 6");
}

TEST(Retention, WhatIsDroppedIsDeliveredToNobody) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    std::atomic<bool> broken{true};
    Heard heard;
    auto reader = consumer("reader", [&](const StoredEvent& event) {
        if (broken && event.sequence > 1) throw std::runtime_error("not now");
        heard.add(event);
    });
    reader.most_attempts = 1'000;
    Site site(fixture, {reader});
    ASSERT_TRUE(eventually([&] { return site.working(); }));
    emit(fixture, 3, org);
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    grow_old();
    EXPECT_EQ(events::drop_old_events(fixture.database, 1s), 3);
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM event_deliveries"), "0");
    broken = false;
    emit(fixture, 1, org);
    ASSERT_TRUE(eventually([&] { return heard.size() == 2; }));
    EXPECT_EQ(heard.all().back().sequence, 4);
}

TEST(Retention, AConsumerThatWasAwayTooLongGoesOnWithWhatIsLeft) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    Heard heard;
    const auto reader = consumer("reader", [&](const StoredEvent& event) { heard.add(event); });
    {
        jobs::Pool jobs;
        events::Consumers consumers(fixture.database, jobs, {reader});
        consumers.start();
        ASSERT_TRUE(eventually([&] { return consumers.load().front().working; }));
    }
    emit_and_sequence(fixture, org, 5);
    grow_old();
    EXPECT_EQ(events::drop_old_events(fixture.database, 1s), 5);
    emit_and_sequence(fixture, org, 1);
    jobs::Pool jobs;
    events::Consumers consumers(fixture.database, jobs, {reader});
    jobs.start(fixture.database);
    consumers.start();
    ASSERT_TRUE(eventually([&] { return heard.size() == 1; }));
    consumers.stop();
    jobs.stop();
    EXPECT_EQ(heard.all().front().position, 6);
}

}  // namespace svc::test
