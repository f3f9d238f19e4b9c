// Comments: who may what, on the real modules and database.

#include "tests/unit/content/talk.hpp"

namespace svc::test {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::UnorderedElementsAre;

namespace {

std::vector<std::string> texts(const Answer& list) {
    std::vector<std::string> out;
    for (const value& each : list.body.at("results").as_array())
        out.emplace_back(each.at_pointer("/rich_text/0/plain_text").as_string());
    return out;
}

}  // namespace

TEST(Comments, AreAboutACardOrABlockAndAreAnswered) {
    Page page;
    const Uuid block = page.add(paragraph("x"));
    const Answer first = comment(page, page.owner, {{"markdown", "one"}});
    EXPECT_EQ(first.status, 201);
    EXPECT_EQ(first.text("/discussion_id"), first.text("/id"));
    const Answer answer =
        comment(page, page.owner, {{"discussion_id", first.text("/id")}, {"markdown", "two"}});
    EXPECT_EQ(answer.text("/discussion_id"), first.text("/id"));
    const Answer about = comment(
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
        in_process().run("SELECT comment_count FROM cards WHERE id = '" + page.card.str() + "'"),
        "3"
    );
    EXPECT_EQ(page.must("get_comment", {{"comment_id", about.text("/id")}}).body, about.body);
}

TEST(Comments, AreNotReachedThroughABlockOfTheSameId) {
    Page page, other;
    other.owner = in_process().person(page.owner, OrgRole::member, "Bob");
    in_process().must(
        page.owner,
        "update_board",
        {{"board_id", page.fixture.board.str()}, {"visibility", "private"}}
    );
    const Answer board = other.must("create_board", {{"name", "Bob's"}});
    object place{{"board_id", board.text("/id")}, {"name", "Baits"}};
    place["column_id"] = other.must("create_column", place).text("/id");
    place.erase("name");
    place["title"] = "Bait";
    other.card = other.must("create_card", place).id();
    const Answer hidden = comment(page, page.owner, {{"markdown", "secret"}});
    object block = paragraph("x");
    for (const std::string& id :
         {hidden.text("/id"),
          page.card.str(),
          page.card.str().substr(0, 14) + '8' + page.card.str().substr(15)}) {
        block["id"] = id;
        EXPECT_NE(other.add(block).str(), id) << "an id that is taken is passed over";
    }
    for (const char* operation :
         {"get_comment", "resolve_comment", "delete_comment", "update_comment"})
        EXPECT_EQ(status(page, other.owner, operation, hidden), 404) << operation;
    EXPECT_EQ(comment(other, other.owner, {{"discussion_id", hidden.text("/id")}}).status, 404);
    // However such a block came to be, it leads to nobody's comment.
    const Uuid own = other.add(paragraph("y"));
    in_process().run(
        "UPDATE blocks SET id = '" + hidden.text("/id") + "' WHERE id = '" + own.str() + "'"
    );
    for (const char* operation : {"get_comment", "resolve_comment", "delete_comment"})
        EXPECT_EQ(status(page, other.owner, operation, hidden), 404) << operation;
    EXPECT_EQ(comment(other, other.owner, {{"discussion_id", hidden.text("/id")}}).status, 404);
    EXPECT_EQ(status(page, page.owner, "resolve_comment", hidden), 200);
}

TEST(Comments, AnIdOfAnotherSortIsNoCard) {
    Page page;
    const Uuid block = page.add(paragraph("x"));
    const Answer said = comment(page, page.owner, {});
    for (const std::string& id : {block.str(), said.text("/id")}) {
        EXPECT_EQ(comment(page, page.owner, {{"parent", {{"card_id", id}}}}).status, 404);
        EXPECT_EQ(page.ask("get_card_markdown", {{"card_id", id}}).status, 404);
        EXPECT_EQ(
            page.ask("update_card_markdown", {{"card_id", id}, {"markdown", "z"}}).status, 404
        );
    }
    EXPECT_EQ(page.all(), "x");
}

TEST(Comments, OfADiscussionWhoseFirstIsGoneForGoodAreReadAndAnswered) {
    Page page;
    const Answer first = comment(page, page.owner, {});
    const object there{{"discussion_id", first.text("/id")}};
    EXPECT_EQ(comment(page, page.owner, there).status, 201);
    in_process().run("DELETE FROM comments WHERE id = '" + first.text("/id") + "'");
    EXPECT_EQ(texts(page.must("list_comments", there)).size(), 1U);
    EXPECT_EQ(comment(page, page.owner, there).status, 201);
}

TEST(Comments, OfOneDiscussionAreSettledAtOnce) {
    Page page;
    std::vector<Answer> said{comment(page, page.owner, {})};
    for (int i = 0; i < 3; ++i)
        said.push_back(comment(page, page.owner, {{"discussion_id", said[0].text("/id")}}));
    std::vector<std::thread> threads;
    for (const Answer& each : said)
        threads.emplace_back([&] {
            for (int i = 0; i < 8; ++i)
                EXPECT_EQ(
                    status(page, page.owner, "resolve_comment", each, {{"resolved", i % 2 == 0}}),
                    200
                );
        });
    for (auto& each : threads) each.join();
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
    EXPECT_EQ(refused({{"markdown", std::string(500, '|')}}), 422);
    EXPECT_EQ(refused({{"markdown", std::string(30'000, '[')}}), 422);
    EXPECT_EQ(refused({{"rich_text", array{}}}), 422);
    EXPECT_EQ(page.ask("list_comments", {}).status, 422);
    EXPECT_EQ(page.ask("list_comments", {{"card_id", new_uuid().str()}}).status, 404);
    const Uuid gone = page.add(paragraph("x"));
    page.remove(gone);
    EXPECT_EQ(refused({{"parent", {{"block_id", gone.str()}}}}), 404);
}

TEST(Comments, BelongToWhoWroteThem) {
    Page page;
    const Caller author = in_process().person(page.owner, OrgRole::member, "Anna");
    const Caller other = in_process().person(page.owner, OrgRole::member, "Otto");
    const Caller viewer = in_process().person(page.owner, OrgRole::viewer, "Vi");
    const Caller stranger = in_process().owner_of_new_org("Elsewhere");
    const Answer said = comment(page, author, {});
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
        in_process().run("SELECT comment_count FROM cards WHERE id = '" + page.card.str() + "'"),
        "1"
    );
}

TEST(Comments, ADiscussionIsSettledAndTakenUpAgain) {
    Page page;
    const Answer first = comment(page, page.owner, {});
    const Answer answer = comment(page, page.owner, {{"discussion_id", first.text("/id")}});
    in_process().forget_events();
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
        in_process().emitted(),
        ElementsAre("comment.updated", "comment.created", "comment.updated", "comment.updated")
    );
}

TEST(Comments, BringNoFilesWhereNoneAreKept) {
    Page page;
    const object file{{"file_id", new_uuid().str()}};
    const Answer refused = comment(page, page.owner, {{"attachments", array{file}}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(place_of(refused), "attachments");
    const Answer said = comment(page, page.owner, {{"attachments", array{}}});
    EXPECT_EQ(said.status, 201);
    EXPECT_TRUE(said.body.at("attachments").as_array().empty());
}

TEST(Comments, CallWhomTheyNameToTheCard) {
    Page page;
    const Caller anna = in_process().person(page.owner, OrgRole::member, "Anna");
    const Caller bot = in_process().agent(page.owner, OrgRole::member, "Bot");
    const Caller confined = in_process().agent(page.owner, OrgRole::member, "Shut in");
    const Answer elsewhere = page.must("create_board", {{"name", "Elsewhere"}});
    in_process().grant(elsewhere.id(), confined, "editor");
    const auto mention = [](const Caller& whom) { return "[@x](user:" + whom.id.str() + ") "; };
    const auto watchers = [&] {
        return in_process().run(
            "SELECT string_agg(p.name, ' ' ORDER BY p.name) FROM card_watchers w"
            " JOIN principals p ON p.id = w.principal_id AND p.org_id = w.org_id"
            " WHERE w.card_id = '" +
            page.card.str() + "'"
        );
    };
    const Answer said = comment(
        page, page.owner, {{"markdown", mention(anna) + mention(anna) + mention(confined)}}
    );
    EXPECT_EQ(watchers(), "Anna");
    const object more{{"markdown", mention(bot)}};
    EXPECT_EQ(status(page, page.owner, "update_comment", said, more), 200);
    EXPECT_EQ(watchers(), "Anna Bot");
    // Whoever does not want to may go, and comes back when called again.
    in_process().must(anna, "unwatch_card", {{"card_id", page.card.str()}});
    EXPECT_EQ(watchers(), "Bot");
    comment(page, bot, {{"markdown", mention(anna)}});
    EXPECT_EQ(watchers(), "Anna Bot");
}

TEST(Keys, NameACardWhereverContentTakesItsId) {
    Page page;
    const std::string key = page.fixture.get(page.card).text("/key");
    const Uuid first = page.append({paragraph("one")}, {{"parent_id", key}}).front();
    EXPECT_EQ(
        outline(page.must("list_block_children", {{"parent_id", key}}).body.at("results")), "one"
    );
    const Uuid below = page.add(toggle("t"));
    page.must("move_block", {{"block_id", first.str()}, {"parent_id", below.str()}});
    page.must("move_block", {{"block_id", first.str()}, {"parent_id", key}});
    EXPECT_EQ(page.all(), "t one");
    page.must(
        "batch_blocks",
        {{"card_id", key},
         {"operations",
          {object{{"op", "create"}, {"parent_id", key}, {"block", paragraph("two")}}}}}
    );
    EXPECT_EQ(page.all(), "t one two");
    for (const char* member : {"card_id", "page_id", "block_id"}) {
        const Answer made = comment(page, page.owner, {{"parent", {{member, key}}}});
        EXPECT_EQ(made.status, 201) << member;
        EXPECT_EQ(made.text("/card_id"), page.card.str());
    }
    for (const char* member : {"card_id", "block_id"})
        EXPECT_EQ(
            page.must("list_comments", {{member, key}}).body.at("results").as_array().size(), 3U
        );
    for (const char* nowhere : {"DES-999", "NONE-1"}) {
        EXPECT_EQ(comment(page, page.owner, {{"parent", {{"card_id", nowhere}}}}).status, 404);
        EXPECT_EQ(page.ask("list_comments", {{"card_id", nowhere}}).status, 404);
        EXPECT_EQ(page.ask("list_block_children", {{"parent_id", nowhere}}).status, 404);
    }
}

}  // namespace svc::test
