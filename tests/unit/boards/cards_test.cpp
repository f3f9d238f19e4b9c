// Making and changing cards, on the real modules and database.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using testing::ElementsAre;

namespace {

std::vector<std::string> names_in(const value& list) {
    std::vector<std::string> names;
    for (const value& each : list.as_array()) names.emplace_back(each.at("name").as_string());
    return names;
}

}  // namespace

// ------------------------------------------------------------------------------------ making

TEST(Cards, CreatingAnswersWhatReadingGives) {
    BoardFixture fixture;
    const Caller helper = in_process().person(fixture.owner, OrgRole::member, "Hal");
    const Caller bot = in_process().agent(fixture.owner, OrgRole::member, "Bot");
    const Answer made = fixture.card(
        fixture.queue,
        {{"title", "  All of it  "},
         {"labels", {"urgent", "Größe"}},
         {"assignees", {helper.id.str(), bot.id.str()}},
         {"due", "2026-12-24T18:00:00+01:00"},
         {"start", "2026-12-01"},
         {"priority", "high"},
         {"estimate", 2.5},
         {"external_key", "crm-7"}}
    );
    EXPECT_EQ(made.status, 201);
    EXPECT_EQ(made.text("/title"), "All of it");
    EXPECT_EQ(made.text("/key"), "DES-1");
    EXPECT_EQ(made.text("/due"), "2026-12-24T17:00:00.000Z");
    EXPECT_EQ(made.text("/start"), "2026-12-01");
    EXPECT_EQ(made.text("/queue/state"), "ready");
    EXPECT_EQ(made.text("/assignees/1/principal_type"), "agent");
    EXPECT_THAT(names_in(made.body.at("labels")), ElementsAre("urgent", "Größe"));
    EXPECT_EQ(made.body, fixture.get(made.id()).body);
}

TEST(Cards, AreFoundByTheirKey) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.backlog);
    const Answer read = in_process().must(fixture.owner, "get_card", {{"card_id", "des-1"}});
    EXPECT_EQ(read.body, made.body);
    EXPECT_EQ(in_process().ask(fixture.owner, "get_card", {{"card_id", "DES-2"}}).status, 404);
    EXPECT_EQ(in_process().ask(fixture.owner, "get_card", {{"card_id", "nonsense"}}).status, 422);
}

TEST(Cards, NumbersAreUniqueUnderConcurrencyAndRefusals) {
    BoardFixture fixture;
    constexpr int threads = 8, each = 12;
    std::vector<std::thread> makers;
    for (int t = 0; t < threads; ++t)
        makers.emplace_back([&] {
            for (int i = 0; i < each; ++i) {
                fixture.card(fixture.backlog);
                const Answer refused = in_process().ask(
                    fixture.owner,
                    "create_card",
                    {{"board_id", fixture.board.str()},
                     {"column_id", fixture.backlog.str()},
                     {"title", "No"},
                     {"assignees", {new_uuid().str()}}}
                );
                EXPECT_EQ(refused.status, 422);
            }
        });
    for (auto& maker : makers) maker.join();
    EXPECT_EQ(
        in_process().run(
            "SELECT count(DISTINCT number) || ' of ' || count(*) FROM cards WHERE board_id = '" +
            fixture.board.str() + "'"
        ),
        "96 of 96"
    );
    const Answer board =
        in_process().must(fixture.owner, "get_board", {{"board_id", fixture.board.str()}});
    EXPECT_EQ(board.number("/card_count"), threads * each);
}

TEST(Cards, WhoMayOnlyLookMakesNone) {
    BoardFixture fixture;
    const Caller viewer = in_process().person(fixture.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    const value wanted{
        {"board_id", fixture.board.str()}, {"column_id", fixture.backlog.str()}, {"title", "No"}};
    EXPECT_EQ(in_process().ask(viewer, "create_card", wanted).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "create_card", wanted).status, 404);
    EXPECT_EQ(fixture.card(fixture.backlog).text("/key"), "DES-1");
}

TEST(Cards, AColumnOfAnotherBoardIsNoPlace) {
    BoardFixture fixture, other;
    const Answer refused = in_process().ask(
        fixture.owner,
        "create_card",
        {{"board_id", fixture.board.str()}, {"column_id", other.backlog.str()}, {"title", "No"}}
    );
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.text("/detail/0/loc/1"), "column_id");
}

TEST(Cards, AnExternalKeyMakesNoDouble) {
    BoardFixture fixture;
    const Answer first = fixture.card(fixture.backlog, {{"external_key", "job-1"}});
    const value same{
        {"board_id", fixture.board.str()},
        {"column_id", fixture.backlog.str()},
        {"title", "Again"},
        {"external_key", "job-1"}};
    const Answer refused = in_process().ask(fixture.owner, "create_card", same);
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/additional_data/reason"), "external_key_taken");
    EXPECT_EQ(refused.text("/additional_data/card_id"), first.text("/id"));
    // A card that is done no longer holds its key.
    in_process().must(
        fixture.owner,
        "move_card",
        {{"card_id", first.text("/id")}, {"column_id", fixture.done.str()}}
    );
    EXPECT_EQ(in_process().ask(fixture.owner, "create_card", same).status, 201);
    const Answer reopened = in_process().ask(
        fixture.owner,
        "move_card",
        {{"card_id", first.text("/id")}, {"column_id", fixture.backlog.str()}}
    );
    EXPECT_EQ(reopened.status, 409);
}

TEST(Cards, AnExternalKeyIsTakenOnceHoweverManyAskAtOnce) {
    BoardFixture fixture;
    std::atomic<int> made{0}, refused{0};
    std::vector<std::thread> threads;
    for (int t = 0; t < 8; ++t)
        threads.emplace_back([&] {
            const int status = in_process()
                                   .ask(
                                       fixture.owner,
                                       "create_card",
                                       {{"board_id", fixture.board.str()},
                                        {"column_id", fixture.backlog.str()},
                                        {"title", "Once"},
                                        {"external_key", "once"}}
                                   )
                                   .status;
            (status == 201 ? made : refused) += status == 201 || status == 409;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(refused, 7);
}

// ---------------------------------------------------------------------------------- changing

TEST(Cards, APatchTouchesOnlyWhatItNames) {
    BoardFixture fixture;
    const Answer made = fixture.card(
        fixture.backlog,
        {{"title", "Old"}, {"due", "2026-06-19"}, {"labels", {"a"}}, {"estimate", 3}}
    );
    const std::string id = made.text("/id");
    const Answer changed =
        in_process().must(fixture.owner, "update_card", {{"card_id", id}, {"title", "New"}});
    auto expected = made.body.as_object();
    expected["title"] = "New";
    expected["version"] = 2;
    expected["last_edited_time"] = changed.body.at("last_edited_time");
    EXPECT_EQ(changed.body, value(expected));
    EXPECT_EQ(fixture.get(made.id()).body, changed.body);

    const Answer cleared = in_process().must(
        fixture.owner,
        "update_card",
        {{"card_id", id}, {"due", nullptr}, {"estimate", nullptr}, {"priority", "urgent"}}
    );
    EXPECT_TRUE(cleared.body.at("due").is_null());
    EXPECT_TRUE(cleared.body.at("estimate").is_null());
    EXPECT_EQ(cleared.text("/priority"), "urgent");
    EXPECT_EQ(cleared.text("/title"), "New");
}

TEST(Cards, APatchThatChangesNothingLeavesTheVersion) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.backlog, {{"labels", {"a"}}});
    in_process().forget_events();
    for (boost::json::object same :
         {boost::json::object{}, {{"title", "Card"}}, {{"labels", {"A"}}}, {{"due", nullptr}}}) {
        same["card_id"] = made.text("/id");
        EXPECT_EQ(in_process().must(fixture.owner, "update_card", same).body, made.body);
    }
    EXPECT_TRUE(in_process().emitted().empty());
}

TEST(Cards, TitlesCannotBeCleared) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.backlog).text("/id");
    for (const value& bad : {value(nullptr), value(""), value("   ")})
        EXPECT_EQ(
            in_process().ask(
                            fixture.owner, "update_card", {{"card_id", id}, {"title", bad}}
            ).status,
            422
        );
}

TEST(Cards, ListsReplaceOrJoin) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.backlog, {{"labels", {"a", "b"}}}).text("/id");
    const Answer joined = in_process().must(
        fixture.owner,
        "update_card",
        {{"card_id", id}, {"labels", {"c", "B", "c"}}, {"merge_properties", true}}
    );
    EXPECT_THAT(names_in(joined.body.at("labels")), ElementsAre("a", "b", "c"));
    const Answer replaced =
        in_process().must(fixture.owner, "update_card", {{"card_id", id}, {"labels", {"c"}}});
    EXPECT_THAT(names_in(replaced.body.at("labels")), ElementsAre("c"));
    const Answer by_id = in_process().must(
        fixture.owner,
        "update_card",
        {{"card_id", id}, {"labels", {joined.text("/labels/0/id"), "c"}}}
    );
    EXPECT_THAT(names_in(by_id.body.at("labels")), ElementsAre("a", "c"));
    EXPECT_EQ(
        in_process()
            .ask(fixture.owner, "update_card", {{"card_id", id}, {"labels", {new_uuid().str()}}})
            .status,
        422
    );
}

TEST(Cards, NewLabelsThatDifferInCaseAloneAreOne) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.backlog, {{"labels", {"New", " new ", "É", "é"}}});
    EXPECT_THAT(names_in(made.body.at("labels")), ElementsAre("New", "É"));
    const Answer more = in_process().must(
        fixture.owner,
        "update_card",
        {{"card_id", made.text("/id")}, {"labels", {"NEW", "later", "Later"}}}
    );
    EXPECT_THAT(names_in(more.body.at("labels")), ElementsAre("New", "later"));
    EXPECT_THAT(
        names_in(fixture.card(fixture.backlog, {{"labels", {"ﬁ", "fi"}}}).body.at("labels")),
        ElementsAre("ﬁ", "fi")
    );
}

TEST(Cards, NewLabelsAreMadeOnceHoweverManyNameThemAtOnce) {
    BoardFixture fixture;
    std::vector<std::string> ids;
    for (int i = 0; i < 8; ++i) ids.push_back(fixture.card(fixture.backlog).text("/id"));
    std::vector<std::thread> threads;
    for (const std::string& id : ids)
        threads.emplace_back([&fixture, id] {
            in_process().must(
                fixture.owner, "update_card", {{"card_id", id}, {"labels", {"fresh", "new"}}}
            );
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM labels WHERE board_id = '" + fixture.board.str() + "'"
        ),
        "2"
    );
}

TEST(Cards, OnlyWhoIsInTheWorkspaceGetsWork) {
    BoardFixture fixture;
    const Caller stranger = in_process().owner_of_new_org("Other");
    const std::string id = fixture.card(fixture.backlog).text("/id");
    const Answer refused = in_process().ask(
        fixture.owner, "update_card", {{"card_id", id}, {"assignees", {stranger.id.str()}}}
    );
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(refused.number("/detail/0/loc/2"), 0);
}

TEST(Cards, ListsAreSentBackWithThoseWhoHaveLeft) {
    BoardFixture fixture;
    const std::string hal = in_process().person(fixture.owner, OrgRole::member, "Hal").id.str();
    const std::string bea = in_process().person(fixture.owner, OrgRole::member, "Bea").id.str();
    const std::string id = fixture.card(fixture.backlog, {{"assignees", {hal}}}).text("/id");
    in_process().run("DELETE FROM memberships WHERE user_id = '" + hal + "'");
    const auto update = [&](const std::string& card, const boost::json::array& assignees) {
        return in_process().ask(
            fixture.owner, "update_card", {{"card_id", card}, {"assignees", assignees}}
        );
    };
    const Answer both = update(id, {value(hal), value(bea)});
    EXPECT_EQ(both.text("/assignees/0/name"), "Hal");
    EXPECT_EQ(both.text("/assignees/1/name"), "Bea");
    EXPECT_EQ(update(id, {value(bea)}).status, 200);
    // Where they are not, they get no more work.
    EXPECT_EQ(update(id, {value(hal), value(bea)}).status, 422);
    EXPECT_EQ(update(fixture.card(fixture.backlog).text("/id"), {value(hal)}).status, 422);
}

TEST(Cards, ChangesAreToldWithWhatTheyWereBefore) {
    BoardFixture fixture;
    const Answer made = fixture.card(fixture.backlog, {{"title", "Old"}});
    in_process().forget_events();
    in_process().must(
        fixture.owner,
        "update_card",
        {{"card_id", made.text("/id")}, {"title", "New"}, {"assignees", {fixture.owner.id.str()}}}
    );
    EXPECT_THAT(in_process().emitted(), ElementsAre("card.updated", "card.assigned"));
    const value changes = boost::json::parse(
        in_process().run("SELECT changes FROM event_log WHERE kind = 'card.updated'")
    );
    EXPECT_EQ(changes.at("title").as_string(), "New");
    EXPECT_FALSE(changes.as_object().contains("due"));
    const value previous = boost::json::parse(
        in_process().run("SELECT previous FROM event_log WHERE kind = 'card.updated'")
    );
    EXPECT_EQ(previous.at("title").as_string(), "Old");
    EXPECT_EQ(
        in_process().run("SELECT column_id FROM event_log WHERE kind = 'card.updated'"),
        fixture.backlog.str()
    );
}

TEST(Cards, ABeforeHookMayRefuseAndThenNothingHappened) {
    BoardFixture fixture;
    const std::string id = fixture.card(fixture.backlog).text("/id");
    const auto before = fixture.get(*Uuid::parse(id)).body;
    static std::atomic<bool> refuse{false};
    static const bool once = [] {
        in_process().kernel().veto(
            in_process().kernel().event_kind("card.moved"),
            [](Call&, const Event&) -> Verdict {
                if (!refuse) return allow;
                return Refusal{"not_today", "Nothing moves today."};
            }
        );
        return true;
    }();
    ASSERT_TRUE(once);
    refuse = true;
    const Answer refused = in_process().ask(
        fixture.owner, "move_card", {{"card_id", id}, {"column_id", fixture.queue.str()}}
    );
    refuse = false;
    EXPECT_EQ(refused.status, 409);
    EXPECT_EQ(refused.text("/code"), "not_today");
    EXPECT_EQ(fixture.get(*Uuid::parse(id)).body, before);
}

}  // namespace svc::test
