// What may become of a card's blocks, on the real modules and database.

#include "tests/support/letters.hpp"
#include "tests/unit/content/page.hpp"

namespace svc::test {

using testing::ElementsAre;

// ------------------------------------------------------------------------------------- adding

TEST(Blocks, AreReadInTheOrderInWhichTheyWereAdded) {
    Page page;
    page.append({paragraph("a"), toggle("b", {paragraph("c"), toggle("d", {paragraph("e")})})});
    page.append({paragraph("f")});
    EXPECT_EQ(page.all(), "a b(c d(e)) f");
}

TEST(Blocks, StandWhereTheRequestSays) {
    Page page;
    const auto ids = page.append({paragraph("a"), paragraph("b")});
    page.append({paragraph("0")}, {{"position", {{"type", "start"}}}});
    page.append({paragraph("a1"), paragraph("a2")}, {{"position", after(ids[0])}});
    page.append({paragraph("a3")}, {{"after", ids[0].str()}});
    page.append({paragraph("z")}, {{"position", {{"type", "end"}}}});
    EXPECT_EQ(page.all(), "0 a a3 a1 a2 b z");
}

TEST(Blocks, AThousandAtOneSpotKeepTheirOrder) {
    Page page;
    const auto ids = page.append({paragraph("first"), paragraph("last")});
    std::string expected;
    for (int round = 0; round < 10; ++round) {
        array blocks;
        for (int i = 0; i < 100; ++i) blocks.push_back(paragraph(std::to_string(i)));
        page.append(blocks, {{"position", after(ids[0])}});
    }
    const Answer list = page.list();
    EXPECT_TRUE(list.body.at("has_more").as_bool());
    const auto& first = list.body.at("results").as_array();
    EXPECT_EQ(said(first[0]), "first");
    for (int i = 1; i < 100; ++i) EXPECT_EQ(said(first[i]), std::to_string(i - 1));
}

TEST(Blocks, AClientMayBringTheirIds) {
    Page page;
    const Uuid wished = new_uuid();
    object block = paragraph("mine");
    block["id"] = wished.str();
    EXPECT_EQ(page.add(block), wished);
    // Taken by now, so it is passed over; likewise the card's own, and one named twice.
    EXPECT_NE(page.add(block), wished);
    block["id"] = page.card.str();
    EXPECT_NE(page.add(block), page.card);
    object twin = paragraph("twin");
    twin["id"] = new_uuid().str();
    const auto twins = page.append({twin, twin});
    EXPECT_NE(twins[0], twins[1]);
}

TEST(Blocks, AnAppendIsMadeWholeOrNotAtAll) {
    Page page;
    const Answer refused =
        page.try_append({paragraph("fine"), object{{"code", {{"color", "red"}}}}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(place_of(refused), "children/1/code/color");
    EXPECT_EQ(page.all(), "");
}

TEST(Blocks, AnswerWhatIsReadLater) {
    Page page;
    const Answer made = page.try_append({toggle("a", {paragraph("b")})});
    ASSERT_EQ(made.status, 200);
    const value& block = made.body.at_pointer("/results/0");
    EXPECT_EQ(block, page.get(Uuid::parse(block.at("id").as_string()).value()).body);
    EXPECT_EQ(block.at_pointer("/parent/type").as_string(), "card_id");
    EXPECT_EQ(block.at_pointer("/parent/card_id").as_string(), page.card.str());
    EXPECT_TRUE(block.at("has_children").as_bool());
    EXPECT_EQ(block.at_pointer("/created_by/name").as_string(), "Olga Owner");
}

// ------------------------------------------------------------------------------ what fits where

struct Misfit {
    std::string name;
    array blocks;
};

class MisfitTest : public testing::TestWithParam<int> {};

static std::vector<Misfit> misfits() {
    const object row{{"table_row", {{"cells", array{words("x"), words("y")}}}}};
    const object table{{"table", {{"table_width", 2}}}};
    const object column{{"column", object{}}};
    const object columns{{"column_list", object{}}};
    const auto below = [](object block, object child) {
        return array{holding(std::move(block), {std::move(child)})};
    };
    return {
        {"a row on a card", {row}},
        {"a column on a card", {column}},
        {"a table without rows", {table}},
        {"a paragraph in a table", below(table, paragraph("x"))},
        {"a row of another width", below(object{{"table", {{"table_width", 3}}}}, row)},
        {"one column alone", below(columns, column)},
        {"a paragraph among columns", {holding(columns, {column, paragraph("x")})}},
        {"a column in a column", {holding(columns, {column, holding(column, {column})})}},
        {"something below a divider", below(object{{"divider", object{}}}, paragraph("x"))},
        {"something below code", below(says("code", "x"), paragraph("x"))},
        {"something below a plain heading", below(says("heading_1", "x"), paragraph("x"))},
        {"two types", {object{{"paragraph", object{}}, {"divider", object{}}}}},
        {"no type", {object{{"object", "block"}}}},
        {"a type that is not offered", {object{{"synced_block", object{}}}}},
        {"a type that nobody knows", {object{{"poem", object{}}}}},
        {"a type that contradicts", {object{{"type", "quote"}, {"paragraph", object{}}}}},
        {"children in two places",
         {object{
             {"paragraph", {{"children", array{paragraph("x")}}}},
             {"children", array{paragraph("y")}}}}},
    };
}

TEST_P(MisfitTest, IsRefused) {
    static Page& page = *new Page;
    const Misfit misfit = misfits().at(static_cast<std::size_t>(GetParam()));
    const Answer refused = page.try_append(misfit.blocks);
    EXPECT_EQ(refused.status, 422) << misfit.name;
    EXPECT_EQ(page.all(), "") << misfit.name;
}
INSTANTIATE_TEST_SUITE_P(Blocks, MisfitTest, testing::Range(0, static_cast<int>(misfits().size())));

TEST(Blocks, WhatFitsIsTaken) {
    Page page;
    const object row{{"table_row", {{"cells", array{words("x"), words("y")}}}}};
    const object column = holding(object{{"column", {{"width_ratio", 0.5}}}}, {paragraph("in")});
    object heading = says("heading_2", "folds");
    heading["heading_2"].as_object()["is_toggleable"] = true;
    page.append({
        holding(object{{"table", {{"table_width", 2}, {"has_column_header", true}}}}, {row, row}),
        holding(object{{"column_list", object{}}}, {column, column}),
        holding(heading, {paragraph("below")}),
    });
    EXPECT_EQ(
        page.all(), "table(table_row table_row) column_list(column(in) column(in)) folds(below)"
    );
}

// ------------------------------------------------------------------------------------- limits

TEST(Blocks, StandThirtyTwoLevelsDeepAtMost) {
    Page page;
    Uuid parent = page.card;
    for (int level = 1; level <= 32; ++level)
        parent = page.add(toggle(std::to_string(level)), {{"parent_id", parent.str()}});
    EXPECT_EQ(page.try_append({paragraph("33")}, {{"parent_id", parent.str()}}).status, 422);
    const Uuid aside = page.add(toggle("aside", {paragraph("x")}));
    const Uuid last_but_one = Uuid::parse(page.get(parent).text("/parent/block_id")).value();
    EXPECT_EQ(page.move(aside, last_but_one).status, 422);
}

TEST(Blocks, ARequestBringsTenLevelsAtMost) {
    Page page;
    object tree = toggle("10");
    for (int level = 9; level >= 1; --level) tree = toggle(std::to_string(level), {tree});
    EXPECT_EQ(page.try_append({tree}).status, 200);
    EXPECT_EQ(page.try_append({toggle("0", {tree})}).status, 422);
}

TEST(Blocks, AListHasAHundredAndARequestAThousandAtMost) {
    Page page;
    array hundred;
    for (int i = 0; i < 100; ++i) hundred.push_back(paragraph("x"));
    array more = hundred;
    more.push_back(paragraph("x"));
    EXPECT_EQ(page.try_append(more).status, 422);
    array ten, eleven;
    for (int i = 0; i < 11; ++i) (i < 9 ? ten : eleven).push_back(toggle("t", hundred));
    for (const value& each : ten) eleven.push_back(each);
    EXPECT_EQ(page.try_append(ten).status, 200);
    EXPECT_EQ(page.try_append(eleven).status, 422);
}

TEST(Blocks, ACardHoldsTenThousandAtMost) {
    Page page;
    page.add(paragraph("real"));
    in_process().run("UPDATE cards SET block_count = 9999 WHERE id = '" + page.card.str() + "'");
    const Uuid last = page.add(paragraph("the ten thousandth"));
    EXPECT_EQ(page.try_append({paragraph("one more")}).status, 422);
    EXPECT_EQ(page.remove(last), 200);
    page.add(paragraph("in its place"));
    EXPECT_EQ(page.restore(last).status, 422);
}

namespace {

/// A code block of about that many bytes.
object large(std::size_t bytes) {
    array items;
    for (; bytes > 2000; bytes -= 2000)
        items.push_back(object{{"text", {{"content", letters(2000)}}}});
    return object{{"code", {{"rich_text", items}}}};
}

std::string bytes_of(const Page& page, const std::string& what) {
    return in_process().run("SELECT " + what + " FROM cards WHERE id = '" + page.card.str() + "'");
}

const std::string counted = "content_bytes";
const std::string found =
    "coalesce((SELECT sum(octet_length(payload::text)) FROM blocks b "
    "WHERE b.card_id = cards.id AND trashed_by IS NULL), 0)";

}  // namespace

TEST(Blocks, OfACardHoldSixteenMebibytesAtMost) {
    Page page;
    std::vector<Uuid> ids;
    for (int i = 0; i < 30; ++i) ids.push_back(page.add(large(190'000)));
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    Answer refused;
    while ((refused = page.try_append({large(190'000)})).status == 200)
        ids.push_back(refused.id("/results/0/id"));
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(place_of(refused), "children");
    EXPECT_LT(std::stol(bytes_of(page, counted)), 16 << 20);
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));

    EXPECT_EQ(page.remove(ids[0]), 200);
    const Uuid in_its_place = page.add(large(190'000));
    EXPECT_EQ(page.restore(ids[0]).status, 422);
    object longer = large(190'000);
    longer["block_id"] = page.add(object{{"code", {{"rich_text", words("x")}}}}).str();
    EXPECT_EQ(page.ask("update_block", longer).status, 422);
    EXPECT_EQ(page.remove(in_its_place), 200);
    EXPECT_EQ(page.restore(ids[0]).status, 200);
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));

    const Answer copy = page.must("duplicate_card", {{"card_id", page.card.str()}});
    page.card = copy.id();
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    EXPECT_EQ(page.try_append({large(190'000)}).status, 422);
}

TEST(Blocks, OfALargeCardAreCopiedPartByPart) {
    Page page;
    for (int i = 0; i < 12; ++i) {
        const auto block = toggle("outer " + std::to_string(i), {large(190'000), toggle("inner")});
        page.append({block});
    }
    page.remove(page.add(toggle("gone", {paragraph("too")})));
    const auto tree_of_card = [&] {
        return in_process().run(
            "SELECT string_agg(b.type || b.plain || b.position || p.plain, ',' "
            "ORDER BY p.position, b.position) FROM blocks b JOIN blocks p "
            "ON p.id = b.parent_id AND p.card_id = b.card_id WHERE b.trashed_by IS NULL "
            "AND b.card_id = '" +
            page.card.str() + "'"
        );
    };
    const auto blocks =
        page.must("get_card", {{"card_id", page.card.str()}}).number("/block_count");
    const std::string tree = tree_of_card();
    EXPECT_GT(std::stol(bytes_of(page, counted)), 2 << 20);
    const Answer copy = page.must("duplicate_card", {{"card_id", page.card.str()}});
    page.card = copy.id();
    EXPECT_EQ(copy.number("/block_count"), blocks);
    EXPECT_EQ(tree_of_card(), tree);
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
}

TEST(Blocks, WhatTheyHoldIsCountedHoweverTheyComeAndChange) {
    Page page;
    object wanted{{"title", "T"}, {"markdown", "# A\n\n- b\n- c"}};
    page.card = page.fixture.card(page.fixture.backlog, wanted).id();
    EXPECT_NE(bytes_of(page, counted), "0");
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    page.must("update_card_markdown", {{"card_id", page.card.str()}, {"markdown", "- b\n- cc"}});
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    const Uuid outer = page.add(toggle("outer", {paragraph("x"), toggle("y", {paragraph("z")})}));
    page.remove(outer);
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    page.restore(outer);
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    object change = says("toggle", "a longer text");
    change["block_id"] = outer.str();
    page.must("update_block", change);
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
    const auto one = [](const char* op, object more) {
        more["op"] = op;
        return more;
    };
    object words = says("toggle", "short");
    page.must(
        "batch_blocks",
        {{"card_id", page.card.str()},
         {"operations",
          array{
              one("create", {{"block", paragraph("new")}}),
              one("update", {{"id", outer.str()}, {"block", words}}),
              one("delete", {{"id", outer.str()}})}}}
    );
    EXPECT_EQ(bytes_of(page, counted), bytes_of(page, found));
}

// -------------------------------------------------------------------------------------- moving

TEST(Moving, GoesWhereItIsTold) {
    Page page;
    const auto ids = page.append({paragraph("a"), toggle("b", {paragraph("c")}), paragraph("d")});
    EXPECT_EQ(page.move(ids[2], ids[1], object{{"type", "start"}}).status, 200);
    EXPECT_EQ(page.all(), "a b(d c)");
    EXPECT_EQ(page.move(ids[0], page.card).status, 200);
    EXPECT_EQ(page.all(), "b(d c) a");
    EXPECT_EQ(page.move(ids[1], page.card, after(ids[0])).status, 200);
    EXPECT_EQ(page.all(), "a b(d c)");
}

TEST(Moving, NeverBelowItself) {
    Page page;
    const Uuid outer = page.add(toggle("outer", {toggle("inner", {paragraph("x")})}));
    const Answer below = page.must("list_block_children", {{"parent_id", outer.str()}});
    const Uuid inner = Uuid::parse(below.text("/results/0/id")).value();
    EXPECT_EQ(page.move(outer, inner).status, 422);
    EXPECT_EQ(page.move(outer, outer).status, 422);
    EXPECT_EQ(page.all(), "outer(inner(x))");
}

TEST(Moving, IntoOneGapTimeAndAgainFindsRoomAgain) {
    Page page;
    const auto ids = page.append({paragraph("a"), paragraph("b"), paragraph("c"), paragraph("d")});
    in_process().run(
        "UPDATE blocks SET position = 'V0000000' || repeat('V', 60) || position || 'V' "
        "WHERE card_id = '" +
        page.card.str() + "'"
    );
    const auto longest = [&] {
        return in_process().run(
            "SELECT max(length(position)) FROM blocks WHERE card_id = '" + page.card.str() + "'"
        );
    };
    EXPECT_EQ(page.move(ids[3], page.card, after(ids[0])).status, 200);
    EXPECT_EQ(page.all(), "a d b c");
    EXPECT_EQ(longest(), "8");
    for (int i = 0; i < 700; ++i)  // each into the gap that the other one left
        ASSERT_EQ(page.move(ids[i % 2 ? 3 : 1], page.card, after(ids[0])).status, 200);
    EXPECT_EQ(page.all(), "a d b c");
    EXPECT_LE(std::stoi(longest()), 66);
}

TEST(Moving, StaysOnItsCardAndBelowWhatMayHoldIt) {
    Page page, other;
    const Uuid block = page.add(paragraph("x"));
    const Uuid divider = page.add(object{{"divider", object{}}});
    EXPECT_EQ(page.move(block, other.card).status, 422);
    EXPECT_EQ(page.move(block, new_uuid()).status, 422);
    EXPECT_EQ(page.move(block, divider).status, 422);
    EXPECT_EQ(page.move(block, page.card, after(block)).status, 422);
    EXPECT_EQ(page.move(block, page.card, after(new_uuid())).status, 422);
    EXPECT_EQ(page.move(block, page.card, object{{"type", "after_block"}}).status, 422);
}

TEST(Blocks, TableOfContentsAndBreadcrumbAreTypesLikeOthers) {
    Page page;
    const auto ids = page.append(
        {object{{"type", "table_of_contents"}, {"table_of_contents", {{"color", "blue"}}}},
         object{{"breadcrumb", object{}}}}
    );
    EXPECT_EQ(page.get(ids[0]).text("/table_of_contents/color"), "blue");
    EXPECT_TRUE(page.get(ids[1]).body.at("breadcrumb").as_object().empty());
    page.must(
        "update_block", {{"block_id", ids[0].str()}, {"table_of_contents", {{"color", "red"}}}}
    );
    EXPECT_EQ(page.get(ids[0]).text("/table_of_contents/color"), "red");
    EXPECT_EQ(page.try_append({paragraph("x")}, {{"parent_id", ids[1].str()}}).status, 422);
    EXPECT_EQ(
        page.must("get_card_markdown", {{"card_id", page.card.str()}}).text("/markdown"),
        "<!-- table_of_contents -->\n\n<!-- breadcrumb -->"
    );
}

}  // namespace svc::test
