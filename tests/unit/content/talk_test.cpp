// Comments and search: who may what, on the real modules and database.

#include "tests/unit/content/page.hpp"

namespace svc::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace {

Said comment(Page& page, const Caller& by, object what) {
    if (!what.contains("parent") && !what.contains("discussion_id"))
        what["parent"] = object{{"card_id", page.card.str()}};
    if (!what.contains("markdown") && !what.contains("rich_text")) what["markdown"] = "Hello";
    return page.ask("create_comment", std::move(what), &by);
}

int status(
    Page& page, const Caller& by, std::string_view operation, const Said& of, object more = {}
) {
    more["comment_id"] = of.text("/id");
    return page.ask(operation, std::move(more), &by).status;
}

std::vector<std::string> texts(const Said& list) {
    std::vector<std::string> out;
    for (const value& each : list.body.at("results").as_array())
        out.emplace_back(each.at_pointer("/rich_text/0/plain_text").as_string());
    return out;
}

}  // namespace

TEST(Comments, AreAboutACardOrABlockAndAreAnswered) {
    Page page;
    const Uuid block = page.add(paragraph("x"));
    const Said first = comment(page, page.owner, {{"markdown", "one"}});
    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(first.text("/discussion_id"), first.text("/id"));
    const Said answer =
        comment(page, page.owner, {{"discussion_id", first.text("/id")}, {"markdown", "two"}});
    EXPECT_EQ(answer.text("/discussion_id"), first.text("/id"));
    const Said about = comment(
        page, page.owner, {{"parent", {{"block_id", block.str()}}}, {"rich_text", words("three")}}
    );
    EXPECT_EQ(about.text("/parent/block_id"), block.str());
    const auto list = [&](object what) {
        return texts(page.must("list_comments", std::move(what)));
    };
    EXPECT_THAT(list({{"card_id", page.card.str()}}), ElementsAre("one", "two", "three"));
    EXPECT_THAT(list({{"block_id", block.str()}}), ElementsAre("three"));
    EXPECT_THAT(list({{"discussion_id", first.text("/id")}}), ElementsAre("one", "two"));
    EXPECT_EQ(
        world().run("SELECT comment_count FROM cards WHERE id = '" + page.card.str() + "'"), "3"
    );
    EXPECT_EQ(page.must("get_comment", {{"comment_id", about.text("/id")}}).body, about.body);
}

TEST(Comments, EveryRefusal) {
    Page page;
    const auto refused = [&](object what) {
        return comment(page, page.owner, std::move(what)).status;
    };
    EXPECT_EQ(refused({{"parent", object{}}}), 422);
    EXPECT_EQ(
        refused({{"parent", {{"card_id", page.card.str()}, {"block_id", page.card.str()}}}}), 422
    );
    EXPECT_EQ(
        refused({{"parent", {{"card_id", page.card.str()}}}, {"discussion_id", page.card.str()}}),
        422
    );
    EXPECT_EQ(refused({{"parent", {{"card_id", new_uuid().str()}}}}), 404);
    EXPECT_EQ(refused({{"discussion_id", new_uuid().str()}}), 404);
    EXPECT_EQ(refused({{"discussion_id", page.card.str()}}), 404);
    EXPECT_EQ(refused({{"markdown", "x"}, {"rich_text", words("x")}}), 422);
    EXPECT_EQ(refused({{"markdown", ""}}), 422);
    EXPECT_EQ(refused({{"rich_text", array{}}}), 422);
    EXPECT_EQ(page.ask("list_comments", {}).status, 422);
    EXPECT_EQ(page.ask("list_comments", {{"card_id", new_uuid().str()}}).status, 404);
    const Uuid gone = page.add(paragraph("x"));
    page.remove(gone);
    EXPECT_EQ(refused({{"parent", {{"block_id", gone.str()}}}}), 404);
}

TEST(Comments, BelongToWhoWroteThem) {
    Page page;
    const Caller author = world().person(page.owner, OrgRole::member, "Anna");
    const Caller other = world().person(page.owner, OrgRole::member, "Otto");
    const Caller viewer = world().person(page.owner, OrgRole::viewer, "Vi");
    const Caller stranger = world().owner_of_new_org("Elsewhere");
    const Said said = comment(page, author, {});
    EXPECT_EQ(comment(page, viewer, {}).status, 201);
    EXPECT_EQ(comment(page, stranger, {}).status, 404);
    const object words{{"markdown", "Changed"}};
    EXPECT_EQ(status(page, other, "update_comment", said, words), 403);
    EXPECT_EQ(status(page, page.owner, "update_comment", said, words), 403);
    EXPECT_EQ(status(page, stranger, "update_comment", said, words), 404);
    EXPECT_EQ(status(page, author, "update_comment", said, words), 200);
    EXPECT_EQ(status(page, other, "delete_comment", said), 403);
    EXPECT_EQ(status(page, stranger, "delete_comment", said), 404);
    EXPECT_EQ(status(page, page.owner, "delete_comment", said), 200);
    EXPECT_EQ(status(page, author, "get_comment", said), 404);
    EXPECT_EQ(status(page, author, "update_comment", said, words), 404);
    EXPECT_EQ(status(page, author, "delete_comment", said), 200);
    EXPECT_EQ(
        world().run("SELECT comment_count FROM cards WHERE id = '" + page.card.str() + "'"), "1"
    );
}

TEST(Comments, ADiscussionIsSettledAndTakenUpAgain) {
    Page page;
    const Said first = comment(page, page.owner, {});
    const Said answer = comment(page, page.owner, {{"discussion_id", first.text("/id")}});
    world().forget_events();
    EXPECT_EQ(status(page, page.owner, "resolve_comment", answer), 200);
    const auto open = [&] {
        return page.must("list_comments", {{"card_id", page.card.str()}, {"resolved", false}})
            .body.at("results")
            .as_array()
            .size();
    };
    EXPECT_EQ(open(), 0U);
    EXPECT_EQ(
        page.must("get_comment", {{"comment_id", first.text("/id")}}).text("/resolved_by/name"),
        "Olga Owner"
    );
    comment(page, page.owner, {{"discussion_id", first.text("/id")}});
    EXPECT_EQ(open(), 3U);
    EXPECT_EQ(status(page, page.owner, "resolve_comment", first), 200);
    EXPECT_EQ(status(page, page.owner, "resolve_comment", first, {{"resolved", false}}), 200);
    EXPECT_EQ(open(), 3U);
    EXPECT_THAT(
        world().told(),
        ElementsAre("comment.updated", "comment.created", "comment.updated", "comment.updated")
    );
}

TEST(Comments, BringNoFilesWhereNoneAreKept) {
    Page page;
    const object file{{"file_id", new_uuid().str()}};
    const Said refused = comment(page, page.owner, {{"attachments", array{file}}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(place_of(refused), "attachments");
    const Said said = comment(page, page.owner, {{"attachments", array{}}});
    EXPECT_EQ(said.status, 201);
    EXPECT_TRUE(said.body.at("attachments").as_array().empty());
}

TEST(Comments, CallWhomTheyNameToTheCard) {
    Page page;
    const Caller anna = world().person(page.owner, OrgRole::member, "Anna");
    const Caller bot = world().agent(page.owner, OrgRole::member, "Bot");
    const Caller confined = world().agent(page.owner, OrgRole::member, "Shut in");
    const Said elsewhere = page.must("create_board", {{"name", "Elsewhere"}});
    world().grant(elsewhere.id(), confined, "editor");
    const auto mention = [](const Caller& whom) { return "[@x](user:" + whom.id.str() + ") "; };
    const auto watchers = [&] {
        return world().run(
            "SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM card_watchers w"
            " JOIN principals p ON p.id = w.principal_id AND p.org_id = w.org_id"
            " WHERE w.card_id = '" +
            page.card.str() + "'"
        );
    };
    const Said said = comment(
        page, page.owner, {{"markdown", mention(anna) + mention(anna) + mention(confined)}}
    );
    EXPECT_EQ(watchers(), "Anna");
    const object more{{"markdown", mention(bot)}};
    EXPECT_EQ(status(page, page.owner, "update_comment", said, more), 200);
    EXPECT_EQ(watchers(), "Anna Bot");
    // Whoever does not want to may go, and comes back when called again.
    world().must(anna, "unwatch_card", {{"card_id", page.card.str()}});
    EXPECT_EQ(watchers(), "Bot");
    comment(page, bot, {{"markdown", mention(anna)}});
    EXPECT_EQ(watchers(), "Anna Bot");
}

// -------------------------------------------------------------------------------------- search

namespace {

struct Library {
    Page page;
    Caller member = world().person(page.owner, OrgRole::member, "Mia");
    std::string word = "w" + new_uuid().str().substr(24);

    std::vector<std::string> found(const Caller& by, object what = {}) {
        if (!what.contains("query")) what["query"] = word;
        std::vector<std::string> out;
        const Said said = page.ask("search", std::move(what), &by);
        if (said.status != 200) return {std::to_string(said.status)};
        for (const value& each : said.body.at("results").as_array())
            out.emplace_back(each.at("object").as_string());
        return out;
    }
};

std::string highlighted(const value& result) {
    std::string out;
    for (const value& each : result.at("highlight").as_array()) {
        const std::string text(each.at("text").as_string());
        out += each.at("matched").as_bool() ? "[" + text + "]" : text;
    }
    return out;
}

}  // namespace

TEST(Search, FindsBoardsCardsBlocksAndComments) {
    Library lib;
    const Said board = lib.page.must("create_board", {{"name", "About " + lib.word}});
    lib.page.must("update_card", {{"card_id", lib.page.card.str()}, {"title", "The " + lib.word}});
    lib.page.add(paragraph("It says " + lib.word + "."));
    comment(lib.page, lib.page.owner, {{"markdown", "See " + lib.word}});
    EXPECT_THAT(lib.found(lib.member), UnorderedElementsAre("board", "card", "block", "comment"));
    EXPECT_THAT(
        lib.found(lib.member, {{"query", lib.word.substr(0, 8)}}),
        UnorderedElementsAre("board", "card", "block", "comment")
    );
    EXPECT_THAT(
        lib.found(lib.member, {{"filter", {{"property", "object"}, {"value", "page"}}}}),
        ElementsAre("card")
    );
    EXPECT_THAT(lib.found(lib.member, {{"board_id", board.text("/id")}}), ElementsAre("board"));
    EXPECT_THAT(
        lib.found(lib.member, {{"query", lib.word + " -see"}}),
        UnorderedElementsAre("board", "card", "block")
    );
    EXPECT_THAT(lib.found(lib.member, {{"query", "nowhere" + lib.word}}), IsEmpty());
}

TEST(Search, ShowsNobodyWhatTheyMayNotSee) {
    Library lib, other;
    const Said secret =
        lib.page.must("create_board", {{"name", "Secret"}, {"visibility", "private"}});
    const Said card = lib.page.must(
        "create_card",
        {{"board_id", secret.text("/id")},
         {"column_id", secret.text("/column_ids/0")},
         {"title", lib.word}}
    );
    lib.page.append({paragraph(lib.word)}, {{"parent_id", card.text("/id")}});
    comment(
        lib.page,
        lib.page.owner,
        {{"parent", {{"card_id", card.text("/id")}}}, {"markdown", lib.word}}
    );
    EXPECT_EQ(lib.found(lib.page.owner).size(), 3U);
    EXPECT_THAT(lib.found(lib.member), IsEmpty());
    EXPECT_THAT(lib.found(other.page.owner), IsEmpty());
    const Caller bot = world().agent(lib.page.owner, OrgRole::member, "Bot");
    lib.page.add(paragraph(lib.word));
    EXPECT_THAT(lib.found(bot), ElementsAre("block"));
    world().grant(lib.page.desk.board, bot, "viewer");
    EXPECT_THAT(lib.found(bot), ElementsAre("block"));
    world().grant(Uuid::parse(secret.text("/id")).value(), bot, "viewer");
    EXPECT_EQ(lib.found(bot).size(), 4U);
    // A confined agent finds nothing on other boards of the workspace.
    const Caller confined = world().agent(lib.page.owner, OrgRole::member, "Shut in");
    const Said elsewhere = lib.page.must("create_board", {{"name", "Elsewhere"}});
    world().grant(Uuid::parse(elsewhere.text("/id")).value(), confined, "editor");
    EXPECT_THAT(lib.found(confined), IsEmpty());
}

TEST(Search, PassesOverWhatIsInTheTrash) {
    Library lib;
    const Uuid block = lib.page.add(toggle("outer", {paragraph(lib.word)}));
    EXPECT_THAT(lib.found(lib.member), ElementsAre("block"));
    lib.page.remove(block);
    EXPECT_THAT(lib.found(lib.member), IsEmpty());
    const Said said = comment(lib.page, lib.page.owner, {{"markdown", lib.word}});
    EXPECT_THAT(lib.found(lib.member), ElementsAre("comment"));
    status(lib.page, lib.page.owner, "delete_comment", said);
    EXPECT_THAT(lib.found(lib.member), IsEmpty());
}

TEST(Search, HighlightsArePlainTextInPieces) {
    Library lib;
    lib.page.add(paragraph("<b>bold</b> \x01" + lib.word + "\x02 & more"));
    const Said said = lib.page.must("search", {{"query", lib.word}});
    const std::string text = highlighted(said.body.at_pointer("/results/0"));
    // PostgreSQL leaves tags out, and marks that somebody wrote are none.
    EXPECT_THAT(text, testing::HasSubstr("bold"));
    EXPECT_THAT(text, testing::HasSubstr("[" + lib.word + "]"));
    EXPECT_EQ(text.find_first_of("<>\x01\x02"), std::string::npos) << text;
}

TEST(Search, GoesOnFromPageToPage) {
    Library lib;
    array blocks;
    for (int i = 0; i < 7; ++i)
        blocks.push_back(paragraph(lib.word + " number " + std::to_string(i)));
    lib.page.append(blocks);
    std::set<std::string> seen;
    std::string cursor;
    int pages = 0;
    do {
        object what{{"query", lib.word}, {"page_size", 3}};
        if (!cursor.empty()) what["start_cursor"] = cursor;
        const Said page = lib.page.must("search", what);
        for (const value& each : page.body.at("results").as_array())
            EXPECT_TRUE(seen.insert(std::string(each.at("id").as_string())).second);
        const auto& next = page.body.at("next_cursor");
        cursor = next.is_null() ? "" : std::string(next.as_string());
    } while (!cursor.empty() && ++pages < 10);
    EXPECT_EQ(seen.size(), 7U);
}

TEST(Search, TakesAnyQuery) {
    Library lib;
    lib.page.add(paragraph("something"));
    for (const char* query :
         {"",
          " ",
          "\"",
          "-",
          "&|!:*()",
          "a & | b",
          "-\"a b\"",
          "\"a b\" -\"c d\"",
          "or",
          "or or",
          "<->",
          "'",
          "\\",
          "日本",
          "a:*",
          ":*",
          "it's",
          "x or -y"})
        EXPECT_EQ(lib.page.ask("search", {{"query", query}}).status, 200) << query;
    EXPECT_EQ(lib.page.ask("search", {{"query", std::string(501, 'x')}}).status, 422);
    EXPECT_EQ(lib.page.ask("search", {}).status, 200);
    EXPECT_EQ(lib.page.ask("search", {{"sort", object{}}}).status, 422);
    EXPECT_EQ(
        lib.page.ask("search", {{"filter", {{"property", "object"}, {"value", "poem"}}}}).status,
        422
    );
}

}  // namespace svc::test
