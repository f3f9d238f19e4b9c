// What goes, and with what: notifications do not outlive what they tell of, nor their owners.

#include "tests/support/killed_jobs.hpp"
#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class NotificationRemoval : public NotificationsTest {
protected:
    std::string rows(const std::string& table = "notifications") {
        return ask("SELECT count(*) FROM " + table);
    }
    /// Of what is emitted from now on nobody is notified for an hour.
    void put_telling_off() {
        ask("CREATE FUNCTION put_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "
            "NEW.due_at := now() + interval '1 hour'; RETURN NEW; END $$");
        ask("CREATE TRIGGER put_off BEFORE INSERT ON notification_work FOR EACH ROW "
            "EXECUTE FUNCTION put_off()");
    }
    /// Behind the one event that was put off.
    void let_next_be_told() {
        ASSERT_TRUE(becomes("SELECT count(*) FROM notification_work", "1"));
        ask("DROP TRIGGER put_off ON notification_work");
    }
    /// Notifies of the one event of that kind after all.
    void tell_late(const std::string& behind) {
        ASSERT_TRUE(becomes(
            "SELECT count(*) FROM events e WHERE e.kind = '" + behind +
                "' AND e.position <= "
                "(SELECT position FROM event_consumers WHERE name = 'notifications')",
            "1"
        ));
        ASSERT_TRUE(becomes("SELECT count(*) FROM notification_work", "1"));
        // Those that are due are looked for a second later.
        ask("UPDATE notification_work SET due_at = now() - interval '2 seconds' RETURNING 1");
        do_now("notifications.make.find", database);
        settle();
    }
};

TEST_F(NotificationRemoval, ADeletedCommentIsNotReadInTheList) {
    const auto card = make_card(), other = make_card();
    watch(bob, card);
    watch(bob, other);
    const auto one = comment(ada, card, "Wrong");
    comment(ada, other, "First");
    const auto second = comment(ada, other, "Wrong too");
    settle();
    ASSERT_EQ(count(bob), 2);
    for (const auto& each : {one, second}) expect(200, ada.send("DELETE", "/v1/comments/" + each));
    settle();
    const auto left = list(bob);
    ASSERT_EQ(left.size(), 1u);
    EXPECT_TRUE(left.at(0).at("body").is_null());
    EXPECT_EQ(left.at(0).at("target").at("card_id").as_string(), other);
    EXPECT_EQ(count(bob), 1);
}

// As when the first attempt at telling has failed, and the comment goes before the second.
TEST_F(NotificationRemoval, WhatIsToldLateIsNotToldOfACommentThatIsGoneByThen) {
    const auto card = make_card();
    watch(bob, card);
    settle();
    put_telling_off();
    const auto gone = comment(ada, card, "Wrong ", bob_id);
    let_next_be_told();
    expect(200, ada.send("DELETE", "/v1/comments/" + gone));
    tell_late("comment.deleted");
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_EQ(count(bob), 0);
}

TEST_F(NotificationRemoval, WhatIsToldLateIsNotToldOfABlockThatIsGoneByThen) {
    const auto card = make_card();
    settle();
    put_telling_off();
    const json::value mention{{"type", "mention"}, {"mention", {{"user", {{"id", bob_id}}}}}};
    const auto toggle = [&](const json::array& text, const json::array& children) {
        return json::value{{"toggle", {{"rich_text", text}, {"children", children}}}};
    };
    const json::value blocks{{"children", {toggle({}, {toggle({mention}, {})})}}};
    const auto made = expect(200, send(ada, "PATCH", "/v1/blocks/" + card + "/children", blocks));
    let_next_be_told();
    // The block above the one that mentions him.
    expect(200, ada.send("DELETE", "/v1/blocks/" + made.text("/results/0/id")));
    tell_late("block.deleted");
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_EQ(count(bob), 0);
}

// An append that mentions him in two blocks is one notification, for as long as one is there.
TEST_F(NotificationRemoval, WhatIsToldLateIsToldOfTheBlockThatIsLeft) {
    const auto append = [&](const std::string& to) {
        const json::value bob_is{{"type", "mention"}, {"mention", {{"user", {{"id", bob_id}}}}}};
        json::array blocks;
        for (const char* words : {"First ", "Second "})
            blocks.push_back(
                {{"paragraph",
                  {{"rich_text", {{{"type", "text"}, {"text", {{"content", words}}}}, bob_is}}}}}
            );
        return expect(
            200, send(ada, "PATCH", "/v1/blocks/" + to + "/children", {{"children", blocks}})
        );
    };
    const auto card = make_card(), other = make_card();
    settle();
    put_telling_off();
    const auto made = append(card);
    let_next_be_told();
    expect(200, ada.send("DELETE", "/v1/blocks/" + made.text("/results/0/id")));
    tell_late("block.deleted");
    ASSERT_EQ(list(bob).size(), 1u);
    const auto told = comes(bob, "mention");
    EXPECT_THAT(text(told, "body"), HasSubstr("Second "));
    EXPECT_EQ(told.at("target").at("id").as_string(), made.text("/results/1/id"));
    EXPECT_EQ(told.at("event_count"), 1);
    EXPECT_EQ(count(bob), 1);

    // Told at once, the second keeps it when the first goes.
    const auto both = append(other);
    ASSERT_TRUE(eventually([&] { return list(bob).size() == 2; }));
    EXPECT_EQ(comes(bob, "mention").at("event_count"), 2) << "of two texts";
    EXPECT_EQ(count(bob), 2);
    expect(200, ada.send("DELETE", "/v1/blocks/" + both.text("/results/0/id")));
    settle();
    ASSERT_EQ(list(bob).size(), 2u);
    EXPECT_TRUE(list(bob).front().at("body").is_null());
    EXPECT_EQ(count(bob), 2);
}

TEST_F(NotificationRemoval, ADeletedBlockTakesWhatItSaidAlong) {
    const auto card = make_card();
    const json::value mention{{"type", "mention"}, {"mention", {{"user", {{"id", bob_id}}}}}};
    const json::value words{{"type", "text"}, {"text", {{"content", "Secret"}}}};
    const auto paragraph = [](const json::value& text, const json::array& children = {}) {
        json::object inside{{"rich_text", {text}}};
        if (!children.empty()) inside["children"] = children;
        return json::value{{"paragraph", inside}};
    };
    const json::value blocks{
        {"children", {paragraph(words), paragraph(words, {paragraph(mention)})}}
    };
    const auto made = expect(200, send(ada, "PATCH", "/v1/blocks/" + card + "/children", blocks));
    comes(bob, "mention");
    settle();
    // The first of what was appended is not what mentions him.
    expect(200, ada.send("DELETE", "/v1/blocks/" + made.text("/results/0/id")));
    settle();
    EXPECT_EQ(count(bob), 1);
    // The block above the one that does so.
    expect(200, ada.send("DELETE", "/v1/blocks/" + made.text("/results/1/id")));
    settle();
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_EQ(count(bob), 0);
}

TEST_F(NotificationRemoval, ADeletedCardTakesItsNewsAlong) {
    const auto card = make_card(), other = make_card();
    for (const auto& each : {card, other}) {
        watch(bob, each);
        comment(ada, each, "Words");
    }
    settle();
    expect(204, ada.send("DELETE", "/v1/cards/" + card));
    EXPECT_EQ(list(bob).size(), 1u);
    settle();
    EXPECT_EQ(rows(), "1");
    EXPECT_EQ(count(bob), 1);
}

TEST_F(NotificationRemoval, WhoeverLeavesLeavesNothing) {
    make_card({{"assignees", {bob_id}}});
    comes(bob, "assigned");
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "/members/" + bob_id));
    EXPECT_EQ(bob.get("/v1/notifications").status, 404);
    const std::string his = " WHERE user_id = '" + bob_id + "'";
    for (const char* each : {"notifications", "notification_inboxes", "notification_counts"})
        EXPECT_TRUE(becomes("SELECT count(*) FROM " + std::string(each) + his, "0")) << each;
}

TEST_F(NotificationRemoval, ADeletedAgentLeavesNothing) {
    const auto agent = make_agent();
    make_card({{"assignees", {agent}}});
    settle();
    const std::string its = " WHERE user_id = '" + agent + "'";
    ASSERT_EQ(ask("SELECT count(*) FROM notifications" + its), "1");
    expect(204, ada.send("DELETE", path(agent)));
    for (const char* each : {"notifications", "notification_inboxes", "notification_counts"})
        EXPECT_TRUE(becomes("SELECT count(*) FROM " + std::string(each) + its, "0")) << each;
}

TEST_F(NotificationRemoval, ADeletedWorkspaceTakesEverythingAlong) {
    const auto soon = Timestamp{Timestamp::now().micros + 3'600'000'000}.str();
    make_card({{"assignees", {bob_id}}, {"due", soon}});
    person("carol@example.com");
    expect(
        201,
        ada.post("/v1/orgs/" + org + "/invitations", json::value{{"email", "carol@example.com"}})
    );
    settle();
    do_now("notifications.due", database);
    comes(bob, "due");
    expect(
        204,
        ada.send(
            "DELETE", "/v1/orgs/" + org + "?confirm=" + ada.get("/v1/orgs/" + org).text("/slug")
        )
    );
    for (const char* each :
         {"orgs",
          "notifications",
          "notification_inboxes",
          "notification_counts",
          "notification_work",
          "notification_due_cards",
          "personal_notifications"})
        EXPECT_TRUE(becomes("SELECT count(*) FROM " + std::string(each), "0")) << each;
}

TEST_F(NotificationRemoval, WhatIsOldIsDroppedInBatchesAndCountedNoMore) {
    const auto card = make_card();
    comment(ada, card, "Look ", bob_id);
    comes(bob, "mention");
    ask("INSERT INTO notifications (org_id, user_id, id, kind, epoch, subject_id, "
        "least_role, target_type, target_id, title, created_time) SELECT '" +
        org + "', '" + bob_id +
        "', gen_random_uuid(), 'system', i.epoch, gen_random_uuid(), 'viewer', 'card', "
        "gen_random_uuid(), 'Old', now() - interval '91 days' FROM generate_series(1, 1234), "
        "notification_inboxes i WHERE i.user_id = '" +
        bob_id + "'");
    ask("INSERT INTO notification_counts VALUES ('" + org + "', '" + bob_id +
        "', '00000000-0000-0000-0000-000000000000', 'viewer', 1234)");
    EXPECT_EQ(count(bob), 1235);
    do_now("notifications.drop_old.find", database);
    ASSERT_TRUE(becomes("SELECT count(*) FROM notifications", "1"));
    EXPECT_EQ(count(bob), 1);
    EXPECT_EQ(how_many(bob, "mention"), 1u);
}

TEST_F(NotificationRemoval, WhatBelongsToNoWorkspaceIsDroppedOnceItHasEnded) {
    const auto add = [&](const std::string& ends, int many) {
        ask("INSERT INTO personal_notifications (user_id, id, kind, about_org, target_type, "
            "target_id, title, expires_at) SELECT '" +
            bob_id + "', gen_random_uuid(), 'system', '" + org +
            "', 'broadcast', gen_random_uuid(), 'News', " + ends + " FROM generate_series(1, " +
            std::to_string(many) + ")");
    };
    add("now() + interval '1 day'", 1);
    add("now() - interval '1 day'", 2);
    add("now() - interval '91 days'", 5'100);
    EXPECT_EQ(list(bob).size(), 1u) << "what has ended is not shown";
    EXPECT_EQ(count(bob), 1);
    do_now("notifications.drop_expired", database);
    EXPECT_TRUE(becomes("SELECT count(*) FROM personal_notifications", "3"));
}

TEST_F(NotificationRemoval, NothingIsToldTwiceWhenAServerIsKilled) {
    const auto card = make_card();
    watch(bob, card);
    for (int i = 0; i < 20; ++i) comment(ada, card, "Words " + std::to_string(i));
    server.end(SIGKILL);
    end_leases_of_killed(database);
    server.start();
    ada = client();
    log_in(ada, "ada@example.com");
    log_in(bob, "bob@example.com");
    settle();
    EXPECT_EQ(comes(bob, "comment").at("event_count"), 20);
}

TEST_F(NotificationRemoval, ABackupHasThem) {
    make_card({{"assignees", {bob_id}}});
    comes(bob, "assigned");
    const auto file = (server.var() / "saved.tar").string();
    const auto saved = run(
        {in_build("bin/workboard"),
         "backup",
         file,
         "--database-url",
         database,
         "--var",
         server.var().string(),
         "--set",
         key_of_all_servers}
    );
    ASSERT_EQ(saved.code, 0) << saved.output;
    const auto listed = run({"tar", "-tf", file});
    for (const char* each :
         {"database/notifications\n",
          "database/notification_inboxes\n",
          "database/notification_counts\n",
          "database/notification_work\n",
          "database/notification_due_cards\n"})
        EXPECT_THAT(listed.output, HasSubstr(each));
}

}  // namespace
}  // namespace svc::test
