// Whom and what the rich text of a property may mention.

#include "tests/unit/boards/property_fixture.hpp"

namespace svc::test {

using boost::json::array;
using boost::json::object;

TEST(RichTextValues, MentionPeopleDatesAndCards) {
    PropertyFixture properties;
    const std::string owner = properties.fixture.owner.id.str();
    const array text{
        object{{"text", {{"content", "Ask "}}}},
        object{{"mention", {{"user", {{"id", owner}}}}}},
        object{{"mention", {{"type", "page"}, {"page", {{"id", properties.other}}}}}},
        object{{"mention", {{"date", {{"start", "2026-06-19"}}}}}},
    };
    const Answer set = properties.set("rich_text", text);
    ASSERT_EQ(set.status, 200) << boost::json::serialize(set.body);
    const value shown = properties.shown("rich_text");
    const std::string key = properties.fixture.get(*Uuid::parse(properties.other)).text("/key");
    std::vector<std::string> plain;
    for (const value& each : shown.as_array())
        plain.emplace_back(each.at("plain_text").as_string());
    EXPECT_EQ(plain, (std::vector<std::string>{"Ask ", "@Olga Owner", key, "2026-06-19"}));
    EXPECT_EQ(shown.at(1).at("mention").at("type").as_string(), "user");
    EXPECT_EQ(
        shown.at(2).at("mention"), (value{{"type", "page"}, {"page", {{"id", properties.other}}}})
    );
    EXPECT_EQ(properties.set("rich_text", shown).status, 200) << "what a card shows is taken back";
    EXPECT_EQ(properties.shown("rich_text"), shown);
}

TEST(RichTextValues, MentionNobodyElse) {
    PropertyFixture properties;
    const auto mention = [](std::string_view what, const std::string& id) {
        return array{object{{"mention", {{what, {{"id", id}}}}}}};
    };
    BoardFixture elsewhere;
    const std::string foreign = elsewhere.card(elsewhere.backlog).id().str();
    for (const array& wrong :
         {mention("user", new_uuid().str()),
          mention("user", elsewhere.owner.id.str()),
          mention("page", new_uuid().str()),
          mention("page", foreign),
          mention("database", new_uuid().str()),
          array{object{{"mention", object()}}},
          array{object{{"type", "mention"}}}}) {
        const Answer refused = properties.set("rich_text", wrong);
        EXPECT_EQ(refused.status, 422) << boost::json::serialize(wrong);
        EXPECT_EQ(refused.text("/detail/0/loc/2"), "rich_text");
    }
}

TEST(RichTextValues, WhoeverIsMentionedAndLeavesMayStay) {
    PropertyFixture properties;
    InProcessServer& w = in_process();
    const Caller guest = w.person(properties.fixture.owner, OrgRole::member, "Gus Guest");
    const array text{object{{"mention", {{"user", {{"id", guest.id.str()}}}}}}};
    ASSERT_EQ(properties.set("rich_text", text).status, 200);
    const value shown = properties.shown("rich_text");
    w.run("DELETE FROM memberships WHERE user_id = '" + guest.id.str() + "'");
    EXPECT_EQ(properties.set("rich_text", shown).status, 200);
    EXPECT_EQ(properties.shown("rich_text"), shown);
    ASSERT_EQ(properties.set("rich_text", "nobody").status, 200);
    EXPECT_EQ(properties.set("rich_text", shown).status, 422);
}

}  // namespace svc::test
