// Cards of copied boards, which follow batch by batch; and locks, which only those take who may.

#include "tests/support/lock_holder.hpp"
#include "tests/unit/boards/many.hpp"

namespace svc::test {

// ---------------------------------------------------------------------------------------- copies

TEST(Copies, CardsOfACopiedBoardFollowBatchByBatch) {
    Columns c;
    const Answer label =
        in_process().must(c.owner, "create_label", {{"board_id", c.board.str()}, {"name", "Old"}});
    const Answer parent = c.card(c.backlog, {{"title", "parent"}, {"labels", {"Old"}}});
    fill(c, c.backlog, 450, 0);
    const Answer last = c.card(
        c.done,
        {{"title", "last"},
         {"labels", {"Old"}},
         {"parent_card_id", parent.text("/id")},
         {"blocked_by", {parent.text("/id")}}}
    );
    const Answer copy =
        in_process().must(c.owner, "duplicate_board", {{"board_id", c.board.str()}});
    EXPECT_EQ(copy.number("/card_count"), 200);
    EXPECT_EQ(copy.number("/cards_to_come"), 252);
    const Uuid board = copy.id();
    // What changes on either board meanwhile does not come between.
    in_process().must(
        c.owner,
        "update_label",
        {{"board_id", board.str()}, {"label_id", copy.text("/labels/0/id")}, {"name", "New"}}
    );
    in_process().must(
        c.owner,
        "update_label",
        {{"board_id", c.board.str()}, {"label_id", label.text("/id")}, {"name", "Other"}}
    );
    const Answer between = in_process().must(
        c.owner,
        "create_card",
        {{"board_id", board.str()}, {"column_id", copy.text("/column_ids/0")}, {"title", "Between"}}
    );
    EXPECT_EQ(between.text("/key"), copy.text("/key") + "-453");
    in_process().run_job("boards.copy_cards");
    const Answer whole = in_process().must(c.owner, "get_board", {{"board_id", board.str()}});
    EXPECT_EQ(whole.number("/card_count"), 453);
    const Answer copied =
        in_process().must(c.owner, "get_card", {{"card_id", copy.text("/key") + "-452"}});
    EXPECT_EQ(copied.text("/title"), "last");
    EXPECT_EQ(copied.text("/labels/0/name"), "New");
    const Answer first =
        in_process().must(c.owner, "get_card", {{"card_id", copy.text("/key") + "-1"}});
    EXPECT_EQ(copied.text("/parent_card_id"), first.text("/id"));
    EXPECT_EQ(copied.text("/blocked_by/0"), first.text("/id"));
    EXPECT_EQ(copied.body.at("blocked"), true);
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM board_copies WHERE board_id = '" + board.str() + "'"
        ),
        "0"
    );
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM card_links WHERE target_id = '" + copied.text("/id") + "'"
        ),
        "1"
    );
}

TEST(Copies, ACopyLeavesOutCardsThatAreGoneMeanwhile) {
    Columns c;
    fill(c, c.backlog, 250, 0);
    const Answer copy =
        in_process().must(c.owner, "duplicate_board", {{"board_id", c.board.str()}});
    in_process().run("DELETE FROM cards WHERE number = 240 AND board_id = '" + c.board.str() + "'");
    in_process().run_job("boards.copy_cards");
    const Answer whole = in_process().must(c.owner, "get_board", {{"board_id", copy.text("/id")}});
    EXPECT_EQ(whole.number("/card_count"), 249);
    const Answer page = in_process().must(
        c.owner, "list_cards", {{"board_id", copy.text("/id")}, {"page_size", 2}}
    );
    EXPECT_EQ(page.text("/results/0/key"), copy.text("/key") + "-250");
    EXPECT_EQ(page.text("/results/1/key"), copy.text("/key") + "-249");
}

TEST(Copies, OneOfSeveralCardsThatAreNotDoneThereHasTheExternalKey) {
    Columns c;
    fill(c, c.backlog, 250, 0);
    for (int i = 0; i < 2; ++i) c.card(c.done, {{"external_key", "k"}});
    const Answer copy =
        in_process().must(c.owner, "duplicate_board", {{"board_id", c.board.str()}});
    const Answer list =
        in_process().must(c.owner, "list_columns", {{"board_id", copy.text("/id")}});
    for (const value& each : list.body.at("results").as_array())
        if (each.at("kind") == "done")
            in_process().must(
                c.owner,
                "update_column",
                {{"board_id", copy.text("/id")}, {"column_id", each.at("id")}, {"kind", "active"}}
            );
    in_process().run_job("boards.copy_cards");
    const Answer whole = in_process().must(c.owner, "get_board", {{"board_id", copy.text("/id")}});
    EXPECT_EQ(whole.number("/card_count"), 252);
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM cards WHERE external_key = 'k' AND board_id = '" +
            copy.text("/id") + "'"
        ),
        "1"
    );
}

TEST(Copies, WhatIsHeldByAServerThatWasCutOffFollowsWhenItIsFree) {
    Columns c;
    fill(c, c.backlog, 250, 0);
    const std::string board =
        in_process().must(c.owner, "duplicate_board", {{"board_id", c.board.str()}}).text("/id");
    LockHolder cut_off("SELECT 1 FROM board_copies WHERE board_id = '" + board + "' FOR UPDATE");
    std::thread job([] { in_process().run_job("boards.copy_cards"); });
    cut_off.commit_when_more_wait_than(0);
    job.join();
    const Answer whole = in_process().must(c.owner, "get_board", {{"board_id", board}});
    EXPECT_EQ(whole.number("/card_count"), 250);
}

// ----------------------------------------------------------------------------------------- locks

TEST(Locks, WhoeverMayNotChangeABoardWaitsForNobodyOnIt) {
    Columns c;
    const std::string property =
        in_process()
            .must(
                c.owner,
                "create_property",
                {{"board_id", c.board.str()}, {"name", "Size"}, {"type", "select"}}
            )
            .text("/id");
    const Answer card = c.card(c.backlog, {{"labels", {"L"}}, {"properties", {{"Size", "Small"}}}});
    const std::string other = c.card(c.backlog).text("/id");
    const std::string link =
        in_process().must(c.owner, "create_share_link", {{"board_id", c.board.str()}}).text("/id");
    in_process().must(
        c.owner, "update_board", {{"board_id", c.board.str()}, {"visibility", "private"}}
    );
    const Caller stranger = in_process().person(c.owner, OrgRole::member, "Stranger");
    const Caller agent = in_process().agent(c.owner, OrgRole::member, "Confined");
    const Columns elsewhere;
    in_process().grant(c.board, agent, "viewer");
    const LockHolder holder(
        "SELECT 1 FROM boards b, board_counters n WHERE b.id = '" + c.board.str() +
        "' AND n.board_id = b.id FOR UPDATE; SELECT 1 FROM cards WHERE board_id = '" +
        c.board.str() + "' FOR UPDATE; SELECT 1 FROM share_links WHERE board_id = '" +
        c.board.str() + "' FOR UPDATE; SELECT pg_advisory_xact_lock(hashtextextended('ties of " +
        c.owner.org_id->str() + "', 0)); SELECT 1 FROM columns WHERE board_id = '" + c.board.str() +
        "' FOR UPDATE; SELECT 1 FROM properties WHERE board_id = '" + c.board.str() + "' FOR UPDATE"
    );
    const std::string board = c.board.str(), column = c.backlog.str(), id = card.text("/id");
    const std::string label = card.text("/labels/0/id");
    const std::vector<std::pair<std::string_view, value>> calls{
        {"create_card", {{"board_id", board}, {"column_id", column}, {"title", "X"}}},
        {"update_card", {{"card_id", id}, {"title", "X"}}},
        {"move_card", {{"card_id", id}, {"column_id", column}}},
        {"archive_card", {{"card_id", id}}},
        {"delete_card", {{"card_id", id}}},
        {"duplicate_card", {{"card_id", id}}},
        {"batch_cards", {{"operations", {{{"update", {{"card_id", id}, {"title", "X"}}}}}}}},
        {"update_board", {{"board_id", board}, {"name", "X"}}},
        {"archive_board", {{"board_id", board}}},
        {"delete_board", {{"board_id", board}}},
        {"create_column", {{"board_id", board}, {"name", "X"}}},
        {"update_column",
         {{"board_id", board}, {"column_id", column}, {"queue", {{"enabled", true}}}}},
        {"move_column", {{"board_id", board}, {"column_id", column}}},
        {"delete_column", {{"board_id", board}, {"column_id", column}}},
        {"update_label", {{"board_id", board}, {"label_id", label}, {"name", "X"}}},
        {"delete_label", {{"board_id", board}, {"label_id", label}}},
        {"create_label", {{"board_id", board}, {"name", "New"}}},
        {"create_property", {{"board_id", board}, {"name", "P"}, {"type", "number"}}},
        {"update_property", {{"board_id", board}, {"property_id", property}, {"name", "X"}}},
        {"delete_property", {{"board_id", board}, {"property_id", property}}},
        {"link_cards", {{"card_id", id}, {"type", "blocks"}, {"target_id", other}}},
        {"update_card", {{"card_id", id}, {"parent_card_id", other}}},
        {"batch_cards",
         {{"operations", {{{"update", {{"card_id", id}, {"parent_card_id", other}}}}}}}},
        {"revoke_share_link", {{"share_link_id", link}}},
        {"update_card", {{"card_id", id}, {"labels", {"New"}}}},
        {"update_card", {{"card_id", id}, {"labels", {label}}}},
        {"update_card", {{"card_id", id}, {"external_key", "K"}}},
        {"update_card", {{"card_id", id}, {"properties", {{"Size", "Huge"}}}}},
    };
    const auto taken = milliseconds([&] {
        for (const auto& [operation, input] : calls) {
            const Answer strange = in_process().ask(stranger, operation, input);
            EXPECT_EQ(strange.status, 404) << operation << boost::json::serialize(strange.body);
            const Answer confined = in_process().ask(agent, operation, input);
            EXPECT_EQ(confined.status, 403) << operation << boost::json::serialize(confined.body);
        }
    });
    EXPECT_LT(taken, 5'000);
}

}  // namespace svc::test
