#include "events/sequencer.hpp"

#include "tests/support/timing.hpp"
#include "tests/unit/events/events_fixture.hpp"

namespace svc::test {

namespace {

/// What the sequencer's own session has cost so far.
struct Spent {
    double microseconds = 0;
    double wal_bytes = 0;
};

class Meter {
public:
    explicit Meter(EventsFixture& fixture) : fixture_(fixture) {
        static constexpr auto holder = R"(
            SELECT pid FROM pg_locks
            WHERE locktype = 'advisory' AND granted AND classid = x'776b6264'::bigint::oid
              AND objid = 1
              AND database = (SELECT oid FROM pg_database WHERE datname = current_database()))";
        pid_ = fixture.ask(holder);
    }
    Spent spent() const {
        return {
            static_cast<double>(taken_by(pid_)) / 1'000,
            std::stod(fixture_.ask("SELECT pg_current_wal_lsn() - '0/0'::pg_lsn"))};
    }

private:
    EventsFixture& fixture_;
    std::string pid_;
};

/// As many changes of cards as `events`, committed at once, and what it cost to sequence them.
void measure(int batch_rows) {
    constexpr int events = 5'000;
    EventsFixture fixture;
    std::vector<Uuid> orgs(5), boards(10);
    for (Uuid& each : orgs) each = new_uuid();
    for (Uuid& each : boards) each = new_uuid();
    Note before, after;
    before.title = std::string(40, 'a');
    before.text = std::string(300, 'b');
    after.title = std::string(40, 'c');
    after.text = std::string(300, 'd');
    events::Sequencer::Settings settings;
    settings.batch_rows = batch_rows;
    events::Sequencer sequencer(fixture.database, {}, settings);
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading; }));
    const Meter meter(fixture);
    for (int round = 0; round < 3; ++round) {
        const auto tx = fixture.database.begin(Tx::Mode::write);
        tx->set_scope_to_all_orgs();
        for (int i = 0; i < events; ++i) {
            before.id = after.id = new_uuid();
            events::queue_event(
                *tx,
                changed(note_placed, before, after)
                    .in_org(orgs[static_cast<std::size_t>(i) % 5])
                    .on_board(boards[static_cast<std::size_t>(i) % 10])
                    .in_column(after.id)
                    .of_card(after.id),
                {.user_agent = "Mozilla/5.0", .action = "update_card"}
            );
        }
        tx->run({"test.now", "SELECT 1"});
        const auto already = sequencer.load();
        const Spent start = meter.spent();
        tx->commit();
        sequencer.nudge();
        ASSERT_TRUE(eventually([&] { return sequencer.load().events == already.events + events; }));
        const Spent end = meter.spent();
        std::printf(
            "batches of %d: %.1f us of PostgreSQL and %.0f bytes of WAL for an event\n",
            batch_rows,
            (end.microseconds - start.microseconds) / events,
            (end.wal_bytes - start.wal_bytes) / events
        );
    }
}

}  // namespace

// Figures to look at: how long things take is the machine's.
TEST(Cost, OfAnEventInBatchesOfFiveHundred) { measure(500); }
TEST(Cost, OfAnEventInBatchesOfFifty) { measure(50); }

}  // namespace svc::test
