// Blocks and comments that have been in the trash for long enough go for good.

#include "tests/unit/content/page.hpp"

namespace svc::test {

namespace {

void age(const std::string& table, const std::string& card) {
    in_process().run(
        "UPDATE " + table + " SET trashed_at = trashed_at - interval '31 days' WHERE card_id = '" +
        card + "'"
    );
}

std::string count(const std::string& table, const std::string& card) {
    return in_process().run("SELECT count(*) FROM " + table + " WHERE card_id = '" + card + "'");
}

}  // namespace

TEST(ContentPurge, BlocksGoWithAllBelowThem) {
    Page page;
    const std::string card = page.card.str();
    const Answer made = page.must(
        "append_block_children",
        {{"parent_id", card},
         {"children",
          array{toggle("old", {paragraph("below")}), paragraph("young"), paragraph("kept")}}}
    );
    const auto remove = [&](const char* which) {
        page.must("delete_block", {{"block_id", made.text(which)}});
    };
    remove("/results/0/id");
    age("blocks", card);
    remove("/results/1/id");
    EXPECT_EQ(count("blocks", card), "4");
    in_process().run_job("content.purge_trash");
    EXPECT_EQ(count("blocks", card), "2");
    const auto restored = [&](const char* which) {
        return page.ask(
                       "update_block", {{"block_id", made.text(which)}, {"in_trash", false}}
        ).status;
    };
    EXPECT_EQ(restored("/results/0/id"), 404);
    EXPECT_EQ(restored("/results/1/id"), 200);
}

TEST(ContentPurge, CommentsGoWhenTheyWereDeletedLongAgoNotWritten) {
    Page page;
    const std::string card = page.card.str();
    const auto comment = [&] {
        return page
            .must("create_comment", {{"parent", {{"card_id", card}}}, {"rich_text", words("Hm")}})
            .text("/id");
    };
    const std::string old = comment(), young = comment();
    comment();
    page.must("delete_comment", {{"comment_id", old}});
    age("comments", card);
    in_process().run(
        "UPDATE comments SET last_edited_time = now() - interval '1 year' WHERE card_id = '" +
        card + "'"
    );
    page.must("delete_comment", {{"comment_id", young}});
    in_process().run_job("content.purge_trash");
    EXPECT_EQ(count("comments", card), "2");
}

}  // namespace svc::test
