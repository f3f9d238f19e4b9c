// Listing, counting and marking, and what nobody is shown.

#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

class NotificationReading : public NotificationsTest {
protected:
    /// So many of Bob's, as an earlier time has left them, oldest first.
    void leave(int many, const std::string& on_board = "", const std::string& card = "") {
        const std::string place = on_board.empty() ? "NULL" : "'" + on_board + "'";
        ask("INSERT INTO notification_inboxes (org_id, user_id) VALUES ('" + org + "', '" + bob_id +
            "') ON CONFLICT DO NOTHING");
        ask("INSERT INTO notifications (org_id, user_id, id, kind, epoch, subject_id, "
            "least_role, board_id, card_id, target_type, target_id, title, created_time) "
            "SELECT '" +
            org + "', '" + bob_id +
            "', gen_random_uuid(), 'system', i.epoch, gen_random_uuid(), 'viewer', " + place +
            ", " + (card.empty() ? "NULL" : "'" + card + "'") +
            ", 'card', gen_random_uuid(), 'News ' || n, now() - interval '1 day' + n * interval "
            "'1 millisecond' FROM generate_series(1, " +
            std::to_string(many) + ") n, notification_inboxes i WHERE i.org_id = '" + org +
            "' AND i.user_id = '" + bob_id + "'");
        ask("INSERT INTO notification_counts AS c VALUES ('" + org + "', '" + bob_id +
            "', coalesce(" + place + "::uuid, '00000000-0000-0000-0000-000000000000'), 'viewer', " +
            std::to_string(many) +
            ") ON CONFLICT (org_id, user_id, board_id, least_role) DO "
            "UPDATE SET unread = c.unread + excluded.unread");
    }
    static Reply read(Client& who, const std::string& id) {
        return who.post("/v1/notifications/" + id + ":read");
    }
};

TEST_F(NotificationReading, PagesGoFromTheNewestToTheOldestAndMissNone) {
    leave(57);
    std::vector<std::string> titles;
    std::string cursor;
    do {
        const auto page = expect(
            200,
            bob.get(
                "/v1/notifications?page_size=10" + (cursor.empty() ? "" : "&start_cursor=" + cursor)
            )
        );
        const auto body = page.json();
        EXPECT_EQ(body.at("type").as_string(), "notification");
        EXPECT_EQ(body.at("has_more").as_bool(), body.at("next_cursor").is_string());
        for (const auto& each : body.at("results").as_array())
            titles.emplace_back(each.at("title").as_string());
        cursor = body.at("next_cursor").is_string() ? page.text("/next_cursor") : "";
    } while (!cursor.empty());
    ASSERT_EQ(titles.size(), 57u);
    for (int i = 0; i < 57; ++i)
        EXPECT_EQ(titles.at(static_cast<std::size_t>(i)), "News " + std::to_string(57 - i));
    EXPECT_EQ(bob.get("/v1/notifications?start_cursor=abc").status, 422);
    EXPECT_EQ(bob.get("/v1/notifications?page_size=101").status, 422);
    EXPECT_EQ(bob.get("/v1/notifications?unread=perhaps").status, 422);
}

TEST_F(NotificationReading, WhatIsMarkedIsCountedNoMoreAndListedWhenAskedForAll) {
    leave(3);
    EXPECT_EQ(count(bob), 3);
    const auto id = text(list(bob).front().as_object(), "id");
    const auto first = expect(200, read(bob, id));
    EXPECT_EQ(first.text("/read"), "true");
    EXPECT_EQ(
        expect(200, read(bob, id)).body.find(first.text("/read_at")) != std::string::npos, true
    );
    EXPECT_EQ(count(bob), 2);
    EXPECT_EQ(list(bob).size(), 3u);
    EXPECT_EQ(list(bob, "?unread=true").size(), 2u);
    EXPECT_EQ(read(ada, id).status, 404) << "it is Bob's";
    EXPECT_EQ(read(bob, nowhere).status, 404);
    EXPECT_EQ(read(bob, "none").status, 422);

    const auto all = expect(200, bob.post("/v1/notifications:readAll"));
    EXPECT_EQ(all.text("/object"), "notifications_read");
    EXPECT_EQ(all.text("/updated_count"), "2");
    EXPECT_EQ(all.text("/unread_count"), "0");
    EXPECT_EQ(count(bob), 0);
    EXPECT_EQ(list(bob, "?unread=true").size(), 0u);
    for (const json::value& each : list(bob)) EXPECT_EQ(each.at("read"), true);
    EXPECT_EQ(expect(200, bob.post("/v1/notifications:readAll")).text("/updated_count"), "0");
    ASSERT_TRUE(becomes("SELECT count(*) FROM notifications WHERE read_at IS NULL", "0"));
    leave(1);
    EXPECT_EQ(count(bob), 1);
    EXPECT_EQ(list(bob, "?unread=true").size(), 1u);
}

TEST_F(NotificationReading, ThoseOfOneCardAreOneUntilItIsRead) {
    const auto card = make_card(), other = make_card();
    watch(bob, card);
    watch(bob, other);
    comment(ada, card, "One");
    comment(ada, card, "Two");
    comment(ada, other, "Elsewhere");
    comment(ada, card, "Three");
    settle();
    auto all = list(bob);
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(text(all.at(0).as_object(), "body"), "Three") << "the newest comes first";
    EXPECT_EQ(all.at(0).at("event_count"), 3);
    EXPECT_EQ(count(bob), 2);
    expect(200, read(bob, text(all.at(0).as_object(), "id")));
    comment(ada, card, "Four");
    settle();
    all = list(bob);
    ASSERT_EQ(all.size(), 3u) << "what is read stays as it was";
    EXPECT_EQ(all.at(0).at("event_count"), 1);
    expect(200, bob.post("/v1/notifications:readAll"));
    comment(ada, card, "Five");
    settle();
    EXPECT_EQ(count(bob), 1);
    EXPECT_EQ(list(bob, "?unread=true").at(0).at("event_count"), 1);
}

TEST_F(NotificationReading, EachWorkspaceHasItsOwn) {
    leave(2);
    const auto second =
        expect(201, bob.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    Client session = client();
    log_in(session, "bob@example.com");
    const auto counted = [&](const std::string& query, const Headers& headers = {}) {
        return session.send("GET", "/v1/notifications/count" + query, {}, headers);
    };
    EXPECT_EQ(expect(200, counted("?org_id=" + org)).text("/unread_count"), "2");
    EXPECT_EQ(expect(200, counted("?org_id=" + org)).text("/org_id"), org);
    EXPECT_EQ(expect(200, counted("", {{"X-Svc-Org", org}})).text("/unread_count"), "2");
    EXPECT_EQ(expect(200, counted("?org_id=" + second)).text("/unread_count"), "0");
    EXPECT_EQ(counted("?org_id=" + second, {{"X-Svc-Org", org}}).status, 422);
    EXPECT_EQ(counted("?org_id=" + std::string(nowhere)).status, 404);
    EXPECT_EQ(counted("?org_id=here").status, 422);
    EXPECT_EQ(once("GET", "/v1/notifications/count").status, 401);
    const auto id = text(list(bob).front().as_object(), "id");
    EXPECT_EQ(
        session.send("POST", "/v1/notifications/" + id + ":read?org_id=" + second).status, 404
    );
    EXPECT_EQ(
        expect(200, session.send("POST", "/v1/notifications:readAll?org_id=" + second))
            .text("/updated_count"),
        "0"
    );
    EXPECT_EQ(count(bob), 2);
    // An integration token reads as its owner, in its workspace alone.
    Client program = client();
    program.token(expect(
                      201,
                      bob.post(
                          "/v1/tokens",
                          json::value{{"kind", "integration"}, {"name", "Key"}, {"role", "member"}}
                      )
    )
                      .text("/token"));
    EXPECT_EQ(count(program), 2);
    EXPECT_EQ(program.get("/v1/notifications?org_id=" + second).status, 404);
}

TEST_F(NotificationReading, WhoeverHasLostTheBoardIsShownNothingOfItNotEvenInTheCount) {
    const auto secret = make_private();
    const auto card = make_card({{"column_id", secret.column}}, secret.board);
    watch(bob, card);
    comment(ada, card, "Between us");
    const auto id = text(comes(bob, "comment"), "id");
    EXPECT_EQ(count(bob), 1);
    revoke(secret.board, bob_id);
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_EQ(list(bob, "?unread=true").size(), 0u);
    EXPECT_EQ(count(bob), 0);
    EXPECT_EQ(read(bob, id).status, 404);
    comment(ada, card, "He has gone");
    settle();
    EXPECT_EQ(ask("SELECT max(event_count) FROM notifications"), "1") << "nor is he told";
    EXPECT_EQ(expect(200, bob.post("/v1/notifications:readAll")).text("/updated_count"), "0");
    grant(secret.board, bob_id);
    EXPECT_EQ(list(bob).size(), 1u) << "what he was told is there again";
    EXPECT_EQ(count(bob), 0);
}

TEST_F(NotificationReading, ABoardThatBecomesPrivateTakesThemAlongFromThoseWhoAreNotOnIt) {
    Client carl = member("carl@example.com", "member");
    const auto card = make_card();
    watch(bob, card);
    watch(carl, card);
    grant(board, id_of(carl));
    comment(ada, card, "Words");
    comes(bob, "comment");
    comes(carl, "comment");
    expect(200, send(ada, "PATCH", "/v1/boards/" + board, {{"visibility", "private"}}));
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_EQ(count(bob), 0);
    EXPECT_EQ(list(carl).size(), 1u);
    EXPECT_EQ(count(carl), 1);
}

TEST_F(NotificationReading, ABoardInTheTrashTakesThemAlongAndBringsThemBack) {
    const auto card = make_card();
    watch(bob, card);
    comment(ada, card, "Words");
    comes(bob, "comment");
    expect(204, ada.send("DELETE", "/v1/boards/" + board));
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_EQ(count(bob), 0);
    expect(200, ada.post("/v1/boards/" + board + ":restore"));
    EXPECT_EQ(list(bob).size(), 1u);
    EXPECT_EQ(count(bob), 1);
}

TEST_F(NotificationReading, WhoeverIsNoAdminAnyMoreIsNotShownWhatIsForAdmins) {
    Client carl = member("carl@example.com", "admin");
    const auto carl_id = id_of(carl);
    const auto agent = make_agent();
    expect(200, ada.post(path(agent, ":disable")));
    comes(carl, "agent_disabled");
    EXPECT_EQ(count(carl), 1);
    expect(
        200, send(ada, "PATCH", "/v1/orgs/" + org + "/members/" + carl_id, {{"role", "member"}})
    );
    comes(carl, "membership");
    EXPECT_EQ(how_many(carl, "agent_disabled"), 0u);
    EXPECT_EQ(count(carl), 1);
}

TEST_F(NotificationReading, AListIsBoundedHoweverMuchIsHidden) {
    const auto secret = make_private(false);
    leave(3);
    leave(1'200, secret.board);
    std::size_t seen = 0;
    int pages = 0;
    std::string cursor;
    do {
        const auto page = expect(
            200,
            bob.get(
                "/v1/notifications?unread=true" + (cursor.empty() ? "" : "&start_cursor=" + cursor)
            )
        );
        ++pages;
        const auto body = page.json();
        seen += body.at("results").as_array().size();
        cursor = body.at("next_cursor").is_string() ? page.text("/next_cursor") : "";
    } while (!cursor.empty() && pages < 20);
    EXPECT_EQ(seen, 3u);
    EXPECT_GT(pages, 1);
    EXPECT_EQ(count(bob), 3);
}

}  // namespace
}  // namespace svc::test
