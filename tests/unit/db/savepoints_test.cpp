#include "tests/unit/db/fixture.hpp"

/// What is undone of a transaction that goes on.
namespace svc::db {
namespace {

class Savepoints : public SharedDatabaseTest {};

constexpr Sql save{"test.save", "SAVEPOINT part"};
constexpr Sql undo{"test.undo", "ROLLBACK TO SAVEPOINT part"};
constexpr Sql overflow{"test.overflow", "SELECT (1e9 + $1::int)::int::text AS word"};

TEST_F(Savepoints, ATransactionGoesOnFromASavepointBehindAFailure) {
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    const Uuid before = new_uuid(), within = new_uuid(), behind = new_uuid();
    tx->queue(add_note, org, before, "before " + before.str());
    tx->queue(save);
    const Uuid other = new_uuid();
    tx->set_scope(other, user);
    tx->queue(add_note, other, within, "within");
    EXPECT_THROW(tx->one<Word>(overflow, std::int64_t{2'000'000'000}), Failure);
    EXPECT_THROW(tx->queue(add_note, org, within, "too late"), std::logic_error);
    ASSERT_TRUE(tx->roll_back_to(undo));
    tx->set_scope(org, user);
    tx->queue(add_note, org, behind, "behind " + behind.str());
    EXPECT_TRUE(tx->one<Note>(get_note, org, before));
    tx->commit();

    const auto look = database->begin(Tx::Mode::read);
    look->set_scope(org, user);
    EXPECT_TRUE(look->one<Note>(get_note, org, before));
    EXPECT_TRUE(look->one<Note>(get_note, org, behind));
    EXPECT_FALSE(look->one<Note>(get_note, org, within));
}

TEST_F(Savepoints, WhomATransactionActsForIsToldAnewBehindASavepointThatWasUndone) {
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(new_uuid(), user);
    tx->run(save);
    tx->set_scope(org, user);
    const Uuid id = new_uuid();
    EXPECT_TRUE(tx->one<Note>(add_note, org, id, "undone " + id.str()));
    ASSERT_TRUE(tx->roll_back_to(undo));
    EXPECT_TRUE(tx->one<Note>(add_note, org, id, "kept " + id.str()));
    tx->commit();
}

TEST_F(Savepoints, ThereIsNothingToGoOnFromWithoutASavepoint) {
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    EXPECT_THROW(tx->one<Word>(overflow, std::int64_t{2'000'000'000}), Failure);
    EXPECT_FALSE(tx->roll_back_to(undo));
    EXPECT_THROW(tx->commit(), std::logic_error);
}

TEST_F(Savepoints, WithoutWhatHadToBeLockedNothingIsWritten) {
    const Uuid id = new_uuid();
    {
        const auto tx = database->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        tx->lock(get_note, org, id);
        tx->queue(add_note, org, id, "unlocked " + id.str());
        EXPECT_THROW(tx->commit(), RetryTransaction);
    }
    const auto tx = database->begin(Tx::Mode::write);
    tx->set_scope(org, user);
    tx->queue(save);
    tx->lock(get_note, org, id);
    ASSERT_TRUE(tx->roll_back_to(undo)) << "what was refused needed no lock";
    EXPECT_TRUE(tx->one<Note>(add_note, org, id, "there " + id.str()));
    tx->lock(get_note, org, id);
    tx->commit();
}

}  // namespace
}  // namespace svc::db
