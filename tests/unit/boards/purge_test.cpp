// What has been in the trash for long enough goes for good.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::Contains;
using testing::Not;

namespace {

constexpr std::string_view job = "boards.purge_trash";

void delete_card(const BoardFixture& fixture, const Answer& card) {
    in_process().must(fixture.owner, "delete_card", {{"card_id", card.text("/id")}});
}

void delete_board(const BoardFixture& fixture) {
    in_process().must(fixture.owner, "delete_board", {{"board_id", fixture.board.str()}});
}

/// As if it had been thrown away some days ago.
void age(const std::string& table, const Uuid& id, int days) {
    in_process().run(
        "UPDATE " + table + " SET last_edited_time = now() - interval '" + std::to_string(days) +
        " days' WHERE id = '" + id.str() + "'"
    );
}

int status_of(const BoardFixture& fixture, const Answer& card) {
    return in_process().ask(fixture.owner, "get_card", {{"card_id", card.text("/id")}}).status;
}

}  // namespace

TEST(Purge, CardsGoForGoodWhenTheirTimeIsOver) {
    BoardFixture fixture;
    const Answer old = fixture.card(fixture.backlog), young = fixture.card(fixture.backlog),
                 kept = fixture.card(fixture.backlog);
    for (const Answer* each : {&old, &young}) delete_card(fixture, *each);
    age("cards", old.id(), 31);
    age("cards", young.id(), 29);
    age("cards", kept.id(), 400);
    in_process().run_job(job);
    EXPECT_EQ(status_of(fixture, old), 404);
    EXPECT_TRUE(fixture.get(young.id()).body.at("in_trash").as_bool());
    EXPECT_FALSE(fixture.get(kept.id()).body.at("in_trash").as_bool());
    EXPECT_EQ(
        in_process().ask(fixture.owner, "restore_card", {{"card_id", old.text("/id")}}).status, 404
    );
    EXPECT_EQ(
        in_process().ask(fixture.owner, "restore_card", {{"card_id", young.text("/id")}}).status,
        200
    );
}

TEST(Purge, MoreThanABatchOfCardsGoesAtOnce) {
    BoardFixture fixture;
    fixture.card(fixture.backlog);
    in_process().run(
        "INSERT INTO cards (org_id, id, board_id, column_id, number, position, title, in_trash,"
        " last_edited_time, created_by, last_edited_by)"
        " SELECT org_id, gen_random_uuid(), board_id, column_id, 100 + n, 'a', 'Old', true,"
        " now() - interval '31 days', created_by, last_edited_by"
        " FROM cards, generate_series(1, 250) n WHERE board_id = '" +
        fixture.board.str() + "'"
    );
    in_process().run_job(job);
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM cards WHERE board_id = '" + fixture.board.str() + "'"
        ),
        "1"
    );
}

TEST(Purge, CardsWithMuchOnThemGoOneAfterTheOther) {
    BoardFixture fixture, other;
    for (BoardFixture* each : {&fixture, &other})
        for (int i = 0; i < 3; ++i) {
            const Answer card = each->card(each->backlog);
            if (each == &fixture) delete_card(fixture, card);
            age("cards", card.id(), 31);
        }
    delete_board(other);
    age("boards", other.board, 31);
    const std::string boards =
        "board_id IN ('" + fixture.board.str() + "', '" + other.board.str() + "')";
    in_process().run("UPDATE cards SET block_count = 4000, comment_count = 4000 WHERE " + boards);
    in_process().run_job(job);
    EXPECT_EQ(
        in_process().run(
            "SELECT string_agg(n::text, ' ') FROM (SELECT count(DISTINCT xid) AS n FROM event_log"
            " WHERE action = 'boards.purge_trash' AND object = 'card' AND " +
            boards + " GROUP BY board_id) b"
        ),
        "3 3"
    );
}

TEST(Purge, NobodyIsLeftWaitingForWhatIsGoneOrAPartOfIt) {
    BoardFixture fixture;
    const Answer old = fixture.card(fixture.backlog);
    const Answer other = fixture.card(
        fixture.backlog, {{"blocked_by", {old.text("/id")}}, {"parent_card_id", old.text("/id")}}
    );
    delete_card(fixture, old);
    age("cards", old.id(), 31);
    in_process().run_job(job);
    const Answer left = fixture.get(other.id());
    EXPECT_TRUE(left.body.at("blocked_by").as_array().empty());
    EXPECT_TRUE(left.body.at("parent_card_id").is_null());
    EXPECT_EQ(left.number("/version"), 1);
}

TEST(Purge, BoardsGoWithAllThatIsOnThemAndTheirKeysAreFree) {
    BoardFixture fixture;
    const Uuid elsewhere = in_process()
                               .must(
                                   fixture.owner,
                                   "create_board",
                                   {{"name", "Other"},
                                    {"key", "OTHER"},
                                    {"columns", {{{"name", "Only"}, {"kind", "active"}}}}}
                               )
                               .id();
    const Answer blocker = fixture.card(fixture.backlog);
    fixture.card(fixture.backlog, {{"blocked_by", {blocker.text("/id")}}});
    const std::string key = blocker.text("/key");
    const Answer waiting = in_process().must(
        fixture.owner,
        "create_card",
        {{"board_id", elsewhere.str()},
         {"column_id",
          in_process().must(
                          fixture.owner, "list_columns", {{"board_id", elsewhere.str()}}
          ).text("/results/0/id")},
         {"title", "Waiting"},
         {"blocked_by", {blocker.text("/id")}}}
    );
    delete_board(fixture);
    in_process().run_job(job);
    EXPECT_EQ(status_of(fixture, blocker), 200) << "its time is not over";
    age("boards", fixture.board, 31);
    in_process().forget_events();
    in_process().run_job(job);
    EXPECT_EQ(
        in_process().ask(fixture.owner, "get_board", {{"board_id", fixture.board.str()}}).status,
        404
    );
    EXPECT_EQ(status_of(fixture, blocker), 404);
    EXPECT_FALSE(fixture.get(waiting.id()).body.at("blocked").as_bool());
    EXPECT_THAT(in_process().emitted(), Contains("card.unblocked").Times(1));
    const Answer heir = in_process().must(
        fixture.owner, "create_board", {{"name", "Heir"}, {"key", key.substr(0, key.find('-'))}}
    );
    EXPECT_EQ(heir.status, 201);
}

TEST(Purge, ABoardThatIsBeingRemovedDoesNotComeBack) {
    BoardFixture fixture;
    delete_board(fixture);
    const value board{{"board_id", fixture.board.str()}};
    in_process().run(
        "UPDATE boards SET purged_at = now() WHERE id = '" + fixture.board.str() + "'"
    );
    EXPECT_EQ(in_process().ask(fixture.owner, "restore_board", board).status, 404);
    in_process().run("UPDATE boards SET purged_at = NULL WHERE id = '" + fixture.board.str() + "'");
    EXPECT_EQ(in_process().ask(fixture.owner, "restore_board", board).status, 200);
    age("boards", fixture.board, 400);
    in_process().forget_events();
    in_process().run_job(job);
    EXPECT_EQ(in_process().ask(fixture.owner, "get_board", board).status, 200);
    EXPECT_THAT(in_process().emitted(), Not(Contains("board.purged")));
}

TEST(Storage, IsCountedAsItGrowsAndCountedAnew) {
    BoardFixture fixture;
    const auto used = [&] {
        return in_process()
            .must(fixture.owner, "get_org", {{"org_id", fixture.owner.org_id->str()}})
            .number("/storage/used_bytes");
    };
    const auto of_org = [&](const char* table) {
        return in_process().run(
            "SELECT count(*) FROM " + std::string(table) + " WHERE org_id = '" +
            fixture.owner.org_id->str() + "'"
        );
    };
    // The job takes some workspaces at a time, and other tests have left theirs.
    const auto recount = [&] {
        for (int i = 0; i < 40; ++i) in_process().run_job("boards.count_bytes");
    };
    EXPECT_EQ(used(), 0);
    for (int i = 0; i < 60; ++i) fixture.card(fixture.backlog, {{"title", std::string(400, 'x')}});
    const auto grown = used();
    EXPECT_GT(grown, 0);  // of what is small one in some is written down: how many, is chance
    EXPECT_LT(grown, 60 * 700 * 4);
    in_process().run_job("boards.add_up_bytes");
    EXPECT_EQ(of_org("stored_more"), "0");
    EXPECT_EQ(used(), grown);
    recount();
    EXPECT_GT(used(), 60 * 400);
    EXPECT_LT(used(), 60 * 700);
    // What is gone for good no longer counts.
    in_process().run("DELETE FROM cards WHERE org_id = '" + fixture.owner.org_id->str() + "'");
    in_process().run(
        "UPDATE stored_bytes SET counted_at = now() - interval '2 days' WHERE org_id = '" +
        fixture.owner.org_id->str() + "'"
    );
    recount();
    EXPECT_EQ(used(), 0);
}

}  // namespace svc::test
