// The trash of a card, and back again, on the real modules and database.

#include "tests/unit/content/page.hpp"

namespace svc::test {

TEST(Trash, HidesWhatIsBelowAndGivesItBackInPlace) {
    Page page;
    const auto ids = page.append({paragraph("a"), toggle("b", {paragraph("c")}), paragraph("d")});
    EXPECT_EQ(page.remove(ids[1]), 200);
    EXPECT_EQ(page.all(), "a d");
    EXPECT_EQ(page.remove(ids[1]), 200);
    EXPECT_TRUE(page.get(ids[1]).body.at("in_trash").as_bool());
    EXPECT_TRUE(page.get(ids[1]).body.at("archived").as_bool());
    EXPECT_EQ(page.restore(ids[1]).status, 200);
    EXPECT_EQ(page.all(), "a b(c) d");
    EXPECT_EQ(page.restore(ids[1]).status, 200);
}

TEST(Trash, WhatWasThereBeforeStaysThere) {
    Page page;
    const Uuid outer = page.add(toggle("outer", {paragraph("x"), paragraph("y")}));
    const Answer below = page.must("list_block_children", {{"parent_id", outer.str()}});
    const Uuid x = Uuid::parse(below.text("/results/0/id")).value();
    const Uuid y = Uuid::parse(below.text("/results/1/id")).value();
    page.remove(x);
    page.remove(outer);
    // Neither comes back while what it stands below is away.
    const Answer first = page.restore(x);
    EXPECT_EQ(first.status, 409);
    EXPECT_EQ(first.text("/additional_data/reason"), "block_in_trash");
    EXPECT_EQ(page.restore(y).status, 409);
    EXPECT_EQ(page.restore(outer).status, 200);
    EXPECT_EQ(page.all(), "outer(y)");
    EXPECT_EQ(page.restore(x).status, 200);
    EXPECT_EQ(page.all(), "outer(x y)");
}

TEST(Trash, NothingInItCanBeChangedOrBuiltUpon) {
    Page page;
    const Uuid block = page.add(toggle("gone"));
    page.remove(block);
    EXPECT_EQ(page.try_append({paragraph("x")}, {{"parent_id", block.str()}}).status, 409);
    EXPECT_EQ(page.move(block, page.card).status, 409);
    object change = says("toggle", "other");
    change["block_id"] = block.str();
    EXPECT_EQ(page.ask("update_block", change).status, 409);
    change["in_trash"] = false;
    EXPECT_EQ(page.ask("update_block", change).status, 200);
    EXPECT_EQ(page.all(), "other");
    const Uuid x = page.add(paragraph("x"));
    EXPECT_EQ(page.remove(block), 200);
    EXPECT_EQ(page.try_append({paragraph("y")}, {{"position", after(block)}}).status, 422);
    EXPECT_EQ(page.move(x, block).status, 409);
}

TEST(Trash, TwoThatCameBackStandApart) {
    Page page;
    const auto ids = page.append({paragraph("a"), paragraph("b"), paragraph("c")});
    page.remove(ids[1]);
    page.append({paragraph("new")}, {{"position", after(ids[0])}});
    page.restore(ids[1]);
    page.append({paragraph("newer")}, {{"position", after(ids[0])}});
    page.append({paragraph("b1")}, {{"position", after(ids[1])}});
    EXPECT_EQ(page.all(), "a newer new b b1 c");
}

// A new block may have been given the key of one in the trash.
TEST(Trash, WhatComesBackToATakenPlaceStandsBehindIt) {
    Page page;
    const auto ids = page.append({paragraph("a"), paragraph("b"), paragraph("c"), paragraph("d")});
    page.remove(ids[1]);
    in_process().run(
        "UPDATE blocks b SET position = t.position FROM blocks t WHERE t.id = '" + ids[1].str() +
        "' AND b.id = '" + ids[2].str() + "'"
    );
    EXPECT_EQ(page.restore(ids[1]).status, 200);
    EXPECT_EQ(page.all(), "a c b d");
    page.append({paragraph("new")}, {{"position", after(ids[2])}});
    EXPECT_EQ(page.all(), "a c new b d");
}

TEST(Trash, NothingComesBackDeeperThanBlocksStand) {
    Page page;
    const Uuid holder = page.add(toggle("t", {paragraph("x")}));
    const Answer below = page.must("list_block_children", {{"parent_id", holder.str()}});
    const Uuid inner = below.id("/results/0/id");
    Uuid deepest = page.card;
    for (int i = 0; i < 31; ++i) deepest = page.add(toggle("d"), {{"parent_id", deepest.str()}});
    EXPECT_EQ(page.move(holder, deepest).status, 422);
    page.remove(inner);
    EXPECT_EQ(page.move(holder, deepest).status, 200);
    EXPECT_EQ(page.restore(inner).status, 422);
    EXPECT_EQ(page.move(holder, page.card).status, 200);
    EXPECT_EQ(page.restore(inner).status, 200);
}

TEST(Trash, NothingComesBackBelowWhatHoldsNothingAnyMore) {
    Page page;
    object heading = says("heading_1", "folds");
    heading["heading_1"].as_object()["is_toggleable"] = true;
    const Uuid holder = page.add(holding(heading, {paragraph("x")}));
    const Uuid inner =
        page.must("list_block_children", {{"parent_id", holder.str()}}).id("/results/0/id");
    page.remove(inner);
    object change{{"block_id", holder.str()}, {"heading_1", {{"is_toggleable", false}}}};
    page.must("update_block", change);
    EXPECT_EQ(page.restore(inner).status, 422);
    change["heading_1"].as_object()["is_toggleable"] = true;
    page.must("update_block", change);
    EXPECT_EQ(page.restore(inner).status, 200);
}

}  // namespace svc::test
