// Properties of boards: their definitions, and the cards that show them.

#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

#include <set>

namespace svc::test {

using testing::ElementsAre;

namespace {

struct Properties : BoardFixture {
    Answer ask(std::string_view operation, boost::json::object what) {
        what["board_id"] = board.str();
        return in_process().ask(owner, operation, what);
    }
    Answer make(boost::json::object what) { return ask("create_property", std::move(what)); }
    Answer change(const std::string& id, boost::json::object what) {
        what["property_id"] = id;
        return ask("update_property", std::move(what));
    }
    value on_board() {
        return in_process().must(
                               owner, "get_board", {{"board_id", board.str()}}
        ).body.at("properties");
    }
    std::vector<std::string> names() {
        std::vector<std::string> names;
        const value all = on_board();
        for (std::size_t i = 0; i < all.as_array().size(); ++i) {
            EXPECT_EQ(all.at(i).at("position").as_int64(), static_cast<std::int64_t>(i));
            names.emplace_back(all.at(i).at("name").as_string());
        }
        return names;
    }
    /// Gives a new card this value, as a card shows it.
    Uuid card_with(const value& property, const value& content) {
        const Uuid id = card(backlog).id();
        const std::string type(property.at("type").as_string());
        const value shown{
            {property.at("name").as_string(),
             {{"id", property.at("id")}, {"type", type}, {type, content}}}};
        in_process().run(
            "UPDATE cards SET properties = '" + boost::json::serialize(shown) + "' WHERE id = '" +
            id.str() + "'"
        );
        return id;
    }
    value shown(const Uuid& card) { return get(card).body.at("properties"); }
};

const boost::json::array three_sizes{
    {{"name", "S"}, {"color", "green"}}, {{"name", "M"}}, {{"name", "L"}, {"color", "red"}}};

}  // namespace

TEST(Properties, OfEveryTypeAreMadeAndReadBack) {
    Properties p;
    const std::vector<std::string> types{
        "rich_text",
        "number",
        "select",
        "multi_select",
        "status",
        "people",
        "date",
        "checkbox",
        "url",
        "email",
        "phone_number",
        "relation",
        "files",
        "unique_id",
        "created_time",
        "created_by",
        "last_edited_time",
        "last_edited_by"};
    for (std::size_t i = 0; i < types.size(); ++i) {
        const Answer made = p.make({{"name", "A " + types[i]}, {"type", types[i]}});
        ASSERT_EQ(made.status, 201) << types[i];
        EXPECT_EQ(made.text("/object"), "property");
        EXPECT_EQ(p.on_board().at(i), made.body);
    }
    EXPECT_EQ(p.make({{"name", "No"}, {"type", "formula"}}).status, 422);
}

TEST(Properties, OptionsHaveIdsAndColors) {
    Properties p;
    const Answer made = p.make({{"name", "Size"}, {"type", "select"}, {"options", three_sizes}});
    ASSERT_EQ(made.status, 201);
    EXPECT_EQ(made.text("/options/0/color"), "green");
    EXPECT_EQ(made.text("/options/1/color"), "default");
    std::set<std::string> ids;
    for (const value& each : made.body.at("options").as_array())
        ids.emplace(each.at("id").as_string());
    EXPECT_EQ(ids.size(), 3U);
    // What was read of one property can be sent to make another.
    const Answer copy =
        p.make({{"name", "Copy"}, {"type", "multi_select"}, {"options", made.body.at("options")}});
    ASSERT_EQ(copy.status, 201);
    EXPECT_FALSE(ids.contains(copy.text("/options/0/id")));
}

TEST(Properties, WhatDoesNotFitTheTypeIsRefusedAtItsField) {
    Properties p;
    const auto refused = [&](boost::json::object what) {
        what["name"] = "X";
        const Answer said = p.make(std::move(what));
        EXPECT_EQ(said.status, 422);
        return said.text("/detail/0/loc/1");
    };
    EXPECT_EQ(refused({{"type", "number"}, {"options", three_sizes}}), "options");
    EXPECT_EQ(refused({{"type", "select"}, {"number_format", "percent"}}), "number_format");
    EXPECT_EQ(refused({{"type", "created_by"}, {"required", true}}), "required");
    const boost::json::array twice{{{"name", "Ä"}}, {{"name", "ä"}}};
    EXPECT_EQ(refused({{"type", "status"}, {"options", twice}}), "options");
    EXPECT_THAT(p.names(), ElementsAre());
}

TEST(Properties, NamesAreUniqueWhateverTheCase) {
    Properties p;
    const std::string id = p.make({{"name", "Größe"}, {"type", "number"}}).text("/id");
    const std::string other = p.make({{"name", "Wert"}, {"type", "number"}}).text("/id");
    const Answer again = p.make({{"name", "GRÖßE"}, {"type", "url"}});
    EXPECT_EQ(again.status, 409);
    EXPECT_EQ(again.text("/additional_data/reason"), "name_taken");
    EXPECT_EQ(p.change(other, {{"name", "größe"}}).status, 409);
    EXPECT_EQ(p.change(id, {{"name", "größe"}}).status, 200) << "its own name in another case";
}

TEST(Properties, MadeAtOnceNoNameIsGivenTwice) {
    Properties p;
    std::atomic<int> made{0}, taken{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, i] {
            const Answer said = p.make({{"name", i % 2 ? "Same" : "same"}, {"type", "date"}});
            made += said.status == 201;
            taken += said.status == 409;
        });
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(made, 1);
    EXPECT_EQ(taken, 7);
}

TEST(Properties, StandAtTheRankTheyAreGiven) {
    Properties p;
    std::map<std::string, std::string> ids;
    for (const char* name : {"a", "b", "c", "d"})
        ids[name] = p.make({{"name", name}, {"type", "number"}}).text("/id");
    p.change(ids["d"], {{"position", 1}});
    EXPECT_THAT(p.names(), ElementsAre("a", "d", "b", "c"));
    p.change(ids["a"], {{"position", 100}});
    EXPECT_THAT(p.names(), ElementsAre("d", "b", "c", "a"));
    p.make({{"name", "e"}, {"type", "number"}, {"position", 0}});
    EXPECT_THAT(p.names(), ElementsAre("e", "d", "b", "c", "a"));
    EXPECT_EQ(p.ask("delete_property", {{"property_id", ids["b"]}}).status, 204);
    EXPECT_THAT(p.names(), ElementsAre("e", "d", "c", "a"));
}

TEST(Properties, APatchTouchesOnlyWhatItWasSent) {
    Properties p;
    const Answer made =
        p.make({{"name", "Cost"}, {"type", "number"}, {"number_format", "euro"}, {"required", true}}
        );
    const std::string id = made.text("/id");
    const std::vector<std::pair<std::string, value>> changes{
        {"name", "Price"}, {"number_format", nullptr}, {"required", false}, {"type", "number"}};
    value before = made.body;
    for (const auto& [field, to] : changes) {
        const Answer after = p.change(id, {{field, to}});
        ASSERT_EQ(after.status, 200) << field;
        const bool differs = before.at(field) != to;
        before.as_object()[field] = to;
        if (differs) before.as_object()["version"] = before.at("version").as_int64() + 1;
        EXPECT_EQ(after.body, before) << field;
        EXPECT_EQ(p.on_board().at(0), before) << field;
    }
    EXPECT_EQ(p.change(id, {}).body, before);
    EXPECT_EQ(p.change(id, {{"type", "url"}}).text("/detail/0/loc/1"), "type");
    EXPECT_EQ(p.change(id, {{"name", nullptr}}).status, 422);
    EXPECT_EQ(p.change(id, {{"options", three_sizes}}).status, 422);
    EXPECT_EQ(p.change(new_uuid().str(), {{"name", "X"}}).status, 404);
}

TEST(Properties, CardsFollowARename) {
    Properties p;
    const Answer made = p.make({{"name", "Cost"}, {"type", "number"}});
    const Uuid card = p.card_with(made.body, 5);
    p.change(made.text("/id"), {{"name", "Price"}});
    EXPECT_EQ(p.shown(card).at_pointer("/Price/number"), 5);
    EXPECT_FALSE(p.shown(card).as_object().contains("Cost"));
    EXPECT_EQ(p.get(card).number("/version"), 1);
}

TEST(Properties, CardsFollowTheirOptions) {
    Properties p;
    const Answer size = p.make({{"name", "Size"}, {"type", "select"}, {"options", three_sizes}});
    const Answer tags =
        p.make({{"name", "Tags"}, {"type", "multi_select"}, {"options", three_sizes}});
    const auto& sizes = size.body.at("options").as_array();
    const auto& all = tags.body.at("options").as_array();
    const Uuid small = p.card_with(size.body, sizes[0]), large = p.card_with(size.body, sizes[2]);
    const Uuid many = p.card_with(tags.body, boost::json::array{all[2], all[0]});
    const Uuid one = p.card_with(tags.body, boost::json::array{all[0]});

    // S goes, L is renamed, a new one comes first.
    const auto rest = [](const auto& options) {
        return boost::json::array{
            {{"name", "New"}},
            {{"id", options[2].at("id")}, {"name", "Large"}},
            {{"id", options[1].at("id")}, {"name", "M"}, {"color", "blue"}}};
    };
    const Answer after = p.change(size.text("/id"), {{"options", rest(sizes)}, {"name", "Width"}});
    ASSERT_EQ(after.status, 200);
    EXPECT_EQ(after.text("/options/1/color"), "red") << "it keeps its color";
    ASSERT_EQ(p.change(tags.text("/id"), {{"options", rest(all)}}).status, 200);
    EXPECT_EQ(p.shown(small), value(boost::json::object()));
    EXPECT_EQ(p.shown(large).at_pointer("/Width/select"), after.body.at_pointer("/options/1"));
    EXPECT_EQ(p.shown(many).at_pointer("/Tags/multi_select").as_array().size(), 1U);
    EXPECT_EQ(p.shown(many).at_pointer("/Tags/multi_select/0/name"), "Large");
    EXPECT_EQ(p.shown(one), value(boost::json::object()));
    const boost::json::array foreign{{{"id", new_uuid().str()}, {"name", "X"}}};
    EXPECT_EQ(p.change(size.text("/id"), {{"options", foreign}}).status, 422);
}

TEST(Properties, ARemovedOneLeavesTheCards) {
    Properties p;
    const Answer made = p.make({{"name", "Cost"}, {"type", "number"}});
    const Uuid card = p.card_with(made.body, 5);
    in_process().forget_events();
    const value arguments{{"board_id", p.board.str()}, {"property_id", made.text("/id")}};
    EXPECT_EQ(in_process().must(p.owner, "delete_property", arguments).status, 204);
    EXPECT_EQ(p.shown(card), value(boost::json::object()));
    EXPECT_EQ(in_process().ask(p.owner, "delete_property", arguments).status, 404);
    EXPECT_THAT(in_process().emitted(), ElementsAre("property.deleted"));
    const std::string changes = in_process().run("SELECT changes FROM event_log");
    EXPECT_EQ(boost::json::parse(changes), value({{"in_trash", true}}));
}

TEST(Properties, ViewersAndStrangersChangeNothing) {
    Properties p;
    const Answer made = p.make({{"name", "Cost"}, {"type", "number"}});
    const Caller viewer = in_process().person(p.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Other");
    boost::json::object what{{"board_id", p.board.str()}, {"name", "X"}, {"type", "url"}};
    EXPECT_EQ(in_process().ask(viewer, "create_property", what).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "create_property", what).status, 404);
    what["property_id"] = made.text("/id");
    what.erase("type");
    EXPECT_EQ(in_process().ask(viewer, "update_property", what).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "update_property", what).status, 404);
    what.erase("name");
    EXPECT_EQ(in_process().ask(viewer, "delete_property", what).status, 403);
    EXPECT_EQ(in_process().ask(stranger, "delete_property", what).status, 404);
    EXPECT_THAT(p.names(), ElementsAre("Cost"));
}

TEST(Properties, ABoardHasAHundredAtMost) {
    Properties p;
    for (int i = 0; i < 100; ++i)
        ASSERT_EQ(p.make({{"name", "P" + std::to_string(i)}, {"type", "number"}}).status, 201);
    EXPECT_EQ(p.make({{"name", "P100"}, {"type", "number"}}).status, 422);
}

namespace {

/// A hundred options with names as long as they may be.
boost::json::array long_options(std::string_view letter) {
    boost::json::array options;
    for (int i = 100; i < 200; ++i) {
        std::string name = std::to_string(i);
        for (int j = 3; j < 100; ++j) name += letter;
        options.push_back(boost::json::object{{"name", name}});
    }
    return options;
}

}  // namespace

TEST(Properties, TheOptionsOfABoardTakeHalfAMebibyteTogether) {
    Properties p;
    std::vector<std::string> made;
    const auto make = [&](std::string_view letter) {
        return p.make(
            {{"name", "P" + std::to_string(made.size())},
             {"type", "select"},
             {"options", long_options(letter)}}
        );
    };
    Answer said = make("\xF0\x9F\x90\x9D");
    for (; said.status == 201; said = make("\xF0\x9F\x90\x9D")) {
        made.push_back(said.text("/id"));
        ASSERT_LE(made.size(), 12U);
    }
    EXPECT_EQ(made.size(), 11U);
    EXPECT_EQ(said.status, 422);
    EXPECT_EQ(said.text("/detail/0/loc/1"), "options");
    const Answer board = in_process().must(p.owner, "get_board", {{"board_id", p.board.str()}});
    const std::size_t size = boost::json::serialize(board.body).size();
    EXPECT_GT(size, 450'000U);
    EXPECT_LT(size, 600'000U);

    // Shorter ones make room.
    EXPECT_EQ(p.change(made[0], {{"options", long_options("x")}}).status, 200);
    EXPECT_EQ(make("x").status, 201);
    EXPECT_EQ(p.change(made[0], {{"options", long_options("\xF0\x9F\x90\x9D")}}).status, 422);
    EXPECT_EQ(p.change(made[0], {{"name", "Renamed"}}).status, 200);
}

TEST(Properties, AListOfBoardsWithManyEndsAPageSooner) {
    Properties p;
    for (int i = 0; i < 11; ++i) {
        const Uuid board =
            in_process().must(
                            p.owner, "create_board", {{"name", "B" + std::to_string(100 + i)}}
            ).id();
        in_process().run(
            "INSERT INTO properties (org_id, board_id, id, name, name_key, type, options, required,"
            " position) SELECT '" +
            p.owner.org_id->str() + "', '" + board.str() +
            "', gen_random_uuid(), 'P', 'p', 'select', (SELECT jsonb_agg(jsonb_build_object('id',"
            " gen_random_uuid(), 'name', repeat('x', 400) || n, 'color', 'red')) FROM"
            " generate_series(1, 1000) n), false, 0"
        );
    }
    std::vector<std::string> names;
    boost::json::object what{{"page_size", 100}};
    for (int pages = 0; pages < 20; ++pages) {
        const Answer page = in_process().must(p.owner, "list_boards", what);
        EXPECT_LE(boost::json::serialize(page.body.at("results")).size(), std::size_t{1} << 20);
        for (const value& each : page.body.at("results").as_array())
            names.emplace_back(each.at("name").as_string());
        if (page.body.at("next_cursor").is_null()) break;
        what["start_cursor"] = page.text("/next_cursor");
    }
    EXPECT_EQ(names.size(), 12U) << "these, and the one that is there from the beginning";
    EXPECT_EQ(std::set<std::string>(names.begin(), names.end()).size(), names.size());
    EXPECT_TRUE(std::ranges::is_sorted(names));
}

}  // namespace svc::test
