#include "events/move.hpp"

#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

namespace {

Event note_of(const Uuid& org, std::size_t length = 1) {
    Note note;
    note.id = new_uuid();
    note.title = std::string(length, 'x');
    return created(note_created, note).in_org(org);
}

void emit(EventsFixture& fixture, const Uuid& org, std::size_t length = 1) {
    fixture.write(org, [&](Tx& tx) {
        events::queue_event(tx, note_of(org, length), {.action = "write_note"});
    });
}

}  // namespace

TEST(Move, WhoeverWasReplacedMeanwhileCannotWrite) {
    EventsFixture fixture;
    const Uuid first = new_uuid(), second = new_uuid();
    // The row with the lowest id becomes visible last, so that the two take different rows.
    const auto late = fixture.database.begin(Tx::Mode::write);
    late->set_scope(second, std::nullopt);
    events::queue_event(*late, note_of(second), {.action = "write_note"});
    late->run({"test.now", "SELECT 1"});
    emit(fixture, first);

    const auto replaced = fixture.database.begin(Tx::Mode::write);
    ASSERT_EQ(events::move_batch(*replaced, 10, 1 << 20).rows, 1u);
    late->commit();
    const auto successor = fixture.database.begin(Tx::Mode::write);
    ASSERT_EQ(events::move_batch(*successor, 1, 1 << 20).rows, 1u);
    successor->commit();

    EXPECT_ANY_THROW(replaced->commit());
    EXPECT_EQ(
        fixture.ask("SELECT string_agg(position || ' ' || org_id, ',') FROM events"),
        "1 " + second.str()
    );
    EXPECT_EQ(fixture.ask("SELECT count(*) FROM outbox"), "1");
}

TEST(Move, ABatchIsBoundedByRowsAndByBytes) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    for (int i = 0; i < 6; ++i) emit(fixture, org, 10'000);
    const auto moved = [&](int rows, std::int64_t bytes) {
        const auto tx = fixture.database.begin(Tx::Mode::write);
        const auto batch = events::move_batch(*tx, rows, bytes);
        tx->commit();
        return batch.rows;
    };
    EXPECT_EQ(moved(2, 1 << 20), 2u);
    EXPECT_EQ(moved(10, 15'000), 2u);
    EXPECT_EQ(moved(10, 1), 1u) << "one row passes, whatever its size";
    EXPECT_EQ(moved(10, 1 << 20), 1u);
    EXPECT_EQ(moved(10, 1 << 20), 0u);
}

TEST(Move, ABatchIsTwoRoundTrips) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    for (int i = 0; i < 5; ++i) emit(fixture, org);
    const auto tx = fixture.database.begin(Tx::Mode::write);
    events::move_batch(*tx, 10, 1 << 20);
    tx->commit();
    EXPECT_EQ(tx->round_trips(), 2);
}

}  // namespace svc::test
