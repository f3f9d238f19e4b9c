// Every kind of notification, made by what really happens.

#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class NotificationKinds : public NotificationsTest {
protected:
    using NotificationsTest::NotificationsTest;
    std::string name(const std::string& card) {
        return expect(200, ada.get("/v1/cards/" + card)).text("/key") + " Fix it";
    }
};

TEST_F(NotificationKinds, AMentionInACommentOrInABlock) {
    const auto card = make_card();
    const auto said = comment(ada, card, "Look, ", bob_id);
    const auto told = comes(bob, "mention");
    EXPECT_EQ(text(told, "title"), "Ada mentioned you in " + name(card));
    EXPECT_THAT(text(told, "body"), HasSubstr("Look, "));
    EXPECT_EQ(told.at("actor").at("id").as_string(), ada_id);
    EXPECT_EQ(told.at("target").at("type").as_string(), "comment");
    EXPECT_EQ(told.at("target").at("id").as_string(), said);
    EXPECT_EQ(told.at("target").at("card_id").as_string(), card);
    EXPECT_EQ(told.at("target").at("board_id").as_string(), board);
    EXPECT_THAT(std::string(told.at("target").at("url").as_string()), HasSubstr("/cards/" + card));
    EXPECT_EQ(told.at("user_id").as_string(), bob_id);
    EXPECT_EQ(told.at("org_id").as_string(), org);
    EXPECT_EQ(told.at("read"), false);
    settle();
    // A mention makes him watch the card, and he is told once of it all the same.
    EXPECT_EQ(list(bob).size(), 1u);

    const auto other = make_card({{"title", "Fix it"}});
    const json::value mention{{"type", "mention"}, {"mention", {{"user", {{"id", bob_id}}}}}};
    const json::value block{{"children", {{{"paragraph", {{"rich_text", {mention}}}}}}}};
    const auto made = expect(200, send(ada, "PATCH", "/v1/blocks/" + other + "/children", block));
    ASSERT_TRUE(eventually([&] { return how_many(bob, "mention") == 2; }));
    EXPECT_EQ(comes(bob, "mention").at("target").at("type").as_string(), "block");
    // Who was mentioned before is not told once more when the text changes.
    const auto id = made.text("/results/0/id");
    const json::value longer{
        {"paragraph",
         {{"rich_text", {mention, {{"type", "text"}, {"text", {{"content", " please"}}}}}}}}
    };
    expect(200, send(ada, "PATCH", "/v1/blocks/" + id, longer));
    settle();
    EXPECT_EQ(comes(bob, "mention").at("event_count"), 1);
    comment(ada, other, "He watches this one, too");
    EXPECT_EQ(comes(bob, "comment").at("target").at("card_id").as_string(), other);
}

TEST_F(NotificationKinds, AMentionThatComesWithAChange) {
    const auto card = make_card();
    const json::value bob_is{{"type", "mention"}, {"mention", {{"user", {{"id", bob_id}}}}}};
    const json::value words{{"type", "text"}, {"text", {{"content", "Look, "}}}};
    const auto said = comment(ada, card, "Words");
    const auto change = [&] {
        const json::value body{{"rich_text", {words, bob_is}}};
        expect(200, send(ada, "PATCH", "/v1/comments/" + said, body));
    };
    change();
    EXPECT_EQ(comes(bob, "mention").at("target").at("id").as_string(), said);
    change();
    settle();
    EXPECT_EQ(comes(bob, "mention").at("event_count"), 1) << "he was mentioned before";

    const auto other = make_card();
    const json::value block{{"children", {{{"paragraph", {{"rich_text", {words}}}}}}}};
    const auto made = expect(200, send(ada, "PATCH", "/v1/blocks/" + other + "/children", block));
    const auto id = made.text("/results/0/id");
    const json::value changed{{"paragraph", {{"rich_text", {words, bob_is}}}}};
    expect(200, send(ada, "PATCH", "/v1/blocks/" + id, changed));
    ASSERT_TRUE(eventually([&] { return how_many(bob, "mention") == 2; }));
    EXPECT_EQ(comes(bob, "mention").at("target").at("id").as_string(), id);
}

// An event leaves out what would make it larger than 256 KiB.
TEST_F(NotificationKinds, AMentionInATextThatIsTooLongForItsEvent) {
    const auto words = [](std::size_t many) {
        return json::value{{"type", "text"}, {"text", {{"content", std::string(many, 'x')}}}};
    };
    const json::value bob_is{{"type", "mention"}, {"mention", {{"user", {{"id", bob_id}}}}}};
    const auto card = make_card();
    json::array long_text(80, words(1'990));
    long_text.push_back(bob_is);
    const json::value comment{{"parent", {{"card_id", card}}}, {"rich_text", long_text}};
    const auto said = expect(201, ada.post("/v1/comments", comment)).text("/id");
    const auto told = comes(bob, "mention");
    EXPECT_EQ(told.at("target").at("id").as_string(), said);
    EXPECT_EQ(text(told, "body"), std::string(1'999, 'x') + "…");

    const auto other = make_card();
    const auto paragraph = [](json::array texts) {
        return json::value{{"paragraph", {{"rich_text", std::move(texts)}}}};
    };
    json::array blocks(90, paragraph({words(1'900)}));
    blocks.push_back(paragraph({words(5), bob_is}));
    const auto path = "/v1/blocks/" + other + "/children";
    const auto made = expect(200, send(ada, "PATCH", path, {{"children", blocks}}));
    ASSERT_TRUE(eventually([&] { return how_many(bob, "mention") == 2; }));
    settle();
    EXPECT_EQ(comes(bob, "mention").at("target").at("id").as_string(), made.text("/results/90/id"));
    EXPECT_EQ(text(comes(bob, "mention"), "body"), "xxxxx@Bob");
    EXPECT_EQ(
        ask("SELECT string_agg(truncated, ' ' ORDER BY id) FROM event_log WHERE truncated IS NOT "
            "NULL"),
        R"(["rich_text"] ["blocks"])"
    );
}

TEST_F(NotificationKinds, AnAssignmentWhenACardIsMadeOrChanged) {
    const auto made = make_card({{"assignees", {bob_id}}});
    EXPECT_EQ(text(comes(bob, "assigned"), "title"), "Ada assigned " + name(made) + " to you");
    const auto later = make_card();
    expect(200, send(ada, "PATCH", "/v1/cards/" + later, {{"assignees", {ada_id, bob_id}}}));
    ASSERT_TRUE(eventually([&] { return how_many(bob, "assigned") == 2; }));
    settle();
    EXPECT_EQ(list(ada).size(), 0u) << "nobody is told of what they did themselves";
}

TEST_F(NotificationKinds, ACommentOnAWatchedCardAndOnOnesOwn) {
    const auto watched = make_card(), own = make_card({{"assignees", {bob_id}}});
    watch(bob, watched);
    comment(ada, watched, "First words");
    const auto told = comes(bob, "comment");
    EXPECT_EQ(text(told, "title"), "Ada commented on " + name(watched));
    EXPECT_EQ(text(told, "body"), "First words");
    comment(ada, own, "Of yours");
    ASSERT_TRUE(eventually([&] { return how_many(bob, "comment") == 2; }));
    comment(bob, watched, "Mine");
    settle();
    EXPECT_EQ(how_many(bob, "comment"), 2u) << "nobody is told of what they did themselves";
    expect(204, bob.send("DELETE", "/v1/cards/" + watched + "/watchers/me"));
    comment(ada, watched, "Nobody hears");
    settle();
    EXPECT_EQ(comes(bob, "comment").at("event_count"), 1);
}

TEST_F(NotificationKinds, WhatAWatchedCardIsMovedTo) {
    const auto card = make_card();
    watch(bob, card);
    move(ada, card, columns.at(1));
    const auto told = comes(bob, "moved");
    EXPECT_THAT(text(told, "title"), HasSubstr("Ada moved " + name(card) + " to "));
    EXPECT_THAT(text(told, "body"), HasSubstr("It was in "));
    const auto other = make_card({{"column_id", columns.at(1)}});
    expect(
        200,
        ada.post(
            "/v1/cards/" + card + ":move",
            json::value{{"column_id", columns.at(1)}, {"after_id", other}}
        )
    );
    settle();
    EXPECT_EQ(comes(bob, "moved").at("event_count"), 1) << "another place in the column is no news";
}

TEST_F(NotificationKinds, ACardThatIsDueSoonOnceForEachDate) {
    const auto soon = Timestamp{Timestamp::now().micros + 3'600'000'000}.str();
    const auto card = make_card({{"assignees", {bob_id}}, {"due", soon}});
    make_card({{"assignees", {bob_id}}, {"due", "2099-01-01"}});
    const auto unassigned = make_card({{"due", soon}});
    settle();
    do_now("notifications.due", database);
    const auto told = comes(bob, "due");
    EXPECT_THAT(text(told, "title"), HasSubstr(name(card) + " is due on " + soon.substr(0, 10)));
    EXPECT_TRUE(told.at("actor").is_null());
    EXPECT_EQ(comes(ada, "due").at("target").at("card_id").as_string(), unassigned)
        << "of a card that nobody has, its author is told";
    ASSERT_TRUE(becomes("SELECT count(*) FROM events WHERE kind = 'card.due'", "2"));
    do_now("notifications.due", database);
    ASSERT_TRUE(becomes("SELECT state FROM jobs WHERE kind = 'notifications.due'", "waiting"));
    EXPECT_EQ(ask("SELECT count(*) FROM events WHERE kind = 'card.due'"), "2");
    const auto sooner = Timestamp{Timestamp::now().micros + 1'800'000'000}.str();
    expect(200, send(ada, "PATCH", "/v1/cards/" + card, {{"due", sooner}}));
    do_now("notifications.due", database);
    ASSERT_TRUE(eventually([&] { return comes(bob, "due").at("event_count") == 2; }));
}

TEST_F(NotificationKinds, AnInvitationForWhoeverHasTheAddressUntilItIsAnswered) {
    Client carol = person("carol@example.com");
    const auto invite = [&] {
        return expect(
                   201,
                   ada.post(
                       "/v1/orgs/" + org + "/invitations",
                       json::value{{"email", "Carol@Example.com"}, {"message", "Come in"}}
                   )
        )
            .text("/id");
    };
    auto invitation = invite();
    const auto told = comes(carol, "invitation");
    EXPECT_EQ(text(told, "title"), "Ada invited you to Acme");
    EXPECT_EQ(text(told, "body"), "Come in");
    EXPECT_EQ(told.at("org_id").as_string(), org);
    EXPECT_EQ(told.at("target").at("id").as_string(), invitation);
    EXPECT_EQ(count(carol), 1) << "though she is in no workspace";
    const auto id = text(told, "id");
    expect(200, carol.post("/v1/notifications/" + id + ":read"));
    EXPECT_EQ(count(carol), 0);
    expect(200, carol.post("/v1/invitations/" + invitation + ":decline"));
    EXPECT_TRUE(eventually([&] { return list(carol).empty(); }));
    invitation = invite();
    comes(carol, "invitation");
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "/invitations/" + invitation));
    EXPECT_TRUE(eventually([&] { return list(carol).empty(); }));
    EXPECT_EQ(list(bob).size(), 0u);
}

TEST_F(NotificationKinds, ARoleInAWorkspaceAndAChangeOfIt) {
    Client dan = person("dan@example.com");
    const auto dan_id = id_of(dan);
    expect(
        201,
        ada.post(
            "/v1/orgs/" + org + "/members",
            json::value{{"email", "dan@example.com"}, {"role", "member"}}
        )
    );
    dan.always("X-Svc-Org", org);
    EXPECT_EQ(text(comes(dan, "membership"), "title"), "Ada added you to Acme as a member");
    expect(200, send(ada, "PATCH", "/v1/orgs/" + org + "/members/" + dan_id, {{"role", "admin"}}));
    EXPECT_TRUE(eventually([&] {
        return text(comes(dan, "membership"), "title") == "Ada made you an admin of Acme";
    }));
    EXPECT_EQ(comes(dan, "membership").at("event_count"), 2);
}

TEST_F(NotificationKinds, AWorkerThatFailsOnACardUntilItsAttemptsAreUsedUp) {
    const json::value column{
        {"name", "Queue"},
        {"kind", "queue"},
        {"queue", {{"enabled", true}, {"max_attempts", 1}, {"lease_ttl_seconds", 5}}}
    };
    const Queue queue{
        board, expect(201, ada.post("/v1/boards/" + board + "/columns", column)).text("/id")
    };
    const auto card = make_card({{"column_id", queue.column}, {"assignees", {bob_id}}});
    Client robot = acting_as(make_agent());
    const auto claimed = expect(200, claim(robot, queue));
    expect(
        200,
        robot.post(
            "/v1/leases/" + claimed.text("/lease/id") + ":fail",
            json::value{{"lease_token", claimed.text("/lease_token")}, {"error", "No disk"}}
        )
    );
    const auto failed = comes(bob, "lease_failed");
    EXPECT_EQ(text(failed, "title"), "Robot failed on " + name(card));
    EXPECT_EQ(text(failed, "body"), "No disk");
    EXPECT_EQ(failed.at("actor").at("principal_type").as_string(), "agent");
    EXPECT_EQ(text(comes(bob, "exhausted"), "title"), name(card) + " has used up its attempts");
    const auto left = make_card({{"column_id", queue.column}, {"assignees", {bob_id}}});
    const auto lease = expect(200, claim(robot, queue)).text("/lease/id");
    ask("UPDATE queue SET expires_at = now() - interval '1 second' WHERE lease_id = '" + lease +
        "' RETURNING 1");
    EXPECT_THAT(text(comes(bob, "lease_expired"), "title"), HasSubstr(name(left)));
}

TEST_F(NotificationKinds, AnAgentThatIsDisabledOrHasUsedUpItsBudget) {
    Client carl = member("carl@example.com", "admin");
    const auto agent = make_agent({{"budgets", {{"requests_per_minute", 1}}}});
    Client robot = acting_as(agent);
    while (robot.get("/v1/me").status == 200) continue;
    const auto told = comes(carl, "agent_disabled");
    EXPECT_EQ(text(told, "title"), "The agent Robot has used up its budget");
    EXPECT_EQ(text(comes(ada, "agent_disabled"), "title"), text(told, "title"));
    const auto& target = told.at("target");
    EXPECT_THAT(
        std::string(target.at("url").as_string()),
        HasSubstr("/agents/" + std::string(target.at("id").as_string()))
    );
    expect(200, carl.post(path(agent, ":disable"), json::value{{"reason", "Runs wild"}}));
    EXPECT_TRUE(eventually([&] {
        const auto now = comes(ada, "agent_disabled");
        return text(now, "title").find("disabled the agent Robot") != std::string::npos;
    }));
    settle();
    EXPECT_EQ(list(bob).size(), 0u) << "he neither owns it nor administers the workspace";
    EXPECT_EQ(comes(carl, "agent_disabled").at("event_count"), 1) << "he did it himself";
}

TEST_F(NotificationKinds, TheBillForThoseWhoOwnTheWorkspace) {
    Client carl = member("carl@example.com", "admin");
    const auto done = operate({"org", "set-billing-state", org, "past_due"});
    ASSERT_EQ(done.code, 0) << done.output;
    const auto told = comes(ada, "billing");
    EXPECT_EQ(text(told, "title"), "The bill of Acme is past due");
    settle();
    EXPECT_EQ(list(carl).size(), 0u);
    // Reading is no write that a workspace in arrears may not make.
    expect(200, ada.post("/v1/notifications/" + text(told, "id") + ":read"));
    expect(200, ada.post("/v1/notifications:readAll"));
}

TEST_F(NotificationKinds, AnAgentIsToldOfWhatIsItsOwn) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    make_card({{"assignees", {agent}}});
    const auto told = comes(robot, "assigned");
    EXPECT_EQ(told.at("user_id").as_string(), agent);
    EXPECT_EQ(count(robot), 1);
    settle();
    EXPECT_EQ(list(ada).size(), 0u) << "its owner has other notifications";
}

}  // namespace
}  // namespace svc::test
