// What a card said before, who changed it, and the way back.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <random>
#include <set>

namespace svc::test {

using testing::ElementsAre;

namespace {

struct Story {
    BoardFixture fixture;
    std::string card;

    Story()
        : card(fixture.card(fixture.backlog, {{"title", "One"}, {"labels", {"a"}}}).text("/id")) {}

    Answer update(boost::json::object what) {
        what["card_id"] = card;
        return in_process().must(fixture.owner, "update_card", what);
    }
    Answer move(const Uuid& column) {
        return in_process().must(
            fixture.owner, "move_card", {{"card_id", card}, {"column_id", column.str()}}
        );
    }
    Answer revert(std::int64_t version) {
        return in_process().ask(
            fixture.owner, "revert_card", {{"card_id", card}, {"version", version}}
        );
    }
    Answer list(const char* operation, boost::json::object query = {}) {
        query["card_id"] = card;
        return in_process().must(fixture.owner, operation, query);
    }
};

std::vector<std::string> texts(const Answer& page, std::string_view member) {
    std::vector<std::string> found;
    for (const value& each : page.body.at("results").as_array())
        found.push_back(boost::json::serialize(each.at(member)));
    return found;
}

}  // namespace

TEST(Versions, AreListedNewestFirstWithWhatTheyChanged) {
    Story story;
    story.update({{"title", "Two"}, {"priority", "high"}});
    story.move(story.fixture.queue);
    const Answer page = story.list("list_card_versions");
    EXPECT_THAT(texts(page, "version"), ElementsAre("3", "2", "1"));
    EXPECT_EQ(page.text("/results/0/kind"), "card.moved");
    EXPECT_EQ(page.body.at_pointer("/results/1/changed_fields"), (value{"priority", "title"}));
    EXPECT_TRUE(page.body.at_pointer("/results/2/changed_fields").as_array().empty());
    EXPECT_EQ(page.text("/results/2/edited_by/name"), "Olga Owner");
}

TEST(Versions, PagesGoOnWhereTheyEnded) {
    Story story;
    for (int i = 0; i < 6; ++i) story.update({{"title", "Title " + std::to_string(i)}});
    std::vector<std::string> all;
    boost::json::object query{{"page_size", 2}};
    for (;;) {
        const Answer page = story.list("list_card_versions", query);
        std::ranges::copy(texts(page, "version"), std::back_inserter(all));
        if (page.body.at("next_cursor").is_null()) break;
        query["start_cursor"] = page.body.at("next_cursor");
        story.update({{"title", "While reading"}, {"estimate", all.size()}});
    }
    EXPECT_THAT(all, ElementsAre("7", "6", "5", "4", "3", "2", "1"));
}

TEST(Reverting, BringsBackEveryFieldAsANewVersion) {
    Story story;
    const Caller helper = in_process().person(story.fixture.owner, OrgRole::member, "Hal");
    const std::string parent = story.fixture.card(story.fixture.backlog).text("/id");
    const value first = story
                            .update(
                                {{"title", "Full"},
                                 {"labels", {"b", "c"}},
                                 {"assignees", {helper.id.str()}},
                                 {"due", "2026-01-01"},
                                 {"start", "2026-01-01T00:00:00Z"},
                                 {"priority", "urgent"},
                                 {"estimate", 3.5},
                                 {"parent_card_id", parent},
                                 {"external_key", "k"}}
                            )
                            .body;
    const value second = story
                             .update(
                                 {{"title", "Empty"},
                                  {"labels", boost::json::array()},
                                  {"assignees", boost::json::array()},
                                  {"due", nullptr},
                                  {"start", nullptr},
                                  {"priority", "none"},
                                  {"estimate", nullptr},
                                  {"parent_card_id", nullptr},
                                  {"external_key", nullptr}}
                             )
                             .body;
    const auto same_but_version = [](value a, const value& b) {
        for (const char* key : {"version", "last_edited_time"}) a.as_object()[key] = b.at(key);
        return a == b;
    };
    for (int round = 0; round < 3; ++round) {
        const Answer back = story.revert(2);
        ASSERT_EQ(back.status, 200) << boost::json::serialize(back.body);
        EXPECT_TRUE(same_but_version(first, back.body)) << boost::json::serialize(back.body);
        EXPECT_EQ(story.fixture.get(back.id()).body, back.body);
        const Answer forth = story.revert(3);
        EXPECT_TRUE(same_but_version(second, forth.body)) << boost::json::serialize(forth.body);
        EXPECT_EQ(forth.number("/version"), 5 + 2 * round);
    }
    EXPECT_EQ(
        in_process().run(
            "SELECT count(*) FROM card_assignees WHERE card_id = '" + story.card + "'"
        ),
        "0"
    );
}

TEST(Reverting, LeavesTheCardWhereItStands) {
    Story story;
    story.update({{"title", "Two"}});
    story.move(story.fixture.done);
    const Answer back = story.revert(1);
    EXPECT_EQ(back.text("/title"), "One");
    EXPECT_EQ(back.text("/column_id"), story.fixture.done.str());
    EXPECT_FALSE(back.body.at("completed_at").is_null());
}

TEST(Reverting, ToHowItIsChangesNothing) {
    Story story;
    story.move(story.fixture.queue);
    EXPECT_EQ(story.revert(1).number("/version"), 2);
    EXPECT_EQ(story.revert(2).number("/version"), 2);
}

TEST(Reverting, AParentThatIsGoneDoesNotComeBack) {
    Story story;
    const auto parent = [&] { return story.fixture.card(story.fixture.backlog).text("/id"); };
    const std::string gone = parent(), now = parent();
    story.update({{"parent_card_id", gone}, {"title", "Then"}});
    story.update({{"parent_card_id", now}, {"title", "Now"}});
    in_process().must(story.fixture.owner, "delete_card", {{"card_id", gone}});
    const Answer back = story.revert(2);
    EXPECT_EQ(back.text("/title"), "Then");
    EXPECT_EQ(back.text("/parent_card_id"), now);
}

TEST(Reverting, RefusesWhatIsNoLongerPossible) {
    Story story;
    EXPECT_EQ(story.revert(7).status, 422);
    EXPECT_EQ(story.revert(0).status, 422);
    story.update({{"external_key", "k"}});
    story.update({{"external_key", nullptr}});
    const std::string rival =
        story.fixture.card(story.fixture.backlog, {{"external_key", "k"}}).text("/id");
    EXPECT_EQ(story.revert(2).text("/additional_data/reason"), "external_key_taken");
    in_process().must(
        story.fixture.owner, "update_card", {{"card_id", rival}, {"external_key", nullptr}}
    );
    story.update({{"parent_card_id", rival}});
    story.update({{"parent_card_id", nullptr}});
    in_process().must(
        story.fixture.owner, "update_card", {{"card_id", rival}, {"parent_card_id", story.card}}
    );
    EXPECT_EQ(story.revert(4).text("/additional_data/reason"), "circle");
    const Caller viewer = in_process().person(story.fixture.owner, OrgRole::viewer, "Vi");
    const value wanted{{"card_id", story.card}, {"version", 1}};
    EXPECT_EQ(in_process().ask(viewer, "revert_card", wanted).status, 403);
    in_process().must(story.fixture.owner, "delete_card", {{"card_id", story.card}});
    EXPECT_EQ(story.revert(1).text("/additional_data/reason"), "card_in_trash");
}

TEST(Reverting, WhoHasLeftDoesNotComeBack) {
    Story story;
    const Caller helper = in_process().person(story.fixture.owner, OrgRole::member, "Hal");
    story.update({{"assignees", {helper.id.str()}}, {"title", "With Hal"}});
    story.update({{"assignees", boost::json::array()}});
    in_process().run("DELETE FROM memberships WHERE user_id = '" + helper.id.str() + "'");
    const Answer back = story.revert(2);
    EXPECT_EQ(back.text("/title"), "With Hal");
    EXPECT_TRUE(back.body.at("assignees").as_array().empty());
}

TEST(Reverting, KeepsWhatNoEditClearsAndLeavesOutPeopleWhoHaveLeft) {
    Story story;
    const Caller helper = in_process().person(story.fixture.owner, OrgRole::member, "Hal");
    const auto property = [&](const char* name, const char* type, bool required) {
        in_process().must(
            story.fixture.owner,
            "create_property",
            {{"board_id", story.fixture.board.str()},
             {"name", name},
             {"type", type},
             {"required", required}}
        );
    };
    property("Crew", "people", false);
    story.update({{"properties", {{"Crew", {story.fixture.owner.id.str(), helper.id.str()}}}}});
    story.update({{"properties", {{"Crew", nullptr}}}});
    property("Severity", "select", true);
    story.update({{"properties", {{"Severity", "high"}}}});
    in_process().run("DELETE FROM memberships WHERE user_id = '" + helper.id.str() + "'");
    const Answer back = story.revert(2);
    ASSERT_EQ(back.status, 200) << boost::json::serialize(back.body);
    EXPECT_EQ(back.text("/properties/Severity/select/name"), "high");
    const auto& crew = back.body.at_pointer("/properties/Crew/people").as_array();
    ASSERT_EQ(crew.size(), 1U);
    EXPECT_EQ(crew.at(0).at("id").as_string(), story.fixture.owner.id.str());
}

TEST(Activity, SaysWhatItWasBeforeAndIsAfterwards) {
    Story story;
    story.update({{"title", "Two"}});
    story.move(story.fixture.queue);
    const Answer page = story.list("list_card_activity");
    EXPECT_THAT(
        texts(page, "kind"), ElementsAre("\"card.moved\"", "\"card.updated\"", "\"card.created\"")
    );
    EXPECT_EQ(page.text("/results/1/changes/title"), "Two");
    EXPECT_EQ(page.text("/results/1/previous/title"), "One");
    EXPECT_EQ(page.text("/results/0/actor/name"), "Olga Owner");
    EXPECT_EQ(page.text("/results/0/via"), "api");
    EXPECT_EQ(page.text("/results/2/action"), "create_card");
}

TEST(Activity, HasTheTimeOfACardThatWasCompleteFromTheStart) {
    BoardFixture fixture;
    for (const boost::json::object& with : {boost::json::object{}, {{"labels", {"a"}}}}) {
        boost::json::object what = with;
        what["title"] = "Done before";
        const Answer card = fixture.card(fixture.done, what);
        const Answer page =
            in_process().must(fixture.owner, "list_card_activity", {{"card_id", card.text("/id")}});
        EXPECT_EQ(page.text("/results/0/changes/completed_at"), card.text("/completed_at"));
    }
}

TEST(Activity, PagesGoOnWhereTheyEndedWhateverComesMeanwhile) {
    Story story;
    for (int i = 0; i < 9; ++i) story.update({{"estimate", i}});
    std::vector<std::string> ids;
    boost::json::object query{{"page_size", 3}};
    for (;;) {
        const Answer page = story.list("list_card_activity", query);
        std::ranges::copy(texts(page, "id"), std::back_inserter(ids));
        if (page.body.at("next_cursor").is_null()) break;
        query["start_cursor"] = page.body.at("next_cursor");
        story.update({{"title", "While reading " + std::to_string(ids.size())}});
    }
    EXPECT_EQ(ids.size(), 10u);
    EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(Activity, IsForThoseWhoMaySeeTheCard) {
    Story story;
    const Caller stranger = in_process().owner_of_new_org("Other");
    const Caller viewer = in_process().person(story.fixture.owner, OrgRole::viewer, "Vi");
    for (const char* operation : {"list_card_activity", "list_card_versions", "get_card_context"}) {
        const value card{{"card_id", story.card}};
        EXPECT_EQ(in_process().ask(stranger, operation, card).status, 404) << operation;
        EXPECT_EQ(in_process().ask(viewer, operation, card).status, 200) << operation;
        EXPECT_EQ(in_process().ask(viewer, operation, {{"card_id", "DES-1"}}).status, 200)
            << operation;
        EXPECT_EQ(in_process().ask(viewer, operation, {{"card_id", "DES-77"}}).status, 404);
    }
}

// -------------------------------------------------------------------- what a version takes

TEST(Versions, HoldWhatWasChangedAndNoMore) {
    Story story;
    in_process().must(
        story.fixture.owner,
        "create_property",
        {{"board_id", story.fixture.board.str()}, {"name", "Text"}, {"type", "rich_text"}}
    );
    boost::json::array items;
    for (int i = 0; i < 7; ++i)
        items.push_back(boost::json::value{
            {"text", {{"content", std::string(1900, static_cast<char>('a' + i % 26))}}}});
    story.update({{"properties", {{"Text", items}}}});
    for (int i = 0; i < 20; ++i) story.update({{"title", "Title " + std::to_string(i)}});
    const std::string bytes = in_process().run(
        "SELECT sum(octet_length(fields::text)) FROM card_versions WHERE card_id = '" + story.card +
        "'"
    );
    EXPECT_LT(std::stol(bytes), 5'000);
    EXPECT_EQ(story.revert(4).text("/title"), "Title 1");
    EXPECT_EQ(
        story.fixture.get(Uuid::parse(story.card).value())
            .body.at_pointer("/properties/Text/rich_text")
            .as_array()
            .size(),
        7U
    );
    story.revert(1);
    EXPECT_TRUE(
        story.fixture.get(Uuid::parse(story.card).value()).body.at("properties").as_object().empty()
    );
}

// Rows that hold every field are there as well: those that were written before, and one in 32.
TEST(Reverting, FindsEveryVersionHoweverItWasKept) {
    Story story;
    for (const char* name : {"Effort", "Rank"})
        in_process().must(
            story.fixture.owner,
            "create_property",
            {{"board_id", story.fixture.board.str()}, {"name", name}, {"type", "number"}}
        );
    std::mt19937 engine(3);
    std::map<std::int64_t, value> said;
    const auto fields = [](const value& card) {
        boost::json::object out;
        for (const char* each : {"title", "priority", "estimate", "labels", "due", "properties"})
            out[each] = card.at(each);
        return value(out);
    };
    for (int i = 0; i < 120; ++i) {
        boost::json::object what;
        const auto number = static_cast<int>(engine() % 100);
        switch (engine() % 6) {
            case 0: what["title"] = "T" + std::to_string(number); break;
            case 1: what["estimate"] = number % 3 ? value(number) : value(nullptr); break;
            case 2:
                what["labels"] = number % 2 ? value{"x", "y"} : value(boost::json::array());
                break;
            case 3: what["due"] = number % 3 ? value("2026-06-19") : value(nullptr); break;
            case 4:
                what["properties"] = {{"Effort", number % 3 ? value(number) : value(nullptr)}};
                break;
            default: what["properties"] = {{"Rank", number % 3 ? value(number) : value(nullptr)}};
        }
        const Answer card = story.update(what);
        said[card.number("/version")] = fields(card.body);
    }
    const std::string whole = in_process().run(
        "SELECT count(*) FROM card_versions WHERE whole AND card_id = '" + story.card + "'"
    );
    EXPECT_GE(std::stoi(whole), 2);
    for (int i = 0; i < 40; ++i) {
        auto some = said.begin();
        std::advance(some, static_cast<int>(engine() % 60));
        const Answer back = story.revert(some->first);
        ASSERT_EQ(back.status, 200);
        EXPECT_EQ(fields(back.body), some->second) << some->first;
    }
}

}  // namespace svc::test
