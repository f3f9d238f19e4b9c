#include "modules/notifications/lib/mentions.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

namespace svc::notifications {
namespace {

constexpr const char* one = "0192f0c1-2d3e-7f40-8123-456789abcdef";
constexpr const char* other = "0192f0c1-2d3e-7f40-8123-456789abcdee";

json::value text(const char* content) { return {{"type", "text"}, {"plain_text", content}}; }
json::value mention(const char* id) {
    return {
        {"type", "mention"},
        {"mention", {{"type", "user"}, {"user", {{"object", "user"}, {"id", id}}}}},
        {"plain_text", "@Bob"}
    };
}

TEST(Mentions, AreFoundAnywhereWithTheTextTheyStandIn) {
    const json::value within{
        {"blocks",
         {{{"type", "paragraph"},
           {"paragraph", {{"rich_text", {text("Ask "), mention(one)}}}},
           {"children", {{{"paragraph", {{"rich_text", {mention(other), text(" knows")}}}}}}}},
          {{"paragraph", {{"rich_text", {text("again "), mention(one)}}}}}}}
    };
    const auto found = mentions_in(within);
    ASSERT_EQ(found.size(), 2u);
    using Texts = std::vector<Mention>;
    EXPECT_EQ(found.at(Uuid::parse(one).value()), (Texts{{"Ask @Bob", std::nullopt}}));
    EXPECT_EQ(found.at(Uuid::parse(other).value()), (Texts{{"@Bob knows", std::nullopt}}));
}

TEST(Mentions, KnowTheInnermostBlockThatTheyStandIn) {
    constexpr const char* outer = "0192f0c1-2d3e-7f40-8123-000000000001";
    constexpr const char* inner = "0192f0c1-2d3e-7f40-8123-000000000002";
    const json::value within{
        {"blocks",
         {{{"object", "block"},
           {"id", outer},
           {"paragraph", {{"rich_text", {mention(one)}}}},
           {"children",
            {{{"object", "block"}, {"id", inner}, {"paragraph", {{"rich_text", {mention(other)}}}}}}
           }}}}
    };
    const auto found = mentions_in(within);
    EXPECT_EQ(found.at(Uuid::parse(one).value()).front().block, Uuid::parse(outer));
    EXPECT_EQ(found.at(Uuid::parse(other).value()).front().block, Uuid::parse(inner));
}

TEST(Mentions, OfOneInSeveralBlocksAreOneForEach) {
    constexpr const char* first = "0192f0c1-2d3e-7f40-8123-000000000001";
    constexpr const char* second = "0192f0c1-2d3e-7f40-8123-000000000002";
    const auto block = [](const char* id, json::array texts) {
        return json::value{
            {"object", "block"}, {"id", id}, {"paragraph", {{"rich_text", std::move(texts)}}}
        };
    };
    const json::value within{
        {"blocks",
         {block(first, {mention(one), text(" and "), mention(one)}), block(second, {mention(one)})}}
    };
    const std::vector<Mention> expected{
        {"@Bob and @Bob", Uuid::parse(first)}, {"@Bob", Uuid::parse(second)}
    };
    EXPECT_EQ(mentions_in(within).at(Uuid::parse(one).value()), expected);
}

TEST(Mentions, AreOfPeopleAndNotOfDaysOrCards) {
    const json::value within{
        {{"mention", {{"type", "date"}, {"date", {{"start", "2026-01-01"}}}}}},
        {{"mention", {{"type", "page"}, {"page", {{"id", one}}}}}},
        {{"mention", "nothing"}},
        {{"mention", {{"user", {{"id", "no id"}}}}}},
        {{"truncated", true}}
    };
    EXPECT_TRUE(mentions_in(within).empty());
}

TEST(Mentions, HoldNoMoreOfATextThanIsShown) {
    const std::string words(50'000, 'x');
    const auto found = mentions_in(json::array{mention(one), text(words.c_str()), mention(other)});
    ASSERT_EQ(found.size(), 2u);
    for (const auto& [person, mentions] : found)
        EXPECT_EQ(mentions.front().text, "@Bob" + words.substr(0, longest_body - 5) + "…");
}

TEST(Mentions, TextsAreCutBetweenCharacters) {
    EXPECT_EQ(beginning("äöü", 3), "äöü");
    EXPECT_EQ(beginning("äöüß", 3), "äö…");
    EXPECT_EQ(beginning("", 3), "");
    EXPECT_EQ(one_line("a\nb\tc", 10), "a b c");
}

}  // namespace
}  // namespace svc::notifications
