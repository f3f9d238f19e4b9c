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

/// How many blocks of a card each statement deletes.
class Deletions {
public:
    explicit Deletions(const std::string& card) {
        in_process().run(
            "CREATE TABLE deletions (blocks bigint); GRANT ALL ON deletions TO PUBLIC;"
            "CREATE FUNCTION note_deletion() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN"
            " INSERT INTO deletions SELECT count(*) FROM gone WHERE card_id = '" +
            card +
            "'; RETURN NULL; END $$;"
            "CREATE TRIGGER note_deletion AFTER DELETE ON blocks REFERENCING OLD TABLE AS gone"
            " FOR EACH STATEMENT EXECUTE FUNCTION note_deletion()"
        );
    }
    ~Deletions() {
        in_process().run(
            "DROP TRIGGER note_deletion ON blocks; DROP FUNCTION note_deletion(); DROP TABLE "
            "deletions"
        );
    }
    std::string sizes() const {
        return in_process().run(
            "SELECT string_agg(blocks::text, ' ') FROM deletions WHERE blocks > 0"
        );
    }
};

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

TEST(ContentPurge, OfManyBlocksGoAsManyAtOnceAsAStatementHasTimeFor) {
    Page page;
    const std::string card = page.card.str();
    const auto roots = page.append({toggle("a", {}), toggle("b", {}), toggle("c", {})});
    for (const Uuid& each : roots) {
        page.must("delete_block", {{"block_id", each.str()}});
        in_process().run(
            "INSERT INTO blocks (org_id, id, card_id, parent_id, type, payload, plain, position,"
            " created_by, last_edited_by, trashed_by, trashed_at)"
            " SELECT b.org_id, gen_random_uuid(), b.card_id, b.id, 'divider', '{}', '', b.position,"
            " b.created_by, b.last_edited_by, b.id, now()"
            " FROM blocks b, generate_series(1, 6000) WHERE b.id = '" +
            each.str() + "'"
        );
    }
    age("blocks", card);
    const Deletions deletions(card);
    in_process().run_job("content.purge_trash");
    EXPECT_EQ(count("blocks", card), "0");
    EXPECT_EQ(deletions.sizes(), "6001 6001 6001");
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
