#include "events/chain.hpp"

#include "tests/unit/events/chain_fixture.hpp"

namespace svc::test {

TEST(Chain, WhoeverWasReplacedMeanwhileCannotWrite) {
    ChainFixture world;
    const Uuid first = new_uuid(), second = new_uuid();
    // The row with the lowest id becomes visible last, so that the two take different rows.
    const auto late = world.hold_back(second);
    world.emit(first);
    events::Chain replaced, successor;
    ASSERT_EQ(world.take(replaced), 1u);
    late->commit();
    ASSERT_EQ(world.sequence(successor, 1), 1u);
    EXPECT_ANY_THROW(world.write(replaced));
    EXPECT_EQ(
        world.fixture.ask("SELECT string_agg(position || ' ' || org_id, ',') FROM events"),
        "1 " + second.str()
    );
    EXPECT_FALSE(world.fixture.all_sequenced());
}

TEST(Chain, WhoeverWasReplacedCannotWriteNotesForTheAuditRecordEither) {
    ChainFixture world;
    const Uuid org = new_uuid();
    const auto note = [&] {
        world.fixture.write(org, [&](Tx& tx) {
            events::queue_audit(tx, {.org_id = org}, {.action = "look"});
        });
    };
    events::Chain replaced, successor;
    note();
    ASSERT_EQ(world.take(replaced), 1u);
    ASSERT_EQ(world.sequence(successor), 1u);
    EXPECT_ANY_THROW(world.write(replaced));
    EXPECT_EQ(world.fixture.ask("SELECT count(*) FROM audit_events"), "1");
}

TEST(Chain, ABatchIsBoundedByRowsAndByBytes) {
    ChainFixture world;
    const Uuid org = new_uuid();
    for (int i = 0; i < 6; ++i) world.emit(org, 10'000);
    events::Chain chain;
    EXPECT_EQ(world.sequence(chain, 2, 1 << 20), 2u);
    EXPECT_TRUE(chain.has_more());
    EXPECT_EQ(world.sequence(chain, 10, 15'000), 2u);
    EXPECT_TRUE(chain.has_more());
    EXPECT_EQ(world.sequence(chain, 10, 1), 1u) << "one row passes, whatever its size";
    EXPECT_EQ(world.sequence(chain, 10, 1 << 20), 1u);
    EXPECT_FALSE(chain.has_more());
    EXPECT_EQ(world.sequence(chain, 10, 1 << 20), 0u);
    EXPECT_FALSE(chain.has_more());
}

TEST(Chain, ABatchIsTwoRoundTrips) {
    ChainFixture world;
    const Uuid org = new_uuid();
    events::Chain chain;
    world.emit(org);
    world.sequence(chain);
    for (int i = 0; i < 5; ++i) world.emit(org);
    const auto tx = world.begin();
    ASSERT_EQ(chain.take(*tx, 10, 1 << 20), 5u);
    chain.write(*tx);
    EXPECT_EQ(tx->round_trips(), 2);
}

// ------------------------------------------------------------------- rows that appear late

TEST(Chain, ARowThatAppearsAMinuteLaterIsSequencedThenAndHoldsUpNobody) {
    ChainFixture world;
    const Uuid slow = new_uuid(), busy = new_uuid();
    events::Chain chain;
    world.emit(busy);
    world.sequence(chain);
    const auto late = world.hold_back(slow);
    for (int round = 0; round < 40; ++round) {
        world.emit(busy);
        ASSERT_EQ(world.sequence(chain), 1u);
        EXPECT_EQ(world.sequence(chain), 0u);
    }
    EXPECT_EQ(chain.gaps().size(), 1u);
    EXPECT_EQ(world.low_water(), 1);
    late->commit();
    ASSERT_EQ(world.sequence(chain), 1u);
    EXPECT_TRUE(chain.gaps().empty());
    EXPECT_EQ(world.low_water(), 42);
    EXPECT_EQ(
        world.fixture.ask(
            "SELECT position || ' ' || sequence FROM events WHERE org_id = '" + slow.str() + "'"
        ),
        "42 1"
    );
}

TEST(Chain, RowsAppearInTheOrderOfTheirIdsWithinALook) {
    ChainFixture world;
    const Uuid org = new_uuid();
    events::Chain chain;
    const auto first = world.hold_back(org), second = world.hold_back(org);
    world.emit(org);
    ASSERT_EQ(world.sequence(chain), 1u);
    second->commit();
    world.emit(org);
    first->commit();
    ASSERT_EQ(world.sequence(chain), 3u);
    EXPECT_EQ(
        world.fixture.ask("SELECT string_agg(log_id::text, ' ' ORDER BY position) FROM events"),
        "3 1 2 4"
    );
}

TEST(Chain, IdsThatWereRolledBackAreForgotten) {
    ChainFixture world;
    const Uuid org = new_uuid();
    events::Chain chain;
    for (int i = 0; i < 3; ++i) world.hold_back(org);  // and let go
    world.emit(org);
    ASSERT_EQ(world.sequence(chain), 1u);
    EXPECT_EQ(world.low_water(), 0);
    EXPECT_EQ(chain.gaps().size(), 1u);
    ASSERT_EQ(world.sequence(chain), 0u);
    EXPECT_TRUE(chain.gaps().empty());
    world.emit(org);
    ASSERT_EQ(world.sequence(chain), 1u);
    EXPECT_EQ(world.low_water(), 5);
}

TEST(Chain, AJumpOfTheSequenceCostsNothing) {
    ChainFixture world;
    const Uuid org = new_uuid();
    events::Chain chain;
    world.emit(org);
    ASSERT_EQ(world.sequence(chain), 1u);
    for (const char* to : {"33", "5000000000"}) {  // a crash, and a backup brought back
        world.fixture.ask(std::string("SELECT setval('event_log_id_seq', ") + to + ")");
        world.emit(org);
        ASSERT_EQ(world.sequence(chain), 1u);
        EXPECT_EQ(world.sequence(chain), 0u);
        EXPECT_TRUE(chain.gaps().empty());
    }
    world.emit(org);
    ASSERT_EQ(world.sequence(chain), 1u);
    EXPECT_EQ(world.low_water(), 5'000'000'002);
}

TEST(Chain, ASuccessorFindsWhatIsStillMissing) {
    ChainFixture world;
    const Uuid org = new_uuid();
    const auto late = world.hold_back(org), later = world.hold_back(org);
    {
        events::Chain chain;
        world.emit(org);
        const auto never = world.hold_back(org);
        world.emit(org);
        ASSERT_EQ(world.sequence(chain), 2u);
        EXPECT_EQ(world.low_water(), 0);
        late->commit();
    }
    events::Chain next;
    ASSERT_EQ(world.sequence(next), 1u);
    EXPECT_EQ(world.low_water(), 1);
    EXPECT_EQ(next.gaps().size(), 2u);
    ASSERT_EQ(world.sequence(next), 0u);
    EXPECT_EQ(next.gaps().low_water(), 1) << "the second still runs";
    later->commit();
    events::Chain last;
    ASSERT_EQ(world.sequence(last), 1u);
    ASSERT_EQ(world.sequence(last), 0u);
    EXPECT_TRUE(last.gaps().empty());
    EXPECT_TRUE(world.fixture.all_sequenced());
    EXPECT_EQ(world.fixture.ask("SELECT count(*) FROM events"), "4");
}

// Whoever opens has drawn the id of its transaction before it looks.
TEST(Chain, WhatIsMissingInTheFirstLookIsNotForgottenTooEarly) {
    ChainFixture f;
    const Uuid org = new_uuid();
    events::Chain chain;
    const auto first = f.begin();
    ASSERT_EQ(chain.take(*first, 100, 1 << 20), 0u);
    const auto held = f.hold_back(org);
    f.emit(org);
    ASSERT_EQ(chain.take(*first, 100, 1 << 20), 1u);
    chain.write(*first);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(f.sequence(chain), 0u);
    EXPECT_GT(chain.gaps().size(), 0u) << "its transaction has not ended";
    held->commit();
    EXPECT_EQ(f.sequence(chain), 1u) << "an event is lost";
}

TEST(Chain, GapsThatAreManyAreLookedIntoWhenSomebodyEnds) {
    ChainFixture world;
    const Uuid org = new_uuid();
    events::Chain chain;
    const auto late = world.hold_back(org);
    for (int i = 0; i < 60; ++i) {
        world.hold_back(org);  // and let go
        world.emit(org);
        ASSERT_EQ(world.sequence(chain), 1u);
    }
    EXPECT_GT(chain.gaps().size(), 40u);
    const auto trips = [&] {
        const auto read = world.begin();
        EXPECT_EQ(chain.take(*read, 10, 1 << 20), 0u);
        return read->round_trips();
    };
    trips();
    EXPECT_EQ(trips(), 1);
    late->commit();
    const auto read = world.begin();
    EXPECT_EQ(chain.take(*read, 10, 1 << 20), 1u);
    EXPECT_EQ(read->round_trips(), 2);
    EXPECT_TRUE(chain.gaps().empty());
    world.write(chain);
    EXPECT_TRUE(world.fixture.all_sequenced());
}

TEST(Chain, TooManyGapsHoldUpWhatIsAboveUntilSomeAreSettled) {
    ChainFixture world;
    const Uuid org = new_uuid();
    events::Chain chain(2);
    const auto late = world.hold_back(org);
    for (int i = 0; i < 2; ++i) {
        world.hold_back(org);  // and let go
        world.emit(org);
    }
    ASSERT_EQ(world.sequence(chain), 2u);
    ASSERT_TRUE(chain.gaps().full());
    world.emit(org);
    EXPECT_EQ(world.sequence(chain), 0u);
    late->commit();
    EXPECT_EQ(world.sequence(chain), 1u) << "what fills a gap is sequenced meanwhile";
    while (chain.gaps().full()) ASSERT_EQ(world.sequence(chain), 0u);
    EXPECT_EQ(world.sequence(chain), 1u);
    EXPECT_TRUE(world.fixture.all_sequenced());
    EXPECT_EQ(
        world.fixture.ask("SELECT count(DISTINCT log_id) || ' ' || count(*) FROM event_chain"),
        "4 4"
    );
}

// The sequencer relies on it where it forgets an id: whoever has one has a transaction id already.
TEST(Chain, ATransactionHasItsIdBeforeARowHas) {
    ChainFixture world;
    // Whatever draws an id is told what the transaction's id is at that moment.
    world.fixture.ask(R"(
        CREATE FUNCTION note_xid(id bigint) RETURNS bigint LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM set_config('test.xid', coalesce(pg_current_xact_id_if_assigned()::text, ''),
                false);
            RETURN id;
        END $$;
        ALTER TABLE event_log ALTER COLUMN id DROP IDENTITY;
        CREATE SEQUENCE ids;
        ALTER TABLE event_log ALTER COLUMN id SET DEFAULT note_xid(nextval('ids'));
        SELECT 1)");
    static constexpr auto columns =
        "(org_id, entry_id, outcome, action, version, changes, previous, depth)";
    static constexpr auto values =
        "gen_random_uuid(), gen_random_uuid(), 'success', 'x', 0, '{}', '{}', 0";
    const std::string plain = std::string(columns) + " VALUES (" + values + ")";
    const std::string many = std::string(columns) + " VALUES (" + values + "), (" + values + ")";
    const std::string of_rows =
        std::string(columns) + " SELECT " + values + " FROM generate_series(1, 3) n ORDER BY n";
    for (const std::string& rows : {plain, many, of_rows})
        for (const std::string& statement :
             {"INSERT INTO event_log " + rows,
              "WITH x AS (INSERT INTO event_log " + rows + " RETURNING id) SELECT count(*) FROM x"})
            EXPECT_EQ(
                world.fixture.ask(
                    "BEGIN; " + statement +
                    "; SELECT current_setting('test.xid') = pg_current_xact_id()::text"
                ),
                "t"
            ) << statement;
}

// ------------------------------------------------------------------------------------ plans

TEST(Chain, TakesIndexesWhateverIsBelievedOfTheTables) {
    for (const auto* belief :
         {"SELECT 1",  // nothing, of empty tables
          "ANALYZE event_log, event_chain",
          "UPDATE pg_class SET relpages = 0, reltuples = 0 WHERE relname LIKE 'event_%'",
          "UPDATE pg_class SET relpages = 1000000, reltuples = 10 WHERE relname LIKE 'event_%'",
          "UPDATE pg_class SET relpages = 1, reltuples = 100000000 WHERE relname LIKE 'event_%'"}) {
        ChainFixture world;
        world.fixture.ask(belief);
        const Uuid org = new_uuid();
        const auto scans = [&] {
            return world.fixture.ask(
                "SELECT string_agg(relname || ' ' || seq_scan,"
                " ', ' ORDER BY relname) FROM pg_stat_user_tables"
                " WHERE relname IN ('event_log', 'event_chain')"
            );
        };
        // Whoever migrated has read both, and says so as its session ends, a moment after it left.
        const auto sessions = std::to_string(world.fixture.database.load().connections + 1);
        ASSERT_TRUE(eventually([&] {
            return sessions == world.fixture.ask(
                                   "SELECT count(*) FROM pg_stat_activity"
                                   " WHERE datname = current_database()"
                               );
        }));
        const auto before = scans();
        {
            const auto lock = world.fixture.database.try_lock(1);
            const auto in_session = [&](const std::function<void(Tx&)>& work) {
                const auto tx = lock->begin();
                tx->set_scope_to_all_orgs();
                work(*tx);
                tx->commit();
            };
            in_session([](Tx& tx) { events::prefer_indexes(tx); });
            events::Chain chain;
            for (int round = 0; round < 3; ++round) {
                world.hold_back(org);  // and let go
                world.emit(org);
                const auto tx = lock->begin();
                tx->set_scope_to_all_orgs();
                ASSERT_EQ(chain.take(*tx, 10, 1 << 20), 1u);
                chain.write(*tx);
                in_session([&](Tx& again) { chain.take(again, 10, 1 << 20); });
            }
            in_session([](Tx& tx) { tx.run({"test.tell", "SELECT pg_stat_force_next_flush()"}); });
        }
        EXPECT_EQ(scans(), before) << belief;
    }
}

}  // namespace svc::test
