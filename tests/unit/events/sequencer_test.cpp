#include "events/sequencer.hpp"

#include "events/audit.hpp"
#include "events/stored.hpp"
#include "tests/support/timing.hpp"
#include "tests/unit/events/storm.hpp"

#include <unistd.h>

namespace svc::test {

namespace {

using events::Sequencer;

/// Looks often, so that tests need not wait; batches do not end where transactions do.
Sequencer::Settings brisk() {
    Sequencer::Settings settings;
    settings.busy_poll = 5ms;
    settings.idle_poll = 10ms;
    settings.follow_poll = 10ms;
    settings.lock_retry = 20ms;
    settings.gather = 1ms;
    settings.batch_rows = 37;
    return settings;
}

std::vector<StoredEvent> stored(EventsFixture& fixture) {
    const auto tx = fixture.database.begin(Tx::Mode::read);
    tx->set_scope_to_all_orgs();
    return events::events_after(*tx, 0, 1'000'000);
}

/// Ends the session that holds the sequencer's lock, as a failing network would.
bool cut_off_the_sequencer(const EventsFixture& fixture) {
    return fixture.ask(R"(
        SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND classid = x'776b6264'::bigint::oid
          AND objid = 1 AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
        )") == "t";
}

Event small_event(const Uuid& org) {
    Note note;
    note.id = new_uuid();
    note.title = "Milk";
    return created(note_created, note).in_org(org);
}

}  // namespace

TEST(Sequencer, LosesNothingAndKeepsTheOrderUnderSixteenWriters) {
    EventsFixture fixture;
    Storm storm(fixture);
    Heard heard;
    Sequencer sequencer(fixture.database, {[&](auto batch) { heard.add(batch); }}, brisk());
    storm.blow(60, [&] { sequencer.nudge(); });
    ASSERT_TRUE(eventually([&] { return storm.all_sequenced(); }));
    sequencer.stop();
    const auto events = stored(fixture);
    storm.check(events);
    storm.check(heard.all());
    EXPECT_EQ(sequencer.load().events, events.size());
    EXPECT_EQ(sequencer.load().position, events.back().position);
    for (const Uuid& org : storm.orgs())
        EXPECT_FALSE(events::verify_audit(fixture.database, org).fault);
}

// A batch's cost is shared by more where much happens, and nobody waits where little does.
TEST(Sequencer, GathersMoreWhereMuchHappens) {
    EventsFixture fixture;
    Sequencer::Settings settings = brisk();
    settings.gather_per_row = 500ms;
    settings.gather_most = 4s;
    Sequencer sequencer(fixture.database, {}, settings);
    const Uuid org = new_uuid();
    const auto write = [&](std::size_t rows) {
        const std::vector<Event> notes(rows, small_event(org));
        fixture.write(org, [&](Tx& tx) { events::queue_events(tx, notes, {.action = "test"}); });
        sequencer.nudge();
    };
    const auto sequenced = [&](std::uint64_t rows) {
        return eventually([&] { return sequencer.load().events == rows; });
    };
    write(1);
    ASSERT_TRUE(sequenced(1));
    write(1);
    ASSERT_TRUE(sequenced(2));
    EXPECT_EQ(sequencer.load().batches, 2U);
    write(8);
    ASSERT_TRUE(sequenced(10));
    for (int i = 0; i < 5; ++i) write(1);
    ASSERT_TRUE(sequenced(15));
    EXPECT_EQ(sequencer.load().batches, 4U);
}

// A server that has just started may have streams to close already.
TEST(Sequencer, KnowsWhereTheLogEndsBeforeAnybodyIsAnswered) {
    EventsFixture fixture;
    for (int i = 0; i < 20; ++i) {
        const Sequencer sequencer(fixture.database, {}, brisk());
        EXPECT_NE(sequencer.load().position, Sequencer::Load::unknown);
    }
}

TEST(Sequencer, OfTwoServersOneLeadsAndAnotherGoesOnWhenItIsCutOff) {
    EventsFixture fixture;
    Storm storm(fixture);
    const auto second_server = fixture.another_server();
    Heard heard_by_first, heard_by_second;
    Sequencer first(fixture.database, {[&](auto batch) { heard_by_first.add(batch); }}, brisk());
    Sequencer second(*second_server, {[&](auto batch) { heard_by_second.add(batch); }}, brisk());
    ASSERT_TRUE(eventually([&] {
        return std::min(first.load().position, second.load().position) != Sequencer::Load::unknown;
    }));

    std::atomic<bool> over{false};
    std::atomic<int> cuts{0};
    std::thread saboteur([&] {
        while (!over) {
            std::this_thread::sleep_for(60ms);
            // Once one was cut off, it may go on believing in its lock until it has to use it.
            EXPECT_FALSE(cuts == 0 && first.load().leading && second.load().leading);
            cuts += cut_off_the_sequencer(fixture);
        }
    });
    storm.blow(80, [&] {
        first.nudge();
        second.nudge();
    });
    over = true;
    saboteur.join();
    ASSERT_GE(cuts, 2);
    ASSERT_TRUE(eventually([&] { return storm.all_sequenced(); }));

    const auto events = stored(fixture);
    storm.check(events);
    const auto last = events.back().position;
    ASSERT_TRUE(eventually([&] {
        return first.load().position == last && second.load().position == last;
    }));
    storm.check(heard_by_first.all());
    storm.check(heard_by_second.all());
    EXPECT_EQ(first.load().failures + second.load().failures > 0, true);
    for (const Uuid& org : storm.orgs())
        EXPECT_FALSE(events::verify_audit(fixture.database, org).fault);
}

TEST(Sequencer, OutlivesARestartOfTheDatabase) {
    Postgres postgres;
    EventsFixture fixture(postgres);
    Storm storm(fixture);
    Heard heard;
    Sequencer sequencer(fixture.database, {[&](auto batch) { heard.add(batch); }}, brisk());
    std::thread writers([&] { storm.blow(60, [&] { sequencer.nudge(); }); });
    std::this_thread::sleep_for(150ms);
    postgres.restart();
    writers.join();
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading && storm.all_sequenced(); }));
    ASSERT_TRUE(eventually([&] { return heard.size() >= storm.changes(); }));
    EXPECT_GT(sequencer.load().failures, 0u);
    storm.check(stored(fixture));
    storm.check(heard.all());
}

// After which the sequence of ids goes on further up.
TEST(Sequencer, OutlivesACrashOfTheDatabase) {
    Postgres postgres;
    EventsFixture fixture(postgres);
    Storm storm(fixture);
    Sequencer sequencer(fixture.database, {}, brisk());
    std::thread writers([&] { storm.blow(40, [&] { sequencer.nudge(); }); });
    std::this_thread::sleep_for(150ms);
    postgres.crash();
    postgres.start();
    writers.join();
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading && storm.all_sequenced(); }));
    storm.check(stored(fixture));
    for (const Uuid& org : storm.orgs())
        EXPECT_FALSE(events::verify_audit(fixture.database, org).fault);
}

TEST(Sequencer, GivesOneEventBackWithinMilliseconds) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    Heard heard;
    Sequencer sequencer(fixture.database, {[&](auto batch) { heard.add(batch); }});
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading; }));
    std::vector<double> took;
    for (int i = 0; i < 30; ++i) {
        const auto before = heard.size();
        fixture.write(org, [&](Tx& tx) {
            events::queue_event(tx, small_event(org), {.action = "create_note"});
        });
        const auto committed = std::chrono::steady_clock::now();
        sequencer.nudge();
        ASSERT_TRUE(eventually([&] { return heard.size() > before; }, 5s));
        took.push_back(
            std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - committed)
                .count()
        );
    }
    std::ranges::sort(took);
    std::printf("from commit to listener: median %.1f ms, worst %.1f ms\n", took[15], took[29]);
    EXPECT_LT(took[15], 1'000);
}

TEST(Sequencer, SeesWhatOtherServersWroteWithoutBeingTold) {
    EventsFixture fixture;
    const auto other = fixture.another_server();
    const Uuid org = new_uuid();
    Heard heard;
    Sequencer sequencer(fixture.database, {[&](auto batch) { heard.add(batch); }});
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading; }));
    other->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        emit_as_system(tx, org, "job", small_event(org));
    });
    EXPECT_TRUE(eventually([&] { return heard.size() == 1; }, 5s));
}

TEST(Sequencer, CostsNextToNothingWhileNobodyWrites) {
    EventsFixture fixture;
    Sequencer sequencer(fixture.database, {});
    ASSERT_TRUE(eventually([&] { return sequencer.load().leading; }));
    const std::chrono::duration<double, std::milli> taken =
        process_time(::getpid(), [] { std::this_thread::sleep_for(1s); });
    const double used = taken.count();
    std::printf("one idle second: %.2f ms of processor time\n", used);
    EXPECT_LT(used, 100);
}

TEST(Sequencer, WritesTheEnvelopeOfTheContract) {
    EventsFixture fixture;
    const Uuid org = new_uuid(), board = new_uuid(), mutation = new_uuid(), cause = new_uuid(),
               request = new_uuid();
    Caller agent = someone(org);
    agent.type = PrincipalType::agent;
    agent.token_id = new_uuid();
    Event event = small_event(org).on_board(board);
    event.kind = &note_pinned;
    fixture.write(org, [&](Tx& tx) {
        events::queue_event(
            tx,
            event,
            {.caller = &agent,
             .surface = Surface::mcp,
             .request_id = request.str(),
             .client_address = "192.0.2.7",
             .user_agent = "test/1",
             .action = "create_note",
             .mutation_id = mutation,
             .cause_event = cause,
             .depth = 2}
        );
    });
    Heard heard;
    Sequencer sequencer(fixture.database, {});
    ASSERT_TRUE(eventually([&] { return stored(fixture).size() == 1; }));
    const StoredEvent kept = stored(fixture).front();
    const auto at = std::string_view(kept.envelope).find(R"("occurred_at":")");
    ASSERT_NE(at, std::string_view::npos);
    const auto occurred_at = kept.envelope.substr(at + 15, 24);
    EXPECT_TRUE(Timestamp::parse(occurred_at)) << occurred_at;
    EXPECT_EQ(
        kept.envelope,
        R"({"object":"event","event_id":")" + kept.event_id.str() +
            R"(","kind":"note.pinned","api_version":"2026-06-19","org_id":")" + org.str() +
            R"(","board_id":")" + board.str() +
            R"(","sequence":1,"board_sequence":1,"actor":{"principal_type":"agent","id":")" +
            agent.id.str() + R"(","name":"Ada","token_id":")" + agent.token_id->str() +
            R"(","on_behalf_of_user_id":")" + agent.user_id->str() +
            R"(","via":"mcp"},"occurred_at":")" + occurred_at + R"(","mutation_id":")" +
            mutation.str() + R"(","cause":{"event_id":")" + cause.str() +
            R"(","automation_id":null,"depth":2},"data":{"object":"note","id":")" + event.id.str() +
            R"(","version":1,"board_id":")" + board.str() + R"(","changes":)" + event.changes +
            R"(,"previous":{}}})"
    );
    EXPECT_EQ(kept.depth, 2);
    EXPECT_EQ(
        fixture.ask(
            "SELECT action || ' ' || outcome || ' ' || ip_address || ' ' || user_agent || ' ' "
            "|| request_id || ' ' || target_type || ' ' || target_name FROM audit_events"
        ),
        "create_note success 192.0.2.7 test/1 " + request.str() + " note Milk"
    );
}

TEST(Sequencer, KeepsLargeEventsWithinTheirBound) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    Note note;
    note.id = new_uuid();
    note.title = "Long";
    note.text = std::string(3'000'000, '"');
    fixture.write(org, [&](Tx& tx) {
        for (int i = 0; i < 3; ++i)
            events::queue_event(tx, created(note_created, note).in_org(org), {.action = "x"});
    });
    Sequencer sequencer(fixture.database, {}, brisk());
    ASSERT_TRUE(eventually([&] { return stored(fixture).size() == 3; }));
    const auto envelope = stored(fixture).front().envelope;
    EXPECT_LT(envelope.size(), 256u << 10);
    const auto data = boost::json::parse(envelope).as_object().at("data").as_object();
    EXPECT_EQ(data.at("truncated_fields").as_array().size(), 1u);
    EXPECT_EQ(data.at("changes").as_object().at("text"), boost::json::value({{"truncated", true}}));
    EXPECT_FALSE(events::verify_audit(fixture.database, org).fault);
}

TEST(Sequencer, WritesNotesForTheAuditRecordAlone) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    const Caller who = someone(org);
    fixture.write(org, [&](Tx& tx) {
        events::AuditNote refused{.org_id = org, .outcome = events::Outcome::denied};
        refused.target_type = "token";
        events::queue_audit(tx, refused, {.caller = &who, .action = "create_token"});
        events::queue_event(tx, small_event(org), {.caller = &who, .action = "create_note"});
    });
    Sequencer sequencer(fixture.database, {}, brisk());
    ASSERT_TRUE(eventually([&] { return fixture.ask("SELECT count(*) FROM audit_events") == "2"; })
    );
    EXPECT_EQ(stored(fixture).size(), 1u);
    EXPECT_EQ(stored(fixture).front().sequence, 1);
    EXPECT_EQ(
        fixture.ask("SELECT string_agg(action || ':' || outcome, ',' ORDER BY sequence) "
                    "FROM audit_events"),
        "create_token:denied,create_note:success"
    );
    EXPECT_FALSE(events::verify_audit(fixture.database, org).fault);
}

TEST(Log, AnEventWithoutAWorkspaceIsAMistake) {
    EventsFixture fixture;
    const auto tx = fixture.database.begin(Tx::Mode::write);
    Event event = small_event(new_uuid());
    event.org_id.reset();
    EXPECT_THROW(events::queue_event(*tx, event, {.action = "x"}), std::logic_error);
}

TEST(Log, ARowOfAnotherWorkspaceIsRefused) {
    EventsFixture fixture;
    const auto tx = fixture.database.begin(Tx::Mode::write);
    tx->set_scope(new_uuid(), std::nullopt);
    events::queue_event(*tx, small_event(new_uuid()), {.action = "x"});
    EXPECT_ANY_THROW(tx->commit());
}

TEST(Log, AnEventCostsNoRoundTripOfItsOwn) {
    EventsFixture fixture;
    const Uuid org = new_uuid();
    const auto tx = fixture.database.begin(Tx::Mode::write);
    tx->set_scope(org, std::nullopt);
    events::queue_event(*tx, small_event(org), {.action = "x"});
    EXPECT_EQ(tx->round_trips(), 0);
    tx->commit();
    EXPECT_EQ(tx->round_trips(), 1);
}

}  // namespace svc::test
