// Changing blocks, one or many at once, on the real modules and database.

#include "tests/support/lock_holder.hpp"
#include "tests/unit/content/page.hpp"

namespace svc::test {

using testing::ElementsAre;

namespace {

Answer update(Page& page, const Uuid& block, object what) {
    what["block_id"] = block.str();
    return page.ask("update_block", std::move(what));
}

}  // namespace

TEST(Edits, TouchOnlyWhatTheyName) {
    Page page;
    object block = says("to_do", "do it");
    block["to_do"].as_object()["color"] = "red";
    const Uuid id = page.add(block);
    const Answer changed = update(page, id, {{"to_do", {{"checked", true}}}});
    EXPECT_EQ(changed.status, 200);
    EXPECT_EQ(changed.text("/to_do/color"), "red");
    EXPECT_EQ(changed.text("/to_do/rich_text/0/plain_text"), "do it");
    EXPECT_TRUE(changed.body.at_pointer("/to_do/checked").as_bool());
    EXPECT_EQ(changed.number("/version"), 2);
    EXPECT_EQ(changed.body, page.get(id).body);
}

TEST(Edits, WhatWasReadMayBeSentBack) {
    Page page;
    const Uuid id = page.add(paragraph("x"));
    const std::int64_t version = page.card_version();
    object same = page.get(id).body.as_object();
    const Answer changed = update(page, id, same);
    EXPECT_EQ(changed.status, 200) << boost::json::serialize(changed.body);
    EXPECT_EQ(changed.number("/version"), 1);
    EXPECT_EQ(page.card_version(), version);
    EXPECT_EQ(update(page, id, {}).number("/version"), 1);
}

TEST(Edits, NeverChangeAType) {
    Page page;
    const Uuid id = page.add(paragraph("x"));
    const Answer refused = update(page, id, {{"quote", object{}}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(place_of(refused), "quote");
    EXPECT_EQ(update(page, id, {{"type", "quote"}}).status, 422);
    EXPECT_EQ(update(page, id, {{"paragraph", object{}}, {"quote", object{}}}).status, 422);
    EXPECT_EQ(update(page, id, {{"synced_block", object{}}}).status, 422);
}

TEST(Edits, KeepTablesInShape) {
    Page page;
    const object row{{"table_row", {{"cells", array{words("x"), words("y")}}}}};
    const Uuid table = page.add(holding(object{{"table", {{"table_width", 2}}}}, {row}));
    EXPECT_EQ(update(page, table, {{"table", {{"table_width", 3}}}}).status, 422);
    const Answer below = page.must("list_block_children", {{"parent_id", table.str()}});
    const Uuid first = Uuid::parse(below.text("/results/0/id")).value();
    EXPECT_EQ(update(page, first, {{"table_row", {{"cells", array{words("x")}}}}}).status, 422);
    EXPECT_EQ(
        page.try_append(
                {object{{"table_row", {{"cells", array{words("x")}}}}}},
                {{"parent_id", table.str()}}
        ).status,
        422
    );
    EXPECT_EQ(page.move(first, page.card).status, 422);
}

TEST(Edits, AHeadingWithBlocksBelowStaysToggleable) {
    Page page;
    object heading = says("heading_1", "h");
    heading["heading_1"].as_object()["is_toggleable"] = true;
    const Uuid id = page.add(holding(heading, {paragraph("x")}));
    EXPECT_EQ(update(page, id, {{"heading_1", {{"is_toggleable", false}}}}).status, 422);
}

TEST(Edits, RaiseTheCardsVersionAndTellOfThemselves) {
    Page page;
    const std::int64_t version = page.card_version();
    in_process().forget_events();
    const Uuid id = page.add(toggle("x", {paragraph("y")}));
    update(page, id, says("toggle", "z"));
    page.move(id, page.card, object{{"type", "start"}});
    page.remove(id);
    page.restore(id);
    EXPECT_EQ(page.card_version(), version + 5);
    EXPECT_THAT(
        in_process().emitted(),
        ElementsAre(
            "block.created", "block.updated", "block.updated", "block.deleted", "block.restored"
        )
    );
    const std::string data =
        in_process().run("SELECT changes FROM event_log WHERE kind = 'block.created'");
    EXPECT_NE(data.find("\"y\""), std::string::npos) << data;
}

// ------------------------------------------------------------------------------ rich text

TEST(RichText, IsSettledByTheServer) {
    Page page;
    object block{
        {"paragraph",
         {{"rich_text",
           array{
               object{{"text", {{"content", "see "}}}},
               object{{"text", {{"content", "this"}, {"link", {{"url", "https://x.org"}}}}}},
               object{{"equation", {{"expression", "x^2"}}}},
               object{
                   {"mention", {{"user", {{"id", page.owner.id.str()}}}}},
                   {"plain_text", "ignored"}},
               object{{"mention", {{"page", {{"id", page.card.str()}}}}}},
               object{{"mention", {{"date", {{"start", "2026-06-19"}}}}}},
           }}}}};
    const Answer made = page.try_append({block});
    ASSERT_EQ(made.status, 200) << boost::json::serialize(made.body);
    const auto& texts = made.body.at_pointer("/results/0/paragraph/rich_text").as_array();
    std::string plain;
    for (const value& each : texts) plain += each.at("plain_text").as_string();
    EXPECT_EQ(plain, "see thisx^2@Olga OwnerDES-12026-06-19");
    EXPECT_EQ(texts[1].at("href").as_string(), "https://x.org");
    EXPECT_EQ(texts[3].at_pointer("/mention/type").as_string(), "user");
    EXPECT_EQ(texts[0].at_pointer("/annotations/color").as_string(), "default");
}

TEST(RichText, HasItsLimits) {
    Page page;
    const auto status = [&](value texts) {
        return page.try_append({object{{"paragraph", {{"rich_text", std::move(texts)}}}}}).status;
    };
    const auto text = [](std::string content) {
        return object{{"text", {{"content", std::move(content)}}}};
    };
    const auto link = [](std::string url) {
        return array{object{{"text", {{"content", "x"}, {"link", {{"url", std::move(url)}}}}}}};
    };
    EXPECT_EQ(status(array{text(std::string(2000, 'x'))}), 200);
    EXPECT_EQ(status(array{text(std::string(2001, 'x'))}), 422);
    EXPECT_EQ(status(array(100, text("x"))), 200);
    EXPECT_EQ(status(array(101, text("x"))), 422);
    EXPECT_EQ(status(link("mailto:a@x.org")), 200);
    for (const char* url : {"javascript:alert(1)", "/here", "ftp://x.org", "mailto:", "https://"})
        EXPECT_EQ(status(link(url)), 422) << url;
    EXPECT_EQ(status(link("https://x.org/" + std::string(2000, 'x'))), 422);
    EXPECT_EQ(status(array{object{{"equation", {{"expression", ""}}}}}), 422);
    EXPECT_EQ(status(array{object{{"equation", {{"expression", std::string(1001, 'x')}}}}}), 422);
    EXPECT_EQ(
        status(array{object{{"text", {{"content", "x"}}}, {"annotations", {{"color", "mauve"}}}}}),
        422
    );
    EXPECT_EQ(status(array{object{{"type", "mention"}, {"text", {{"content", "x"}}}}}), 422);
    EXPECT_EQ(status(array{object{}}), 422);
    EXPECT_EQ(status("text"), 422);
}

TEST(RichText, NamesOnlyWhomAndWhatTheWriterKnows) {
    Page page, other;
    const auto status = [&](object mention) {
        return page
            .try_append({object{
                {"paragraph", {{"rich_text", array{object{{"mention", std::move(mention)}}}}}}}})
            .status;
    };
    EXPECT_EQ(status({{"user", {{"id", new_uuid().str()}}}}), 422);
    EXPECT_EQ(status({{"user", {{"id", other.owner.id.str()}}}}), 422);
    EXPECT_EQ(status({{"page", {{"id", other.card.str()}}}}), 422);
    EXPECT_EQ(status({{"database", {{"id", page.card.str()}}}}), 422);
    EXPECT_EQ(page.try_append({object{{"card_ref", {{"card_id", other.card.str()}}}}}).status, 422);
    EXPECT_EQ(page.try_append({object{{"card_ref", {{"card_id", page.card.str()}}}}}).status, 200);
}

TEST(RichText, AllUnknownNamesAreToldWithTheirPlaces) {
    Page page;
    const auto block = page.append({paragraph("a")}).front();
    const auto comment =
        page.must(
                "create_comment", {{"parent", {{"card_id", page.card.str()}}}, {"markdown", "x"}}
        ).text("/id");
    const auto places = [&](const std::string& operation, object arguments) {
        const Answer refused = page.ask(operation, std::move(arguments));
        EXPECT_EQ(refused.status, 422) << boost::json::serialize(refused.body);
        std::string all;
        for (const value& each : refused.body.at("detail").as_array())
            all += boost::json::serialize(each.at("loc"));
        return all;
    };
    // One id, of nobody and of no card.
    const std::string id = new_uuid().str(), card = page.card.str();
    const array nobody{object{{"mention", {{"user", {{"id", id}}}}}}};
    const object says{{"paragraph", {{"rich_text", nobody}}}};
    const object shows{{"card_ref", {{"card_id", id}}}};
    const std::string written = "[@x](user:" + id + ")";
    EXPECT_EQ(
        places(
            "append_block_children",
            {{"parent_id", card}, {"children", {shows, paragraph("b"), holding(says, {says})}}}
        ),
        R"(["arguments","children",0]["arguments","children",2]["arguments","children",2])"
    );
    EXPECT_EQ(
        places(
            "batch_blocks",
            {{"card_id", card},
             {"operations",
              {object{{"op", "create"}, {"block", says}},
               object{{"op", "create"}, {"block", paragraph("b")}},
               object{{"op", "update"}, {"id", block.str()}, {"block", says}}}}}
        ),
        R"(["arguments","operations",0,"block"]["arguments","operations",2,"block"])"
    );
    object change = says;
    change["block_id"] = block.str();
    EXPECT_EQ(places("update_block", change), R"(["arguments","paragraph"])");
    const std::string markdown = R"(["arguments","markdown"])";
    const std::string rich_text = R"(["arguments","rich_text"])";
    EXPECT_EQ(places("update_card_markdown", {{"card_id", card}, {"markdown", written}}), markdown);
    const object parent{{"card_id", card}};
    EXPECT_EQ(places("create_comment", {{"parent", parent}, {"markdown", written}}), markdown);
    EXPECT_EQ(places("create_comment", {{"parent", parent}, {"rich_text", nobody}}), rich_text);
    EXPECT_EQ(
        places("update_comment", {{"comment_id", comment}, {"rich_text", nobody}}), rich_text
    );
    const Answer there = page.must("get_card", {{"card_id", card}});
    const auto new_card = [&](const char* member, value body) {
        return places(
            "create_card",
            {{"board_id", there.text("/board_id")},
             {"column_id", there.text("/column_id")},
             {"title", "b"},
             {member, body}}
        );
    };
    EXPECT_EQ(new_card("markdown", value(written)), markdown);
    EXPECT_EQ(new_card("children", array{says}), R"(["arguments","children",0])");
    EXPECT_EQ(page.all(), "a");
}

TEST(RichText, FilesAreElsewhere) {
    Page page;
    EXPECT_EQ(
        page.try_append({object{{"image", {{"external", {{"url", "https://x.org/a.png"}}}}}}}
        ).status,
        200
    );
    const Answer refused =
        page.try_append({object{{"image", {{"file", {{"file_id", new_uuid().str()}}}}}}});
    EXPECT_EQ(refused.status, 422);
    EXPECT_EQ(page.try_append({object{{"image", object{}}}}).status, 422);
    EXPECT_EQ(
        page.try_append({object{{"file", {{"file_upload", {{"id", new_uuid().str()}}}}}}}).status,
        422
    );
}

// ------------------------------------------------------------------------------------- batches

TEST(Batches, ComeOneAfterTheOther) {
    Page page;
    const auto ids = page.append({paragraph("a"), toggle("b", {paragraph("c")}), paragraph("d")});
    const Uuid fresh = new_uuid();
    const std::int64_t version = page.card_version();
    in_process().forget_events();
    const Answer done = page.ask(
        "batch_blocks",
        {{"card_id", "DES-1"},
         {"operations",
          array{
              object{
                  {"op", "create"},
                  {"id", fresh.str()},
                  {"block", toggle("new")},
                  {"position", {{"type", "start"}}}},
              object{{"op", "move"}, {"id", ids[0].str()}, {"parent_id", fresh.str()}},
              object{
                  {"op", "update"},
                  {"id", ids[2].str()},
                  {"version", 1},
                  {"block", paragraph("D")}},
              object{{"op", "delete"}, {"id", ids[1].str()}},
          }}}
    );
    ASSERT_EQ(done.status, 200) << boost::json::serialize(done.body);
    EXPECT_EQ(page.all(), "new(a) D");
    EXPECT_EQ(done.text("/results/0/id"), fresh.str());
    EXPECT_EQ(done.number("/card_version"), version + 1);
    EXPECT_EQ(page.card_version(), version + 1);
    EXPECT_THAT(
        in_process().emitted(),
        ElementsAre("block.created", "block.updated", "block.updated", "block.deleted")
    );
}

TEST(Batches, AreCarriedOutWholeOrNotAtAll) {
    Page page;
    const auto ids = page.append({paragraph("a"), paragraph("b")});
    const auto refuse = [&](object operation, int status) {
        const Answer refused = page.ask(
            "batch_blocks",
            {{"card_id", page.card.str()},
             {"operations",
              array{object{{"op", "delete"}, {"id", ids[0].str()}}, std::move(operation)}}}
        );
        EXPECT_EQ(refused.status, status) << boost::json::serialize(refused.body);
        EXPECT_EQ(page.all(), "a b");
        return refused;
    };
    const Answer stale = refuse(
        {{"op", "update"}, {"id", ids[1].str()}, {"version", 7}, {"block", paragraph("x")}}, 412
    );
    EXPECT_EQ(stale.text("/additional_data/block_id"), ids[1].str());
    refuse({{"op", "delete"}, {"id", new_uuid().str()}}, 404);
    refuse({{"op", "move"}, {"id", ids[1].str()}, {"parent_id", ids[0].str()}}, 409);
    refuse({{"op", "update"}, {"id", ids[1].str()}, {"block", says("quote", "x")}}, 422);
    refuse({{"op", "update"}, {"id", ids[1].str()}}, 422);
    refuse({{"op", "create"}}, 422);
    refuse({{"op", "create"}, {"block", object{{"poem", object{}}}}}, 422);
    refuse({{"op", "delete"}}, 422);
}

TEST(Batches, AndAppendsOfManyAtOnceLoseNothing) {
    Page page;
    std::vector<std::thread> writers;
    std::atomic<int> made{0};
    for (int t = 0; t < 6; ++t)
        writers.emplace_back([&] {
            for (int i = 0; i < 8; ++i)
                made +=
                    page.try_append({paragraph("x")}, {{"position", {{"type", "start"}}}}).status ==
                    200;
        });
    for (auto& each : writers) each.join();
    EXPECT_EQ(made, 48);
    EXPECT_EQ(page.list().body.at("results").as_array().size(), 48U);
    EXPECT_EQ(
        in_process().run("SELECT block_count FROM cards WHERE id = '" + page.card.str() + "'"), "48"
    );
}

TEST(Edits, WhoeverMayNotChangeACardWaitsForNobodyOnIt) {
    Page page;
    const std::string card = page.card.str(), block = page.add(paragraph("x")).str();
    const Answer comment =
        page.must("create_comment", {{"parent", {{"card_id", card}}}, {"markdown", "Mine"}});
    page.must("update_board", {{"board_id", page.fixture.board.str()}, {"visibility", "private"}});
    const Caller stranger = in_process().person(page.owner, OrgRole::member, "Stranger");
    const Caller viewer = in_process().agent(page.owner, OrgRole::member, "Viewer");
    in_process().grant(page.fixture.board, viewer, "viewer");
    const LockHolder holder(
        "SELECT 1 FROM cards WHERE id = '" + card +
        "' FOR UPDATE; SELECT 1 FROM comments WHERE card_id = '" + card + "' FOR UPDATE"
    );
    const std::vector<std::pair<std::string_view, object>> edits{
        {"append_block_children", {{"parent_id", card}, {"children", array{paragraph("y")}}}},
        {"update_block", {{"block_id", block}, {"paragraph", object{}}}},
        {"delete_block", {{"block_id", block}}},
        {"update_card_markdown", {{"card_id", card}, {"mode", "append"}, {"markdown", "y"}}},
    };
    const std::vector<std::pair<std::string_view, object>> talk{
        {"create_comment", {{"parent", {{"card_id", card}}}, {"markdown", "y"}}},
        {"update_comment", {{"comment_id", comment.text("/id")}, {"markdown", "y"}}},
        {"delete_comment", {{"comment_id", comment.text("/id")}}},
    };
    const auto from = std::chrono::steady_clock::now();
    for (const auto& [operation, input] : edits) {
        EXPECT_EQ(page.ask(operation, input, &viewer).status, 403) << operation;
        EXPECT_EQ(page.ask(operation, input, &stranger).status, 404) << operation;
    }
    for (const auto& [operation, input] : talk)
        EXPECT_EQ(page.ask(operation, input, &stranger).status, 404) << operation;
    EXPECT_LT(std::chrono::steady_clock::now() - from, std::chrono::seconds(5));
}

}  // namespace svc::test
