// Values of a board's properties, type by type.

#include "tests/unit/boards/property_fixture.hpp"

#include <gmock/gmock.h>

namespace svc::test {

namespace {

using boost::json::array;
using boost::json::object;

std::vector<std::string> names_in(const value& list) {
    std::vector<std::string> names;
    for (const value& each : list.as_array()) names.emplace_back(each.at("name").as_string());
    return names;
}

}  // namespace

TEST(Values, OfEveryTypeAreTakenBareAndShownWhole) {
    PropertyFixture properties;
    const std::string owner = properties.fixture.owner.id.str();
    const std::vector<std::pair<std::string, value>> bare{
        {"number", 2.5},
        {"number", -3},
        {"checkbox", true},
        {"checkbox", false},
        {"url", "https://example.org/a"},
        {"email", "ada@example.org"},
        {"phone_number", "+43 1 234"},
    };
    for (const auto& [type, to] : bare) {
        const Answer answer = properties.set(type, to);
        ASSERT_EQ(answer.status, 200) << boost::json::serialize(answer.body);
        const value whole = answer.body.at("properties").at(type);
        EXPECT_EQ(whole.at("type").as_string(), type);
        EXPECT_EQ(whole.at(type).is_number(), to.is_number());
        EXPECT_EQ(boost::json::serialize(whole.at(type)), boost::json::serialize(to));
        EXPECT_EQ(properties.fixture.get(*Uuid::parse(properties.card)).body, answer.body) << type;
    }
    EXPECT_EQ(properties.set("date", "2026-06-19").status, 200);
    EXPECT_EQ(
        properties.shown("date"),
        (value{{"start", "2026-06-19"}, {"end", nullptr}, {"time_zone", nullptr}})
    );
    EXPECT_EQ(properties.set("people", array{owner}).status, 200);
    EXPECT_EQ(properties.shown("people").at(0).at("name").as_string(), "Olga Owner");
    EXPECT_EQ(properties.set("relation", array{properties.other}).status, 200);
    EXPECT_EQ(properties.shown("relation"), (value(array{object{{"id", properties.other}}})));
    EXPECT_EQ(properties.set("rich_text", "Hello").status, 200);
    EXPECT_EQ(properties.shown("rich_text").at(0).at("plain_text").as_string(), "Hello");
}

TEST(Values, WhatACardShowsIsTakenBack) {
    PropertyFixture properties;
    properties.set("number", 7);
    properties.set("select", "Big");
    properties.set("multi_select", array{"a", "b"});
    properties.set("people", array{properties.fixture.owner.id.str()});
    properties.set("date", object{{"start", "2026-01-01"}, {"end", "2026-01-02T00:00:00Z"}});
    properties.set("rich_text", "Text");
    const value before = properties.fixture.get(*Uuid::parse(properties.card)).body;
    const Answer after = in_process().must(
        properties.fixture.owner,
        "update_card",
        {{"card_id", properties.card}, {"properties", before.at("properties")}}
    );
    EXPECT_EQ(after.body, before) << "nothing has changed, not even the version";
}

TEST(Values, WrongOnesAreRefusedWhereTheyAre) {
    PropertyFixture properties;
    const struct {
        std::string name;
        value to;
        std::string type;
    } wrong[] = {
        {"number", "many", "float_type"},
        {"checkbox", "yes", "bool_type"},
        {"url", "nowhere", "url_parsing"},
        {"email", "nobody", "value_error"},
        {"phone_number", value(std::string(65, '1')), "string_too_long"},
        {"date", "2026-06-19T10:00:00", "timezone_aware"},
        {"date", "soon", "datetime_parsing"},
        {"date", object{{"start", "2026-02-01"}, {"end", "2026-01-01"}}, "value_error"},
        {"date", object{{"end", "2026-01-01"}}, "missing"},
        {"select", 5, "value_error"},
        {"select", "  ", "value_error"},
        {"select", value(new_uuid().str()), "value_error"},
        {"select", value(std::string(101, 'x')), "string_too_long"},
        {"multi_select", "a", "list_type"},
        {"multi_select", array(101, value("a")), "too_long"},
        {"people", array{new_uuid().str()}, "value_error"},
        {"people", array{"nobody"}, "uuid_parsing"},
        {"relation", array{new_uuid().str()}, "value_error"},
        {"files", array{new_uuid().str()}, "value_error"},
        {"rich_text",
         array{object{{"text", {{"content", std::string(2001, 'x')}}}}},
         "string_too_long"},
        {"rich_text",
         array{object{{"type", "equation"}, {"text", {{"content", "x"}}}}},
         "value_error"},
        {"number", object{{"type", "select"}, {"number", 1}}, "extra_forbidden"},
        {"number", object{{"number", 1}, {"more", 1}}, "extra_forbidden"},
        {"nothing", 1, "value_error"},
    };
    for (const auto& [name, to, type] : wrong) {
        const Answer refused = properties.set(name, to);
        ASSERT_EQ(refused.status, 422) << name << boost::json::serialize(refused.body);
        EXPECT_EQ(refused.text("/detail/0/type"), type) << name << boost::json::serialize(to);
        EXPECT_EQ(refused.text("/detail/0/loc/1"), "properties");
        EXPECT_EQ(refused.text("/detail/0/loc/2"), name);
    }
    EXPECT_EQ(properties.fixture.get(*Uuid::parse(properties.card)).number("/version"), 1);
}

TEST(Values, OptionsAreFoundByIdAndNameWhateverTheCaseAndMadeWhenNew) {
    PropertyFixture properties;
    ASSERT_EQ(properties.set("select", "Größe").status, 200);
    const value first = properties.shown("select");
    EXPECT_EQ(first.at("color").as_string(), "default");
    EXPECT_EQ(properties.set("select", "Other").status, 200);
    EXPECT_EQ(properties.set("select", " GRÖßE ").status, 200);
    EXPECT_EQ(properties.shown("select"), first);
    EXPECT_EQ(properties.set("select", object{{"name", "größe"}}).status, 200);
    EXPECT_EQ(properties.set("select", object{{"id", first.at("id")}}).status, 200);
    EXPECT_EQ(properties.shown("select"), first);
    EXPECT_EQ(properties.set("multi_select", array{"a", "b", "A"}).status, 200);
    EXPECT_EQ(names_in(properties.shown("multi_select")), (std::vector<std::string>{"a", "b"}));
    EXPECT_THAT(in_process().emitted(), testing::Contains("property.updated"));
}

TEST(Values, ListsReplaceOrJoin) {
    PropertyFixture properties;
    properties.set("multi_select", array{"a", "b"});
    properties.set("multi_select", array{"b", "c"}, true);
    EXPECT_EQ(
        names_in(properties.shown("multi_select")), (std::vector<std::string>{"a", "b", "c"})
    );
    properties.set("multi_select", array(), true);
    EXPECT_EQ(names_in(properties.shown("multi_select")).size(), 3u);
    properties.set("multi_select", array{"c"});
    EXPECT_EQ(names_in(properties.shown("multi_select")), (std::vector<std::string>{"c"}));
}

TEST(Values, NullAndEmptyListsClearAndOthersStay) {
    PropertyFixture properties;
    properties.set("number", 1);
    properties.set("multi_select", array{"a"});
    properties.set("url", "https://example.org");
    properties.set("number", nullptr);
    properties.set("multi_select", array());
    const value left = properties.fixture.get(*Uuid::parse(properties.card)).body.at("properties");
    EXPECT_EQ(left.as_object().size(), 1u);
    EXPECT_TRUE(left.as_object().contains("url"));
}

TEST(Values, AreNamedByIdToo) {
    PropertyFixture properties;
    properties.set("number", 1);
    const std::string id(
        properties.fixture.get(*Uuid::parse(properties.card)).text("/properties/number/id")
    );
    EXPECT_EQ(properties.set(id, 2).status, 200);
    EXPECT_EQ(properties.set("NUMBER", 3).status, 200);
    EXPECT_EQ(properties.shown("number").to_number<int>(), 3);
}

TEST(Values, OfTypesThatNobodySetsAreRefused) {
    PropertyFixture properties;
    EXPECT_EQ(properties.set("created_time", "2020-01-01T00:00:00Z").status, 422);
    EXPECT_EQ(properties.set("created_time", nullptr).status, 422);
    EXPECT_EQ(properties.set("files", array{new_uuid().str()}).status, 422);
    EXPECT_EQ(properties.set("files", nullptr).status, 200);
    EXPECT_EQ(properties.fixture.get(*Uuid::parse(properties.card)).number("/version"), 1);
}

TEST(Values, NobodyRelatesToWhatHeCannotSee) {
    PropertyFixture properties;
    BoardFixture other;
    const std::string hidden = other.card(other.backlog).text("/id");
    EXPECT_EQ(properties.set("relation", array{hidden}).status, 422);
}

TEST(Values, AreSetWhenACardIsMadeAndCopiedWithIt) {
    PropertyFixture properties;
    const Answer made = properties.fixture.card(
        properties.fixture.backlog, {{"properties", {{"number", 5}, {"select", "New"}}}}
    );
    EXPECT_EQ(made.body, properties.fixture.get(made.id()).body);
    const Answer copy = in_process().must(
        properties.fixture.owner, "duplicate_card", {{"card_id", made.text("/id")}}
    );
    EXPECT_EQ(copy.body.at("properties"), made.body.at("properties"));
}

TEST(Values, ComeBackInTodaysWordsWhenACardIsReverted) {
    PropertyFixture properties;
    properties.set("select", "Small");
    properties.set("number", 1);
    const value small = properties.shown("select");
    properties.set("select", nullptr);
    properties.set("number", nullptr);
    const std::string property = in_process().run(
        "SELECT id FROM properties WHERE type = 'select' AND board_id = '" +
        properties.fixture.board.str() + "'"
    );
    in_process().must(
        properties.fixture.owner,
        "update_property",
        {{"board_id", properties.fixture.board.str()},
         {"property_id", property},
         {"name", "Size"},
         {"options", {{{"id", small.at("id")}, {"name", "Tiny"}}}}}
    );
    const Answer back = in_process().must(
        properties.fixture.owner, "revert_card", {{"card_id", properties.card}, {"version", 3}}
    );
    EXPECT_EQ(back.text("/properties/Size/select/name"), "Tiny");
    EXPECT_EQ(back.body.at_pointer("/properties/number/number").to_number<int>(), 1);
}

TEST(Values, ThatAreRequiredAreAskedForAndStay) {
    BoardFixture fixture;
    const std::string board = fixture.board.str();
    in_process().must(
        fixture.owner,
        "create_property",
        {{"board_id", board}, {"name", "Cost"}, {"type", "number"}, {"required", true}}
    );
    object what{{"board_id", board}, {"column_id", fixture.backlog.str()}, {"title", "Card"}};
    const auto refused = [&] {
        const Answer said = in_process().ask(fixture.owner, "create_card", what);
        EXPECT_EQ(said.status, 422);
        EXPECT_EQ(said.text("/detail/0/loc/2"), "Cost");
        return said.text("/detail/0/type");
    };
    EXPECT_EQ(refused(), "missing");
    what["properties"] = object{{"Cost", nullptr}};
    EXPECT_EQ(refused(), "value_error");
    what["properties"] = object{{"cost", 0}};
    const std::string card = in_process().must(fixture.owner, "create_card", what).text("/id");
    const auto change = [&](object to) {
        to["card_id"] = card;
        return in_process().ask(fixture.owner, "update_card", to).status;
    };
    EXPECT_EQ(change({{"properties", object{{"Cost", nullptr}}}}), 422);
    EXPECT_EQ(change({{"title", "Other"}}), 200);
    EXPECT_EQ(change({{"properties", object{{"Cost", 2}}}}), 200);
    EXPECT_EQ(in_process().must(fixture.owner, "duplicate_card", {{"card_id", card}}).status, 201);
}

TEST(Values, GoManyAtOnceInBatches) {
    PropertyFixture properties;
    const object tags{{"multi_select", {"b", "c"}}};
    properties.set("multi_select", array{"a"});
    const Answer done = in_process().must(
        properties.fixture.owner,
        "batch_cards",
        {{"operations",
          {{{"update",
             {{"card_id", properties.card}, {"properties", tags}, {"merge_properties", true}}}},
           {{"create",
             {{"board_id", properties.fixture.board.str()},
              {"column_id", properties.fixture.backlog.str()},
              {"title", "New"},
              {"properties", tags}}}}}}}
    );
    const value made = done.body.at_pointer("/results/1/card/properties/multi_select/multi_select");
    EXPECT_EQ(
        names_in(properties.shown("multi_select")), (std::vector<std::string>{"a", "b", "c"})
    );
    EXPECT_EQ(made.at(0), properties.shown("multi_select").at(1))
        << "an item finds what others made";
    const Answer wrong = in_process().ask(
        properties.fixture.owner,
        "batch_cards",
        {{"operations",
          {{{"update", {{"card_id", properties.card}, {"properties", {{"number", 9}}}}}},
           {{"update", {{"card_id", properties.other}, {"properties", {{"number", "x"}}}}}}}}}
    );
    EXPECT_EQ(wrong.status, 422);
    EXPECT_TRUE(properties.shown("number").is_null()) << "all or nothing";
}

TEST(Values, AreInListsAndSnapshots) {
    PropertyFixture properties;
    properties.set("number", 4);
    const Answer list = in_process().must(
        properties.fixture.owner, "list_cards", {{"column_id", properties.fixture.backlog.str()}}
    );
    EXPECT_EQ(list.body.at_pointer("/results/0/properties/number/number").to_number<int>(), 4);
    const Answer snapshot = in_process().must(
        properties.fixture.owner,
        "get_board_snapshot",
        {{"board_id", properties.fixture.board.str()}}
    );
    EXPECT_NE(boost::json::serialize(snapshot.body).find(R"("number":4)"), std::string::npos);
}

TEST(Values, TheSamePropertyTwiceOrTooMuchOfThemIsRefused) {
    PropertyFixture properties;
    properties.set("number", 1);
    const auto set = [&](object to) {
        return in_process()
            .ask(
                properties.fixture.owner,
                "update_card",
                {{"card_id", properties.card}, {"properties", to}}
            )
            .status;
    };
    EXPECT_EQ(set({{"number", 1}, {"NUMBER", 2}}), 422);
    array pages;
    for (int i = 0; i < 7; ++i)
        pages.push_back(object{{"text", {{"content", std::string(2000, 'x')}}}});
    EXPECT_EQ(set({{"rich_text", pages}}), 200);
    for (int i = 0; i < 3; ++i) pages.push_back(pages.front());
    EXPECT_EQ(set({{"rich_text", pages}}), 422) << "more than 32 KiB";
    std::string deep(R"({"card_id":")" + properties.card + R"(","properties":{"multi_select":)");
    deep += std::string(50, '[') + std::string(50, ']') + "}}";
    const Invoked answer = in_process().kernel().invoke(
        properties.fixture.owner,
        {.operation = "update_card", .arguments = deep, .surface = Surface::api}
    );
    EXPECT_EQ(answer.status, 422);
}

TEST(Values, PeopleWhoHaveLeftStayWhereTheyAreAndAreNotNamedAnew) {
    PropertyFixture properties;
    const Caller helper = in_process().person(properties.fixture.owner, OrgRole::member, "Hal");
    const std::string id = helper.id.str();
    ASSERT_EQ(properties.set("people", array{id}).status, 200);
    in_process().run("DELETE FROM memberships WHERE user_id = '" + id + "'");
    EXPECT_EQ(properties.set("people", array{properties.fixture.owner.id.str(), id}).status, 200);
    EXPECT_EQ(properties.shown("people").as_array().size(), 2u);
    EXPECT_EQ(properties.set("people", array{properties.fixture.owner.id.str()}).status, 200);
    EXPECT_EQ(properties.set("people", array{id}).status, 422);
}

}  // namespace svc::test
