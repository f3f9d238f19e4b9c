// Work briefs: put together from parts, and as the service answers them.

#include "modules/boards/lib/brief.hpp"
#include "modules/boards/lib/value_text.hpp"
#include "tests/support/in_process_server.hpp"

#include <gmock/gmock.h>

namespace svc::test {

using boards::Brief;
using boards::BriefPart;
using boards::BriefText;
using testing::HasSubstr;
using testing::Not;

namespace {

std::string lines(const std::string& word, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += word + " " + std::to_string(i) + "\n";
    return text;
}

}  // namespace

TEST(Brief, PutsPartsInTheirOrderUnderOneHeadingEach) {
    const Brief brief = boards::compose(
        "# A\n",
        {{BriefPart::comments, "late\n"},
         {BriefPart::specification, "what"},
         {BriefPart::comments, "later\n"},
         {BriefPart::acceptance, ""}},
        1000
    );
    EXPECT_EQ(brief.markdown, "# A\n\n## Specification\n\nwhat\n\n## Comments\n\nlate\nlater\n");
    EXPECT_FALSE(brief.truncated);
    EXPECT_EQ(brief.tokens, boards::count_tokens(brief.markdown));
}

TEST(Brief, NeverExceedsWhatItMayBe) {
    for (const std::int64_t most : {1, 5, 20, 200, 333, 1000}) {
        const Brief brief = boards::compose(
            "# Über alles\n" + lines("- Kopf", 30),
            {{BriefPart::specification, lines("spécification", 200)},
             {BriefPart::acceptance, lines("- [ ] done", 3)},
             {BriefPart::comments, lines("comment", 300), true}},
            most
        );
        EXPECT_LE(boards::count_tokens(brief.markdown), most);
        EXPECT_TRUE(brief.truncated);
    }
}

TEST(Brief, ShortPartsStayWholeAndLongOnesShareTheRest) {
    const Brief brief = boards::compose(
        "# A\n",
        {{BriefPart::specification, lines("spec", 400)},
         {BriefPart::acceptance, lines("- [ ] check", 3)},
         {BriefPart::comments, lines("comment", 400), true}},
        400
    );
    EXPECT_THAT(brief.markdown, HasSubstr("- [ ] check 0\n- [ ] check 1\n- [ ] check 2\n"));
    EXPECT_THAT(brief.markdown, HasSubstr("spec 0\n"));
    EXPECT_THAT(brief.markdown, Not(HasSubstr("spec 399\n")));
    EXPECT_THAT(brief.markdown, HasSubstr("comment 399\n"));
    EXPECT_THAT(brief.markdown, Not(HasSubstr("comment 0\n")));
    EXPECT_GT(brief.tokens, 360);
}

TEST(Brief, ALineIsOneLineWhateverItHolds) {
    EXPECT_EQ(boards::one_line(" a\n# b\t\r\n  c "), "a # b c");
    EXPECT_EQ(boards::one_line("\n\n"), "");
}

TEST(Brief, CharactersAreNeverCutInTwo) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += "ü";
    for (std::int64_t most = 3; most < 40; ++most) {
        const Brief brief = boards::compose("", {{BriefPart::comments, text}}, most);
        EXPECT_EQ(
            std::ranges::count(brief.markdown, '\xc3'), std::ranges::count(brief.markdown, '\xbc')
        ) << most;
    }
}

TEST(ValueText, SaysWhatPeopleWouldWrite) {
    const auto text = [](const char* json) { return boards::text_of_value({json}); };
    EXPECT_EQ(text(R"({"type":"number","number":2.5})"), "2.5");
    EXPECT_EQ(text(R"({"type":"checkbox","checkbox":true})"), "true");
    EXPECT_EQ(text(R"({"type":"select","select":{"id":"x","name":"Big","color":"red"}})"), "Big");
    EXPECT_EQ(
        text(R"({"type":"people","people":[{"id":"1","name":"Ada"},{"id":"2","name":"Bob"}]})"),
        "Ada, Bob"
    );
    EXPECT_EQ(
        text(R"({"type":"rich_text","rich_text":[{"plain_text":"a "},{"plain_text":"b"}]})"), "a b"
    );
    EXPECT_EQ(
        text(R"({"type":"date","date":{"start":"2026-01-01","end":"2026-02-01"}})"),
        "2026-01-01 to 2026-02-01"
    );
    EXPECT_EQ(text("null"), "");
    EXPECT_EQ(text(R"({"number":1})"), "");
}

// --------------------------------------------------------------------------------- as answered

namespace {

std::string brief_of(const Caller& caller, const std::string& card, int most = 4000) {
    return in_process().must(
                           caller, "get_card_context", {{"card_id", card}, {"max_tokens", most}}
    ).text("/markdown");
}

}  // namespace

TEST(Context, TellsWhatTheCardIsAndWhatItHangsOn) {
    BoardFixture fixture;
    const std::string whole = fixture.card(fixture.backlog, {{"title", "Whole thing"}}).text("/id");
    const std::string first = fixture.card(fixture.backlog, {{"title", "First"}}).text("/id");
    const Answer card = fixture.card(
        fixture.queue,
        {{"title", "Second"},
         {"labels", {"bug"}},
         {"assignees", {fixture.owner.id.str()}},
         {"due", "2026-01-01"},
         {"priority", "high"},
         {"parent_card_id", whole},
         {"blocked_by", {first}}}
    );
    const std::string brief = brief_of(fixture.owner, card.text("/id"));
    for (const char* line :
         {"# DES-3 Second\n",
          "- Board: Desk\n",
          "- Column: Queue\n",
          "- Priority: high\n",
          "- Due: 2026-01-01\n",
          "- Labels: bug\n",
          "- Assignees: Olga Owner\n",
          "- Part of: DES-1 Whole thing (open)\n",
          "## Has to be done first\n",
          "- DES-2 First: open, in Backlog\n"})
        EXPECT_THAT(brief, HasSubstr(line));
    EXPECT_THAT(brief_of(fixture.owner, first), HasSubstr("- Holds up: DES-3 Second (open)\n"));
}

TEST(Context, TellsOfEarlierAttemptsAndOfWhatTheBlockersLeftBehind) {
    BoardFixture fixture;
    const std::string first = fixture.card(fixture.queue, {{"title", "First"}}).text("/id");
    const Answer claim = fixture.claim();
    in_process().must(
        fixture.owner,
        "complete_lease",
        {{"lease_id", claim.text("/lease/id")},
         {"lease_token", claim.text("/lease_token")},
         {"result", {{"commit", "abc123"}}}}
    );
    const std::string second =
        fixture.card(fixture.queue, {{"title", "Second"}, {"blocked_by", {first}}}).text("/id");
    const Answer failed = fixture.claim();
    in_process().must(
        fixture.owner,
        "fail_lease",
        {{"lease_id", failed.text("/lease/id")},
         {"lease_token", failed.text("/lease_token")},
         {"error", "the tests do not pass"}}
    );
    const std::string brief = brief_of(fixture.owner, second);
    EXPECT_THAT(brief, HasSubstr("- DES-1 First: done"));
    EXPECT_THAT(brief, HasSubstr("abc123"));
    EXPECT_THAT(brief, HasSubstr("## Earlier attempts\n"));
    EXPECT_THAT(brief, HasSubstr("- Attempt 1 failed at "));
    EXPECT_THAT(brief, HasSubstr("the tests do not pass"));
}

TEST(Context, NamesNothingOfWhatTheCallerCannotSee) {
    BoardFixture fixture;
    const Caller helper = in_process().person(fixture.owner, OrgRole::member, "Hal");
    const Answer secret = in_process().must(
        fixture.owner, "create_board", {{"name", "Secret"}, {"visibility", "private"}}
    );
    const std::string column =
        in_process().must(
                        fixture.owner, "list_columns", {{"board_id", secret.text("/id")}}
        ).text("/results/0/id");
    const std::string hidden =
        in_process()
            .must(
                fixture.owner,
                "create_card",
                {{"board_id", secret.text("/id")}, {"column_id", column}, {"title", "Takeover"}}
            )
            .text("/id");
    const std::string card =
        fixture.card(
                   fixture.backlog, {{"blocked_by", {hidden}}, {"parent_card_id", hidden}}
        ).text("/id");
    EXPECT_THAT(brief_of(fixture.owner, card), HasSubstr("Takeover"));
    const std::string seen = brief_of(helper, card);
    EXPECT_THAT(seen, Not(HasSubstr("Takeover")));
    EXPECT_THAT(seen, HasSubstr("a card that you cannot see"));
}

TEST(Context, TheETagIsTheSameAsLongAsTheTextIs) {
    BoardFixture fixture;
    const std::string card = fixture.card(fixture.backlog).text("/id");
    const std::string other = fixture.card(fixture.backlog, {{"title", "Other"}}).text("/id");
    const auto etag = [&] {
        return in_process().must(
                               fixture.owner, "get_card_context", {{"card_id", card}}
        ).text("/etag");
    };
    const std::string before = etag();
    EXPECT_EQ(etag(), before);
    in_process().must(fixture.owner, "update_card", {{"card_id", card}, {"blocked_by", {other}}});
    const std::string blocked = etag();
    EXPECT_NE(blocked, before);
    in_process().must(
        fixture.owner, "move_card", {{"card_id", other}, {"column_id", fixture.done.str()}}
    );
    EXPECT_NE(etag(), blocked) << "another card's change may change the brief";
}

TEST(Context, StaysWithinItsLength) {
    BoardFixture fixture;
    const std::string card =
        fixture.card(fixture.backlog, {{"title", std::string(500, 'x')}}).text("/id");
    const Answer brief = in_process().must(
        fixture.owner, "get_card_context", {{"card_id", card}, {"max_tokens", 200}}
    );
    EXPECT_LE(brief.number("/token_count"), 200);
    EXPECT_EQ(
        in_process()
            .ask(fixture.owner, "get_card_context", {{"card_id", card}, {"max_tokens", 100}})
            .status,
        422
    );
}

}  // namespace svc::test
