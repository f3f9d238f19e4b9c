#include "modules/boards/lib/public_text.hpp"
#include "svc/as_json.hpp"

#include "modules/boards/lib/new_ids.hpp"
#include "modules/boards/lib/share_token.hpp"
#include "tests/support/timing.hpp"

#include <gtest/gtest.h>
#include <boost/json.hpp>

#include <chrono>

namespace svc::boards {

namespace {

/// What becomes of one string within JSON.
std::string shown(const std::string& text) {
    const auto json = public_text(boost::json::serialize(boost::json::value{{"a", text}}));
    return std::string(boost::json::parse(json).at("a").as_string());
}

}  // namespace

TEST(PublicText, FindsInMarkdownWhatBackslashesBreakUp) {
    const std::string secret = "svc_" + std::string(10, 'a') + "\\_-" + std::string(20, 'b');
    EXPECT_EQ(shown(with_whole_words("**" + secret + "** and `x`")), "**[hidden]** and `x`");
    EXPECT_EQ(shown(with_whole_words("\\_ada\\_@example.com!")), "[hidden]");
    const std::string other = "1\\. a\\*b\n\n  \\_c";
    EXPECT_EQ(with_whole_words(other), other);
}

TEST(PublicText, FindsInMarkdownWhatIsPrintedInTwoStyles) {
    const std::string half(15, 'a'), secret = "svc_" + half + "**" + half + "**";
    EXPECT_EQ(shown(with_whole_words("see " + secret + ".")), "see [hidden].");
    EXPECT_EQ(shown(with_whole_words("svc_" + half + "a~~" + half + "~~")), "[hidden]");
    EXPECT_EQ(shown(with_whole_words("svc_<u>" + half + half + "</u>")), "[hidden]");
    EXPECT_EQ(shown(with_whole_words("ada@**example**.com")), "[hidden]");
    EXPECT_EQ(shown(with_whole_words("**ada**@example.com")), "[hidden]");
    const std::string other = "**svc_a** `lt_b` a*b*c <u>d</u> ~~e~~";
    EXPECT_EQ(with_whole_words(other), other);
}

TEST(PublicText, FindsInMarkdownWhatIsALinkInPart) {
    const std::string half(15, 'a');
    for (const std::string& hidden :
         {"[svc_" + half + "](<https://x.y/>)" + half,
          "svc\\_[" + half + half + "](<https://x.y/>)",
          std::string("[link.ada](<https://x.y/>)@example.com"),
          std::string("ada[@example.com](<https://x.y/>)"),
          std::string("ada@[example.com](https://x.y/)")})
        EXPECT_EQ(shown(with_whole_words(hidden)), "[hidden]") << hidden;
    EXPECT_EQ(
        shown(with_whole_words("[a](<https://h/?m=joe%40corp.com>)")), "[a](<https:[hidden]>)"
    );
    const std::string other = "[a](<https://x.y/>) a[0] [b](c)";
    EXPECT_EQ(with_whole_words(other), other);
}

TEST(PublicText, FindsInRichTextWhatStandsInSeveralItems) {
    const auto said = [](const std::vector<std::string>& items) {
        RichTexts texts;
        for (const std::string& each : items) texts.push_back(rich_text::text_item(each));
        return plain_text_of(with_whole_words(texts));
    };
    EXPECT_EQ(said({"to ada", "@example.com", "!"}), "to [hidden]");
    EXPECT_EQ(said({"svc_", std::string(30, 'a')}), "[hidden]");
    EXPECT_EQ(said({"ada", " and ", "ben"}), "ada and ben");
    const JsonText value{
        R"({"id":"x","type":"rich_text","rich_text":)" +
        AsJson(RichTexts{rich_text::text_item("ada"), rich_text::text_item("@example.com")}).text +
        "}"};
    EXPECT_EQ(with_whole_words(value).text.find("example"), std::string::npos);
    const JsonText number{R"({"id":"x","type":"number","number":1})"};
    EXPECT_EQ(with_whole_words(number).text, number.text);
}

TEST(PublicText, FindsSecretsThatStickToSomething) {
    const std::string rest(43, 'a');
    EXPECT_EQ(shown("my_svc_" + rest), "my_[hidden]");
    EXPECT_EQ(shown("xsvc_" + rest), "x[hidden]");
    EXPECT_EQ(shown("my_lt_" + rest + " 0sl_" + rest), "my_[hidden] 0[hidden]");
    EXPECT_EQ(shown("?q=a%20svc_" + rest + "&m=b"), "?q=a%20[hidden]&m=b");
    EXPECT_EQ(shown("https://h/m=joe%40corp.com"), "https:[hidden]");
    for (const std::string other :
         {"the_default_configuration_of_everything_else", "my_svc_users", "100%40", "40%", "%4"})
        EXPECT_EQ(shown(other), other);
}

TEST(PublicText, HidesAddressesWhereverTheyStand) {
    EXPECT_EQ(shown("ada@example.com"), "[hidden]");
    EXPECT_EQ(shown("to ada.b+c@mail.example.com, please"), "to [hidden], please");
    EXPECT_EQ(shown("line\nada@example.com\nline"), "line\n[hidden]\nline");
    EXPECT_EQ(shown("tab\tada@example.com"), "tab\t[hidden]");
    EXPECT_EQ(
        shown("\x01"
              "ada@example.com"),
        "\x01[hidden]"
    );
    EXPECT_EQ(shown("\\ada@example.com"), "\\[hidden]");
    EXPECT_EQ(shown("\"ada l\"@example.com"), "\"ada l\"[hidden]");
    EXPECT_EQ(shown("jörg@bücher.example"), "[hidden]");
    EXPECT_EQ(shown("a@b@c"), "[hidden]");
    EXPECT_EQ(shown("https://joe:pw@example.com/x y"), "https://joe:[hidden] y");
}

TEST(PublicText, LeavesOtherTextAlone) {
    for (const char* text : {"", "@ada", "a @ b", "@", "me@", "svc_short", "slt_", "{}[]\"\\/"})
        EXPECT_EQ(shown(text), text);
}

TEST(PublicText, HidesSecretsByHowTheyBegin) {
    const std::string tail(43, 'x');
    for (const char* prefix : {"svc_", "lt_", "sl_", "whsec_"})
        EXPECT_EQ(shown("key " + (prefix + tail) + "."), "key [hidden].") << prefix;
    EXPECT_EQ(shown("line\nsvc_" + tail), "line\n[hidden]");
}

TEST(NewIds, ReplaceWholeStringsOnly) {
    NewIds ids;
    const Uuid old = new_uuid(), other = new_uuid();
    const Uuid now = ids.add(old);
    std::string text = R"({"id":")" + old.str() + R"(","x":"a )" + old.str() + R"(","y":")" +
                       other.str() + R"("})";
    const std::string expected = R"({"id":")" + now.str() + R"(","x":"a )" + old.str() +
                                 R"(","y":")" + other.str() + R"("})";
    ids.put_into(text);
    EXPECT_EQ(text, expected);
    EXPECT_FALSE(ids.find(other));
}

TEST(ShareToken, IsReadBackAndNothingElseIs) {
    const Uuid org = new_uuid();
    const ShareToken token(org), another(org);
    const auto read = ShareToken::parse(token.str());
    ASSERT_TRUE(read);
    EXPECT_EQ(read->org(), org);
    EXPECT_EQ(read->digest(), token.digest());
    EXPECT_NE(another.digest(), token.digest());
    const std::string text = token.str();
    for (const std::string& wrong :
         {std::string(), std::string("sl_"), text + "A", text.substr(1), text.substr(0, 66) + "!"})
        EXPECT_FALSE(ShareToken::parse(wrong)) << wrong;
}

// Shown to strangers, who have time.
TEST(PublicText, TakesNoTimeOutOfProportion) {
    for (const char* often : {"<", "\\<", "**<", "@", "svc_", "](", "[", "a%40"}) {
        const auto took = [&](std::size_t size) {
            std::string text;
            while (text.size() < size) text += often;
            return test::processor_time([&] { static_cast<void>(with_whole_words(text)); });
        };
        // Ten times as much takes no thirty times as long, at the best of several.
        bool in_proportion = false;
        for (int tries = 0; tries < 5 && !in_proportion; ++tries)
            in_proportion = took(1'000'000) < 30 * took(100'000);
        EXPECT_TRUE(in_proportion) << often;
    }
}

}  // namespace svc::boards
