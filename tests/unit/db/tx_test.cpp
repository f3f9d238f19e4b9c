#include "tests/support/postgres_proxy.hpp"
#include "tests/unit/db/fixture.hpp"

namespace svc::db {
namespace {

class TxTest : public SharedDatabaseTest {
protected:
    /// Through a proxy that counts, with a pool of one so that all go over the same connection.
    struct Counted {
        explicit Counted(const std::string& url) : proxy(url) {
            Settings settings;
            settings.url = proxy.url();
            settings.pool = 1;
            database = std::make_unique<Database>(settings);
            database->open();
        }
        int round_trips_of(const std::function<void(Database&)>& work) {
            const int before = proxy.round_trips();
            work(*database);
            return proxy.round_trips() - before;
        }
        test::PostgresProxy proxy;
        std::unique_ptr<Database> database;
    };
};

TEST_F(TxTest, AReadIsOneRoundTripFromItsVeryFirstUse) {
    const Note note = store(*database, "one");
    Counted counted(url);
    for (int use = 0; use < 3; ++use)
        EXPECT_EQ(1, counted.round_trips_of([&](Database& db) {
            const auto tx = db.begin(Tx::Mode::read);
            tx->set_scope(org, user);
            EXPECT_EQ(note, tx->one<Note>(get_note, org, note.id));
            tx->commit();
            EXPECT_EQ(1, tx->round_trips());
        })) << "use "
            << use;
}

TEST_F(TxTest, AWriteIsTwoRoundTripsFromItsVeryFirstUse) {
    Counted counted(url);
    for (int use = 0; use < 3; ++use)
        EXPECT_EQ(2, counted.round_trips_of([&](Database& db) {
            const auto tx = db.begin(Tx::Mode::write);
            tx->set_scope(org, user);
            const Uuid id = new_uuid();
            EXPECT_TRUE(tx->one<Note>(add_note, org, id, "note " + std::to_string(use)));
            tx->queue(add_trace, org, id, "made");
            tx->queue(add_trace, org, id, "seen");
            tx->commit();
            EXPECT_EQ(2, tx->round_trips());
        })) << "use "
            << use;
}

TEST_F(TxTest, AWriteThatWaitsForNothingIsOneRoundTrip) {
    Counted counted(url);
    const Uuid id = new_uuid();
    EXPECT_EQ(1, counted.round_trips_of([&](Database& db) {
        db.transact(Tx::Mode::write, [&](Tx& tx) {
            tx.set_scope(org, user);
            tx.queue(add_note, org, id, "queued");
            tx.queue(add_trace, org, id, "made");
        });
    }));
    EXPECT_TRUE(find(*database, id));
}

TEST_F(TxTest, ManyStatementsShareOneRoundTrip) {
    store(*database, "a"), store(*database, "b");
    Counted counted(url);
    EXPECT_EQ(1, counted.round_trips_of([&](Database& db) {
        const auto tx = db.begin(Tx::Mode::read);
        tx->set_scope(org, user);
        auto notes = tx->later<Note>(list_notes);
        auto count = tx->later<Number>(count_notes);
        auto again = tx->later<Note>(list_notes);
        EXPECT_EQ(2, notes.all().size());
        EXPECT_EQ(2, count.one()->number);
        EXPECT_EQ(notes.all(), again.all());
    }));
}

TEST_F(TxTest, WhatIsNeverLookedAtCostsNothing) {
    Counted counted(url);
    EXPECT_EQ(0, counted.round_trips_of([&](Database& db) {
        const auto tx = db.begin(Tx::Mode::write);
        tx->set_scope(org, user);
        tx->queue(add_note, org, new_uuid(), "never sent");
    }));
    EXPECT_EQ(0, counted.round_trips_of([&](Database& db) {
        db.transact(Tx::Mode::write, [](Tx&) {});
    }));
}

TEST_F(TxTest, DestroyingAWriteUndoesIt) {
    const Uuid id = new_uuid();
    {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        EXPECT_TRUE(tx->one<Note>(add_note, org, id, "gone"));
    }
    EXPECT_FALSE(find(*database, id));
    EXPECT_EQ(0, database->load().busy);
}

TEST_F(TxTest, AWriteSeesItsOwnRowsBeforeItsCommitAndOthersDoNot) {
    const Uuid id = new_uuid();
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->run(add_note, org, id, "mine");
    EXPECT_TRUE(tx->one<Note>(get_note, org, id));
    EXPECT_FALSE(find(*database, id));
    tx->commit();
    EXPECT_TRUE(find(*database, id));
}

TEST_F(TxTest, RowsStayReadableAfterTheCommit) {
    const Note note = store(*database, "kept");
    const auto tx = database->begin(Tx::Mode::read);
    tx->set_scope(org, user);
    auto by_id = tx->later<Note>(get_note, org, note.id);
    auto listed = tx->later<Note>(list_notes);
    tx->commit();
    EXPECT_EQ(note, by_id.one());
    EXPECT_EQ(std::vector{note}, listed.all());
    EXPECT_EQ(note, by_id.one());
    EXPECT_EQ(0, database->load().busy);
}

TEST_F(TxTest, AffectedCountsRows) {
    const Note note = store(*database, "x");
    database->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(org, user);
        EXPECT_EQ(1, tx.run(touch_note, org, note.id));
        EXPECT_EQ(0, tx.run(touch_note, org, new_uuid()));
    });
}

TEST_F(TxTest, NoRowGivesNothingEvenAfterOneThatDid) {
    const Note note = store(*database, "only");
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, user);
        EXPECT_TRUE(tx.one<Note>(get_note, org, note.id));
        EXPECT_FALSE(tx.one<Note>(get_note, org, new_uuid()));
        EXPECT_TRUE(tx.all<Note>(get_note, org, new_uuid()).empty());
    });
}

TEST_F(TxTest, NothingGoesOnAfterTheCommit) {
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->run(add_note, org, new_uuid(), "x");
    tx->commit();
    EXPECT_THROW(tx->queue(list_notes), std::logic_error);
    EXPECT_THROW(tx->commit(), std::logic_error);
}

TEST_F(TxTest, NothingGoesOnAfterAnError) {
    const Note note = store(*database, "taken");
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    EXPECT_THROW(tx->run(add_note, org, note.id, "again"), ConstraintError);
    EXPECT_THROW(tx->run(touch_note, org, note.id), std::logic_error);
    EXPECT_THROW(tx->commit(), std::logic_error);
}

// --------------------------------------------------------------------------- checks

struct NotHim {};

TEST_F(TxTest, ACheckRunsBeforeAnybodyReads) {
    const Note note = store(*database, "x");
    const auto tx = database->begin(Tx::Mode::read);
    tx->set_scope(org, user);
    std::vector<std::string> order;
    auto who = tx->later<Number>(count_notes);
    tx->on_answers([&] {
        EXPECT_EQ(1, who.one()->number);
        order.push_back("check");
    });
    tx->one<Note>(get_note, org, note.id);
    order.push_back("read");
    tx->one<Note>(get_note, org, note.id);  // and not a second time
    EXPECT_THAT(order, testing::ElementsAre("check", "read"));
}

TEST_F(TxTest, WhatACheckThrowsEndsTheTransaction) {
    const Uuid id = new_uuid();
    {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        tx->on_answers([] { throw NotHim(); });
        EXPECT_THROW(tx->run(add_note, org, id, "x"), NotHim);
        EXPECT_THROW(tx->commit(), std::logic_error);
    }
    EXPECT_FALSE(find(*database, id));
}

TEST_F(TxTest, NothingIsCommittedBeforeTheCheckHasPassed) {
    const Uuid id = new_uuid();
    {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        tx->on_answers([] { throw NotHim(); });
        tx->queue(add_note, org, id, "only queued");
        EXPECT_THROW(tx->commit(), NotHim);
    }
    EXPECT_FALSE(find(*database, id));

    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->on_answers([] {});
    tx->queue(add_note, org, id, "checked");
    tx->commit();
    EXPECT_EQ(2, tx->round_trips());
    EXPECT_TRUE(find(*database, id));
}

TEST_F(TxTest, ACheckComesBeforeTheErrorOfAStatementBehindIt) {
    const Note note = store(*database, "x");
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    auto who = tx->later<Number>(count_notes);
    tx->on_answers([&] {
        if (who.one()->number == 1) throw NotHim();
    });
    EXPECT_THROW(tx->run(add_note, org, note.id, "again"), NotHim);
}

TEST_F(TxTest, ACheckWhoseOwnQuestionFailedMeetsItsError) {
    constexpr Sql wrong{"test.wrong", "SELECT 1 / (length($1) - 1) AS number"};
    const auto tx = database->begin(Tx::Mode::read);
    auto who = tx->later<Number>(wrong, "x");
    tx->on_answers([&] { who.one(); });
    EXPECT_EQ(Fault::invalid, fault_of([&] { tx->all<Note>(list_notes); }));
}

TEST_F(TxTest, OneThatWaitsBrieflyIsToRunAgainRatherThanToWaitForALock) {
    const Note note = store(*database, "held");
    const auto holder = database->begin(Tx::Mode::write);
    holder->set_scope(org, user);
    ASSERT_TRUE(holder->one<Note>(touch_note, org, note.id));
    for (const bool begun : {false, true}) {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        if (begun) tx->all<Note>(list_notes);
        tx->wait_briefly();
        EXPECT_THROW(tx->one<Note>(touch_note, org, note.id), RetryTransaction);
    }
    holder->commit();
    // The connections that waited briefly wait as others do.
    const auto again = database->begin(Tx::Mode::write);
    again->set_scope(org, user);
    EXPECT_EQ(
        again->one<Word>({"test.show", "SELECT current_setting('lock_timeout') AS word"})->word,
        "4s"
    );
}

TEST_F(TxTest, SaysWhetherWhatItDidMayStand) {
    store(*database, "there");
    {
        const auto undone = database->begin(Tx::Mode::write);
        undone->set_scope(org, user);
        undone->run(add_note, org, new_uuid(), "undone");
        EXPECT_FALSE(undone->may_stand());
    }
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->commit_along();
    EXPECT_THROW(tx->run(add_note, org, new_uuid(), "there"), ConstraintError);
    EXPECT_FALSE(tx->may_stand()) << "it was refused";
    const auto several = database->begin(Tx::Mode::write);
    several->set_scope(org, user);
    several->commit_along();
    several->run(add_note, org, new_uuid(), "stands");
    EXPECT_TRUE(several->may_stand());
    EXPECT_THROW(several->run(add_note, org, new_uuid(), "there"), ConstraintError);
    EXPECT_TRUE(several->may_stand()) << "the first does, whatever becomes of the second";
    const auto again = database->begin(Tx::Mode::write);
    again->set_scope(org, user);
    again->commit_along();
    again->run(touch_note, org, new_uuid());
    again->changed_nothing();
    EXPECT_THROW(again->run(add_note, org, new_uuid(), "there"), ConstraintError);
    EXPECT_FALSE(again->may_stand()) << "the first found nothing, the second was refused";
}

}  // namespace
}  // namespace svc::db
