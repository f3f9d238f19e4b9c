#include "tests/unit/db/fixture.hpp"

namespace svc::db {
namespace {

class RowLevelSecurityTest : public SharedDatabaseTest {
protected:
    std::int64_t visible(Tx& tx) { return tx.one<Number>(count_notes)->number; }
};

TEST_F(RowLevelSecurityTest, OnlyTheWorkspaceActedForIsSeen) {
    store(*database, "ours");
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ(0, visible(tx));
        tx.set_scope(org, user);
        EXPECT_EQ(1, visible(tx));
        tx.set_scope(other_org, user);
        EXPECT_EQ(0, visible(tx));
        tx.set_scope(std::nullopt, user);
        EXPECT_EQ(0, visible(tx));
    });
}

TEST_F(RowLevelSecurityTest, TheWorkspaceHoldsInEveryPipelineOfARead) {
    store(*database, "ours");
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, user);
        EXPECT_EQ(1, visible(tx));
        EXPECT_EQ(1, visible(tx));
        EXPECT_EQ(2, tx.round_trips());
    });
}

TEST_F(RowLevelSecurityTest, ItEndsWithTheTransactionInBothModes) {
    Settings settings;
    settings.url = url;
    settings.pool = 1;
    const auto single = open(settings);
    store(*single, "ours");
    for (const auto mode : {Tx::Mode::read, Tx::Mode::write}) {
        single->transact(mode, [&](Tx& tx) {
            tx.set_scope(org, user);
            EXPECT_EQ(1, visible(tx));
        });
        single->transact(mode, [&](Tx& tx) { EXPECT_EQ(0, visible(tx)); });
    }
    // A write that is undone leaves nothing behind either.
    {
        const auto tx = single->begin(Tx::Mode::write);
        tx->set_scope(org, user);
        EXPECT_EQ(1, visible(*tx));
    }
    single->transact(Tx::Mode::read, [&](Tx& tx) { EXPECT_EQ(0, visible(tx)); });
}

TEST_F(RowLevelSecurityTest, ARowOfAnotherWorkspaceCannotBeWritten) {
    EXPECT_THROW(
        database->transact(
            Tx::Mode::write,
            [&](Tx& tx) {
                tx.set_scope(org, user);
                tx.run(add_note, other_org, new_uuid(), "smuggled");
            }
        ),
        std::runtime_error
    );
    const Note note = store(*database, "ours");
    database->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope(other_org, user);
        EXPECT_EQ(0, tx.run(touch_note, org, note.id));
    });
    EXPECT_EQ(1, find(*database, note.id)->version);
}

TEST_F(RowLevelSecurityTest, TheWorkspaceMayChangeBetweenStatementsOfOnePipeline) {
    store(*database, "ours");
    const auto tx = database->begin(Tx::Mode::read);
    auto nobody = tx->later<Number>(count_notes);
    tx->set_scope(org, user);
    auto ours = tx->later<Number>(count_notes);
    tx->set_scope(other_org, user);
    auto others = tx->later<Number>(count_notes);
    tx->set_scope_to_all_orgs();
    auto all = tx->later<Number>(count_notes);
    tx->set_scope(other_org, user);
    auto others_again = tx->later<Number>(count_notes);
    EXPECT_EQ(0, nobody.one()->number);
    EXPECT_EQ(1, ours.one()->number);
    EXPECT_EQ(0, others.one()->number);
    EXPECT_EQ(1, all.one()->number);
    EXPECT_EQ(0, others_again.one()->number);
    EXPECT_EQ(1, tx->round_trips());
}

TEST_F(RowLevelSecurityTest, TheKernelsJobsSeeAllWorkspaces) {
    store(*database, "ours");
    database->transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        EXPECT_EQ(1, visible(tx));
        tx.run(add_note, other_org, new_uuid(), "theirs");
        EXPECT_EQ(2, visible(tx));
    });
}

TEST_F(RowLevelSecurityTest, TheFourFunctionsTellWhomATransactionActsFor) {
    constexpr Sql ask{"test.ask", R"(
        SELECT concat_ws(' ', coalesce(svc_org()::text, '-'), coalesce(svc_user()::text, '-'),
                         coalesce(svc_credential(), '-'), svc_all_orgs()) AS word)"};
    constexpr Sql present{"test.present", "SELECT set_config('app.credential', $1, true)"};
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ("- - - f", tx.one<Word>(ask)->word);
        tx.set_scope(org, user);
        tx.queue(present, "00ff");
        EXPECT_EQ(org.str() + " " + user.str() + " 00ff f", tx.one<Word>(ask)->word);
        tx.set_scope_to_all_orgs();
        EXPECT_EQ("- - - t", tx.one<Word>(ask)->word);
    });
    database->transact(Tx::Mode::read, [&](Tx& tx) {
        EXPECT_EQ("- - - f", tx.one<Word>(ask)->word);
    });
}

}  // namespace
}  // namespace svc::db
