// Columns that change, move and go, and what becomes of the cards in them.

#include "tests/unit/boards/columns.hpp"

namespace svc::test {

using testing::ElementsAre;
using testing::UnorderedElementsAre;

TEST(ColumnChanges, APatchTouchesOnlyWhatItWasSent) {
    Columns c;
    const std::vector<std::pair<std::string, value>> changes{
        {"name", "Renamed"},
        {"color", "purple"},
        {"kind", "active"},
        {"wip_limit", 7},
        {"wip_policy", "hard"},
        {"wip_limit", nullptr},
    };
    value before = c.read(c.queue).body;
    for (const auto& [field, to] : changes) {
        const Answer after = c.change(c.queue, {{field, to}});
        ASSERT_EQ(after.status, 200) << field;
        before.as_object()[field] = to;
        before.as_object()["version"] = before.at("version").as_int64() + 1;
        before.as_object()["last_edited_time"] = after.body.at("last_edited_time");
        EXPECT_EQ(after.body, before) << field;
        EXPECT_EQ(c.read(c.queue).body, before) << field;
        EXPECT_EQ(c.change(c.queue, {{field, to}}).body, before) << "nothing changes: " << field;
    }
    EXPECT_EQ(c.change(c.queue, {}).body, before);
    for (const char* field : {"name", "color", "kind", "wip_policy", "queue"})
        EXPECT_EQ(c.change(c.queue, {{field, nullptr}}).status, 422) << field;
    EXPECT_EQ(c.change(c.queue, {{"position", 0}}).status, 422);
}

TEST(ColumnChanges, TheQueueIsMergedMemberByMember) {
    Columns c;
    const std::vector<std::pair<std::string, value>> changes{
        {"lease_ttl_seconds", 60},
        {"max_attempts", 2},
        {"backoff_seconds", 0},
        {"backoff_max_seconds", 5},
        {"order", "fifo"},
        {"on_complete_column_id", c.done.str().c_str()},
        {"on_exhausted_column_id", c.backlog.str().c_str()},
        {"on_complete_column_id", nullptr},
        {"enabled", false},
    };
    value before = c.read(c.queue).body.at("queue");
    for (const auto& [member, to] : changes) {
        ASSERT_EQ(c.change(c.queue, {{"queue", {{member, to}}}}).status, 200) << member;
        before.as_object()[member] = to;
        EXPECT_EQ(c.read(c.queue).body.at("queue"), before) << member;
    }
}

TEST(ColumnChanges, CardsAreSentToOtherColumnsOfTheBoardAlone) {
    Columns c, other;
    for (const std::string& target : {other.done.str(), c.queue.str(), new_uuid().str()})
        for (const char* member : {"on_complete_column_id", "on_exhausted_column_id"}) {
            const Answer refused = c.change(c.queue, {{"queue", {{member, target}}}});
            EXPECT_EQ(refused.status, 422);
            EXPECT_EQ(refused.text("/detail/0/loc/1"), "queue");
        }
}

TEST(ColumnChanges, AKindOfDoneCompletesTheCardsAndAnotherOpensThem) {
    Columns c;
    const Answer card = c.card(c.backlog, {{"external_key", "k"}});
    in_process().forget_events();
    c.change(c.backlog, {{"kind", "done"}});
    const Answer done = c.get(card.id());
    EXPECT_TRUE(done.body.at("completed_at").is_string());
    EXPECT_EQ(done.number("/version"), 2);
    EXPECT_THAT(in_process().emitted(), ElementsAre("column.updated", "card.updated"));
    c.card(c.queue, {{"external_key", "k"}});
    const Answer refused = c.change(c.backlog, {{"kind", "active"}});
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "external_key_taken");
    EXPECT_EQ(c.read(c.backlog).text("/kind"), "done");
}

TEST(ColumnChanges, SwitchingTheQueueTakesTheCardsInAndOut) {
    Columns c;
    const Answer waiting = c.card(c.queue), held = c.card(c.queue, {{"priority", "urgent"}});
    const Answer claim = c.claim();
    ASSERT_EQ(claim.text("/card/id"), held.text("/id"));
    c.change(c.queue, {{"queue", {{"enabled", false}}}});
    EXPECT_EQ(c.state(waiting), "idle");
    EXPECT_EQ(c.state(held), "idle");
    EXPECT_TRUE(c.get(held.id()).body.at("lease").is_null());
    const value complete{
        {"lease_id", claim.text("/lease/id")}, {"lease_token", claim.text("/lease_token")}};
    const Answer late = in_process().ask(c.owner, "complete_lease", complete);
    EXPECT_EQ(late.status, 409);
    EXPECT_EQ(late.text("/code"), "lease_lost");
    c.change(c.queue, {{"queue", {{"enabled", true}}}});
    EXPECT_EQ(c.state(waiting), "ready");
    EXPECT_EQ(c.claim().text("/card/id"), held.text("/id"));
    EXPECT_EQ(c.claim().text("/card/id"), waiting.text("/id"));
}

TEST(ColumnChanges, AnotherOrderCountsForThoseWhoWait) {
    Columns c;
    const Answer first = c.card(c.queue, {{"due", "2031-01-02"}});
    const Answer second = c.card(c.queue, {{"due", "2031-01-01"}, {"priority", "low"}});
    const Answer third = c.card(c.queue, {{"priority", "high"}});
    const auto next_by = [&](const char* order) {
        c.change(c.queue, {{"queue", {{"order", order}}}});
        const Answer claim = c.claim();
        const value release{
            {"lease_id", claim.text("/lease/id")}, {"lease_token", claim.text("/lease_token")}};
        in_process().must(c.owner, "release_lease", release);
        return claim.text("/card/id");
    };
    EXPECT_EQ(next_by("due"), second.text("/id"));
    EXPECT_EQ(next_by("fifo"), first.text("/id"));
    EXPECT_EQ(next_by("priority"), third.text("/id"));
}

TEST(ColumnChanges, ColumnsMoveAmongTheOthers) {
    Columns c;
    EXPECT_THAT(c.order(), ElementsAre("Backlog", "Queue", "Done"));
    EXPECT_EQ(
        c.ask("move_column", c.done, {{"before_id", c.backlog.str()}}).number("/position"), 0
    );
    EXPECT_THAT(c.order(), ElementsAre("Done", "Backlog", "Queue"));
    EXPECT_EQ(c.ask("move_column", c.done, {{"after_id", c.backlog.str()}}).number("/position"), 1);
    EXPECT_THAT(c.order(), ElementsAre("Backlog", "Done", "Queue"));
    const Answer last = c.ask("move_column", c.backlog);
    EXPECT_EQ(last.number("/position"), 2);
    EXPECT_EQ(last.body, c.read(c.backlog).body);
    EXPECT_THAT(c.order(), ElementsAre("Done", "Queue", "Backlog"));
    EXPECT_EQ(c.ask("move_column", c.backlog).number("/version"), last.number("/version"));
    Columns other;
    for (const std::string& anchor : {other.done.str(), c.done.str()})
        EXPECT_EQ(c.ask("move_column", c.done, {{"after_id", anchor}}).status, 422);
    EXPECT_EQ(
        c.ask(
             "move_column", c.done, {{"after_id", c.queue.str()}, {"before_id", c.queue.str()}}
        ).status,
        422
    );
}

TEST(ColumnChanges, MovedAtOnceTheyKeepATotalOrder) {
    Columns c;
    std::vector<Uuid> columns;
    for (int i = 0; i < 8; ++i) columns.push_back(c.column({{"name", std::to_string(i)}}));
    std::vector<std::thread> threads;
    for (const Uuid& each : columns)
        threads.emplace_back([&, each] {
            for (int i = 0; i < 4; ++i)
                EXPECT_EQ(c.ask("move_column", each, {{"after_id", c.backlog.str()}}).status, 200);
        });
    for (auto& thread : threads) thread.join();
    const auto names = c.order();
    EXPECT_EQ(names.size(), 11U);
    EXPECT_EQ(names.front(), "Backlog");
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), 11U);
}

TEST(ColumnRemoval, SaysWhereTheCardsGo) {
    Columns c;
    for (const char* title : {"a", "b"}) c.card(c.backlog, {{"title", title}});
    c.card(c.done, {{"title", "old"}});
    const Answer archived = c.card(c.backlog);
    in_process().must(c.owner, "archive_card", {{"card_id", archived.text("/id")}});
    const Answer refused = c.ask("delete_column", c.backlog);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "column_not_empty");
    EXPECT_EQ(refused.text("/additional_data/count"), "2");
    in_process().forget_events();
    const Answer gone = c.ask("delete_column", c.backlog, {{"move_cards_to", c.done.str()}});
    EXPECT_EQ(gone.status, 204);
    EXPECT_THAT(c.titles(c.done), ElementsAre("old", "a", "b"));
    EXPECT_THAT(c.order(), ElementsAre("Queue", "Done"));
    // The archived one has another column as well, and another version.
    EXPECT_THAT(
        in_process().emitted(),
        UnorderedElementsAre("column.deleted", "card.moved", "card.moved", "card.moved")
    );
    EXPECT_EQ(c.read(c.backlog).status, 404);
    EXPECT_EQ(c.ask("delete_column", c.backlog).status, 404);
    const Answer back =
        in_process().must(c.owner, "restore_card", {{"card_id", archived.text("/id")}});
    EXPECT_EQ(back.text("/column_id"), c.done.str());
    const Answer page = in_process().must(c.owner, "list_cards", {{"column_id", c.done.str()}});
    for (const value& each : page.body.at("results").as_array())
        EXPECT_TRUE(each.at("completed_at").is_string());
}

TEST(ColumnRemoval, WithoutCardsTheNeighbourTakesWhatIsPutAway) {
    Columns c;
    const Answer archived = c.card(c.queue);
    in_process().must(c.owner, "archive_card", {{"card_id", archived.text("/id")}});
    EXPECT_EQ(c.ask("delete_column", c.queue).status, 204);
    EXPECT_EQ(c.get(archived.id()).text("/column_id"), c.backlog.str());
    EXPECT_EQ(c.ask("delete_column", c.done).status, 204);
    const Answer last = c.ask("delete_column", c.backlog);
    EXPECT_EQ(last.status, 409);
    EXPECT_EQ(last.text("/additional_data/reason"), "last_column");
}

TEST(ColumnRemoval, TakesTheCardsFromTheirWorkers) {
    Columns c;
    const Answer card = c.card(c.queue);
    const Answer claim = c.claim();
    in_process().forget_events();
    ASSERT_EQ(c.ask("delete_column", c.queue, {{"move_cards_to", c.backlog.str()}}).status, 204);
    EXPECT_TRUE(c.get(card.id()).body.at("lease").is_null());
    EXPECT_EQ(c.state(card), "idle");
    EXPECT_THAT(
        in_process().emitted(),
        UnorderedElementsAre("column.deleted", "card.moved", "lease.revoked")
    );
}

TEST(ColumnRemoval, LetsNoColumnSendCardsToWhereNothingIs) {
    Columns c;
    const Uuid other = c.column({{"name", "Other"}});
    c.change(
        c.queue,
        {{"queue",
          {{"on_complete_column_id", c.done.str().c_str()},
           {"on_exhausted_column_id", c.done.str()}}}}
    );
    ASSERT_EQ(c.ask("delete_column", c.done, {{"move_cards_to", other.str()}}).status, 204);
    EXPECT_EQ(c.read(c.queue).text("/queue/on_complete_column_id"), other.str());
    ASSERT_EQ(c.ask("delete_column", other).status, 204);
    const Answer queue = c.read(c.queue);
    EXPECT_TRUE(queue.body.at_pointer("/queue/on_complete_column_id").is_null());
    EXPECT_TRUE(queue.body.at_pointer("/queue/on_exhausted_column_id").is_null());
}

TEST(ColumnRemoval, IsRefusedWhereTheCardsCannotGo) {
    Columns c, other;
    const Uuid tight = c.column({{"name", "Tight"}, {"wip_limit", 2}, {"wip_policy", "hard"}});
    for (int i = 0; i < 2; ++i) c.card(c.backlog);
    c.card(tight);
    const Answer full = c.ask("delete_column", c.backlog, {{"move_cards_to", tight.str()}});
    EXPECT_EQ(full.status, 409);
    EXPECT_EQ(full.text("/code"), "wip_limit_reached");
    EXPECT_EQ(full.text("/additional_data/count"), "1");
    EXPECT_EQ(full.text("/additional_data/limit"), "2");
    for (const Uuid& nowhere : {other.done, c.backlog, new_uuid()})
        EXPECT_EQ(
            c.ask("delete_column", c.backlog, {{"move_cards_to", nowhere.str()}}).status, 422
        );
    EXPECT_EQ(c.titles(c.backlog).size(), 2U);
}

TEST(ColumnRemoval, LosesNoCardThatComesMeanwhile) {
    for (int round = 0; round < 5; ++round) {
        Columns c;
        std::vector<std::string> ids;
        for (int i = 0; i < 12; ++i) ids.push_back(c.card(c.done).text("/id"));
        std::vector<std::thread> threads;
        for (std::size_t t = 0; t < 3; ++t)
            threads.emplace_back([&, t] {
                for (std::size_t i = t; i < ids.size(); i += 3) {
                    const int status = in_process()
                                           .ask(
                                               c.owner,
                                               "move_card",
                                               {{"card_id", ids[i]}, {"column_id", c.backlog.str()}}
                                           )
                                           .status;
                    EXPECT_TRUE(status == 200 || status == 422) << status;
                }
            });
        threads.emplace_back([&] {
            const Answer gone =
                c.ask("delete_column", c.backlog, {{"move_cards_to", c.queue.str()}});
            EXPECT_EQ(gone.status, 204) << boost::json::serialize(gone.body);
        });
        for (auto& thread : threads) thread.join();
        EXPECT_EQ(c.titles(c.done).size() + c.titles(c.queue).size(), ids.size());
    }
}

TEST(ColumnRemoval, LosesNoChangeOfAnotherColumn) {
    for (int round = 0; round < 5; ++round) {
        Columns c;
        c.change(c.backlog, {{"queue", {{"on_complete_column_id", c.queue.str()}}}});
        for (int i = 0; i < 30; ++i) c.card(c.queue);
        std::thread renaming([&] {
            for (int i = 0; i < 8; ++i)
                c.change(c.backlog, {{"name", "Renamed"}, {"wip_limit", 5}});
        });
        const Answer gone = c.ask("delete_column", c.queue, {{"move_cards_to", c.done.str()}});
        renaming.join();
        EXPECT_EQ(gone.status, 204) << boost::json::serialize(gone.body);
        const Answer left = c.read(c.backlog);
        EXPECT_EQ(left.text("/name"), "Renamed");
        EXPECT_EQ(left.number("/wip_limit"), 5);
        EXPECT_EQ(left.text("/queue/on_complete_column_id"), c.done.str());
    }
}

TEST(ColumnRemoval, AndCardsThatComeBackDoNotHoldEachOtherUp) {
    for (int round = 0; round < 5; ++round) {
        Columns c;
        const std::string away = c.card(c.queue).text("/id");
        in_process().must(c.owner, "archive_card", {{"card_id", away}});
        std::thread coming([&] {
            EXPECT_EQ(in_process().ask(c.owner, "restore_card", {{"card_id", away}}).status, 200);
        });
        const Answer gone = c.ask("delete_column", c.queue, {{"move_cards_to", c.done.str()}});
        coming.join();
        EXPECT_EQ(gone.status, 204) << boost::json::serialize(gone.body);
        EXPECT_EQ(
            in_process().must(c.owner, "get_card", {{"card_id", away}}).text("/column_id"),
            c.done.str()
        );
    }
}

TEST(ColumnChanges, TakeTheRightToEditTheBoard) {
    Columns c;
    const Caller viewer = in_process().person(c.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    for (const char* operation : {"update_column", "move_column", "delete_column"}) {
        const value what{{"board_id", c.board.str()}, {"column_id", c.done.str()}};
        EXPECT_EQ(in_process().ask(viewer, operation, what).status, 403) << operation;
        EXPECT_EQ(in_process().ask(stranger, operation, what).status, 404) << operation;
    }
    in_process().must(c.owner, "archive_board", {{"board_id", c.board.str()}});
    EXPECT_EQ(c.change(c.done, {{"name", "X"}}).status, 409);
}

TEST(ColumnChanges, OneGapThatIsChosenTimeAndAgainFindsRoomAgain) {
    Columns c;
    in_process().run(
        "UPDATE columns SET position = 'V0000000' || repeat('V', 60) || left(position, 8) || 'V' "
        "WHERE board_id = '" +
        c.board.str() + "'"
    );
    const auto names = [&] {
        return in_process().run(
            "SELECT string_agg(name, ' ' ORDER BY position, id) FROM columns WHERE board_id = '" +
            c.board.str() + "'"
        );
    };
    const std::string before = names();
    const Uuid made = c.column({{"name", "New"}, {"before_id", c.done.str()}});
    EXPECT_EQ(names(), before.substr(0, before.rfind(' ')) + " New Done");
    const auto longest = [&] {
        return in_process().run(
            "SELECT max(length(position)) FROM columns WHERE board_id = '" + c.board.str() + "'"
        );
    };
    EXPECT_EQ(longest(), "8");
    in_process().run(
        "UPDATE columns SET position = 'V0000000' || repeat('V', 60) || position || 'V' "
        "WHERE board_id = '" +
        c.board.str() + "'"
    );
    EXPECT_EQ(c.ask("move_column", made, {{"after_id", c.backlog.str()}}).status, 200);
    EXPECT_EQ(names(), "Backlog New" + before.substr(before.find(' ')));
    EXPECT_EQ(longest(), "8");
}

TEST(ColumnChanges, ABoardHasAHundredColumnsAtMost) {
    Columns c;
    for (int i = 3; i < 100; ++i) c.column({{"name", "C"}});
    EXPECT_EQ(
        in_process().ask(
                        c.owner, "create_column", {{"board_id", c.board.str()}, {"name", "C"}}
        ).status,
        422
    );
}

}  // namespace svc::test
