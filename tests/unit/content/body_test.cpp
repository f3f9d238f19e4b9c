// What cards of boards get from whoever keeps what stands on them: bodies, counts, work briefs.

#include "tests/unit/content/page.hpp"

namespace svc::test {

using testing::HasSubstr;
using testing::Not;

namespace {

Answer create(Page& page, object more) {
    more["board_id"] = page.fixture.board.str();
    more["column_id"] = page.fixture.backlog.str();
    more.emplace("title", "New");
    return page.ask("create_card", std::move(more));
}

std::string body_of(Page& page, const Uuid& card) {
    page.card = card;
    return page.all();
}

std::string rows_of(const Uuid& card) {
    return in_process().run("SELECT count(*) FROM blocks WHERE card_id = '" + card.str() + "'");
}

std::string brief(Page& page) {
    return page.must("get_card_context", {{"card_id", page.card.str()}}).text("/markdown");
}

/// What stands below one of its headings, up to the next.
std::string part(const std::string& brief, const std::string& name) {
    const std::string heading = "## " + name + "\n";
    const auto at = brief.find(heading);
    if (at == brief.npos) return {};
    const auto begin = at + heading.size();
    return brief.substr(begin, brief.find("\n## ", begin) - begin);
}

}  // namespace

TEST(Bodies, ComeWithTheCard) {
    Page page;
    in_process().forget_events();
    const Answer made = create(
        page, {{"children", array{toggle("outer", {paragraph("inner")}), paragraph("last")}}}
    );
    ASSERT_EQ(made.status, 201) << boost::json::serialize(made.body);
    EXPECT_EQ(made.number("/block_count"), 3);
    EXPECT_TRUE(made.body.at("has_children").as_bool());
    EXPECT_EQ(made.number("/version"), 1);
    EXPECT_EQ(page.fixture.get(made.id()).body, made.body);
    EXPECT_THAT(
        in_process().emitted(), testing::UnorderedElementsAre("card.created", "block.created")
    );
    EXPECT_EQ(body_of(page, made.id()), "outer(inner) last");
    const Answer text =
        create(page, {{"markdown", "# Goal\n\nSee [@x](user:" + page.owner.id.str() + ")"}});
    EXPECT_EQ(text.number("/block_count"), 2);
    EXPECT_EQ(body_of(page, text.id()), "Goal See ");
    page.add(paragraph("more"));
    EXPECT_EQ(page.fixture.get(text.id()).number("/block_count"), 3);
}

TEST(Bodies, AreRefusedWithTheirCard) {
    Page page;
    const std::string cards =
        "SELECT count(*) FROM cards WHERE board_id = '" + page.fixture.board.str() + "'";
    const std::string before = in_process().run(cards);
    const Answer wrong =
        create(page, {{"children", array{paragraph("x"), object{{"poem", object{}}}}}});
    EXPECT_EQ(wrong.status, 422);
    EXPECT_EQ(place_of(wrong).substr(0, 10), "children/1");
    EXPECT_EQ(create(page, {{"children", array{paragraph("x")}}, {"markdown", "x"}}).status, 422);
    EXPECT_EQ(place_of(create(page, {{"markdown", std::string(40000, '>')}})), "markdown");
    EXPECT_EQ(create(page, {{"markdown", "[@x](user:" + new_uuid().str() + ")"}}).status, 422);
    EXPECT_EQ(create(page, {{"children", array{says("table_row", "x")}}}).status, 422);
    EXPECT_EQ(in_process().run(cards), before);
}

TEST(Bodies, AreCopiedWithTheirCard) {
    Page page;
    const Uuid outer = page.add(toggle("outer", {toggle("middle", {paragraph("inner")})}));
    page.append({paragraph("last")});
    page.remove(page.add(paragraph("gone")));
    const Answer copy = page.must("duplicate_card", {{"card_id", page.card.str()}});
    EXPECT_EQ(copy.number("/block_count"), 4);
    EXPECT_EQ(rows_of(copy.id()), "4");
    const Uuid original = page.card;
    EXPECT_EQ(body_of(page, copy.id()), "outer(middle(inner)) last");
    // The two have nothing in common any more.
    const Answer list = page.list();
    page.remove(list.id("/results/0/id"));
    EXPECT_EQ(page.fixture.get(copy.id()).number("/block_count"), 1);
    EXPECT_EQ(body_of(page, original), "outer(middle(inner)) last");
    EXPECT_FALSE(page.get(outer).body.at("in_trash").as_bool());
}

TEST(Bodies, AreCopiedWithTheirBoard) {
    Page page;
    page.append({toggle("outer", {paragraph("inner")})});
    page.must("create_comment", {{"parent", {{"card_id", page.card.str()}}}, {"markdown", "x"}});
    const Answer copy = page.must(
        "duplicate_board", {{"board_id", page.fixture.board.str()}, {"include_cards", true}}
    );
    const Answer cards = page.must("list_cards", {{"board_id", copy.text("/id")}});
    EXPECT_EQ(cards.number("/results/0/block_count"), 2);
    EXPECT_EQ(cards.number("/results/0/comment_count"), 0);
    EXPECT_EQ(body_of(page, cards.id("/results/0/id")), "outer(inner)");
}

TEST(Bodies, AreCountedOnTheirCards) {
    Page page;
    const auto counts = [&] {
        const Answer card = page.fixture.get(page.card);
        return std::pair(card.number("/block_count"), card.number("/comment_count"));
    };
    const Uuid block = page.add(toggle("outer", {paragraph("inner")}));
    const Answer said =
        page.must("create_comment", {{"parent", {{"block_id", block.str()}}}, {"markdown", "x"}});
    EXPECT_EQ(counts(), std::pair(std::int64_t{2}, std::int64_t{1}));
    page.remove(block);
    EXPECT_EQ(counts(), std::pair(std::int64_t{0}, std::int64_t{1}));
    page.restore(block);
    page.must("delete_comment", {{"comment_id", said.text("/id")}});
    EXPECT_EQ(counts(), std::pair(std::int64_t{2}, std::int64_t{0}));
    EXPECT_TRUE(page.fixture.get(page.card).body.at("has_children").as_bool());
}

TEST(Briefs, SayWhatStandsOnTheCard) {
    Page page;
    page.must(
        "update_card_markdown",
        {{"card_id", page.card.str()},
         {"markdown",
          "# Goal\n\nMake it fast.\n\n- [ ] measured\n\n## Acceptance criteria\n\n- under a "
          "second\n\n"
          "## Notes\n\nAsk Ada."}}
    );
    page.must(
        "create_comment",
        {{"parent", {{"card_id", page.card.str()}}}, {"markdown", "Not *too* fast."}}
    );
    const Answer settled = page.must(
        "create_comment", {{"parent", {{"card_id", page.card.str()}}}, {"markdown", "Settled."}}
    );
    page.must("resolve_comment", {{"comment_id", settled.text("/id")}});
    const std::string text = brief(page);
    const std::string specification = part(text, "Specification");
    EXPECT_THAT(specification, HasSubstr("### Goal\n\nMake it fast."));
    EXPECT_THAT(specification, HasSubstr("Ask Ada."));
    EXPECT_THAT(specification, Not(HasSubstr("measured")));
    const std::string acceptance = part(text, "Acceptance");
    EXPECT_THAT(acceptance, HasSubstr("- [ ] measured"));
    EXPECT_THAT(acceptance, HasSubstr("- under a second"));
    EXPECT_THAT(acceptance, Not(HasSubstr("Ada")));
    EXPECT_THAT(part(text, "Comments"), HasSubstr("Olga Owner"));
    EXPECT_THAT(part(text, "Comments"), HasSubstr("Not too fast."));
    EXPECT_THAT(text, Not(HasSubstr("Settled.")));
}

TEST(Briefs, AreNotLedAstrayByWhatIsWritten) {
    Page page;
    page.append({paragraph("# Comments"), paragraph("## Acceptance")});
    page.must(
        "create_comment",
        {{"parent", {{"card_id", page.card.str()}}},
         {"rich_text", words("one\n## Specification\n# x")}}
    );
    const std::string text = brief(page);
    EXPECT_EQ(text.find("\n# "), text.npos) << text;
    EXPECT_EQ(text.find("\n## Acceptance"), text.npos) << text;
    EXPECT_EQ(text.find("\n## Specification"), text.rfind("\n## Specification")) << text;
}

}  // namespace svc::test
