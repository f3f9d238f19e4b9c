// Digests: what is unread, summed up at the hour that its reader chose.

#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

class NotificationDigests : public NotificationsTest {
protected:
    using NotificationsTest::NotificationsTest;
    /// As if the hour had come.
    void bring_due() {
        ask("UPDATE notification_inboxes SET digest_at = now() - interval '1 second' "
            "WHERE digest_at IS NOT NULL RETURNING 1");
        do_now("notifications.digest.find", database);
    }
    std::string digests() {
        return ask("SELECT count(*) FROM mail_outbox WHERE template = 'notification_digest'");
    }
    /// Nothing else is mailed.
    void quiet(Client& who) {
        prefer(
            who,
            {{"notifications", {{"mention", {{"email", false}}}, {"assigned", {{"email", false}}}}}}
        );
    }
};

TEST_F(NotificationDigests, SumUpWhatIsUnreadAndMayBeSeen) {
    quiet(bob);
    prefer(bob, {{"email_digest", "daily"}});
    const auto secret = make_private();
    const auto card = make_card({{"title", "Paint <it> & dry"}});
    const auto hidden = make_card({{"column_id", secret.column}, {"title", "Hush"}}, secret.board);
    const auto seen = make_card({{"title", "Read already"}});
    for (const auto& each : {card, hidden, seen}) watch(bob, each);
    for (const auto& each : {card, card, hidden, seen}) comment(ada, each, "Words");
    ASSERT_TRUE(eventually([&] { return how_many(bob, "comment") == 3; }));
    settle();
    for (const json::value& each : list(bob))
        if (each.at("target").at("card_id").as_string() == seen)
            expect(200, bob.post("/v1/notifications/" + text(each.as_object(), "id") + ":read"));
    revoke(secret.board, bob_id);
    bring_due();
    const auto mail = server.mail_to("bob@example.com", 2);
    EXPECT_THAT(mail, HasSubstr("Subject: Acme: a new notification"));
    EXPECT_THAT(mail, HasSubstr("Paint <it> & dry (2 times)"));
    EXPECT_THAT(mail, HasSubstr("Paint &lt;it&gt; &amp; dry (2 times)</a></li>"));
    EXPECT_THAT(mail, HasSubstr("/cards/" + card));
    EXPECT_THAT(mail, HasSubstr("List-Unsubscribe: <http"));
    EXPECT_THAT(mail, HasSubstr("List-Unsubscribe-Post: List-Unsubscribe=One-Click"));
    EXPECT_THAT(mail, HasSubstr("once a day"));
    for (const char* each : {"Hush", "Read already"}) EXPECT_THAT(mail, Not(HasSubstr(each)));
    // What was summed up is not summed up again, and nothing is sent when there is nothing new.
    bring_due();
    EXPECT_EQ(ask("SELECT count(*) FROM notification_inboxes WHERE digest_at IS NOT NULL"), "0");
    comment(ada, card, "More");
    settle();
    bring_due();
    ASSERT_TRUE(eventually([&] { return digests() == "2"; }));
    EXPECT_THAT(server.mail_to("bob@example.com", 3), HasSubstr("(3 times)"));
}

TEST_F(NotificationDigests, AreForThoseWhoWantThem) {
    quiet(bob);
    prefer(bob, {{"email_digest", "off"}});
    const auto card = make_card({{"assignees", {bob_id}}});
    comes(bob, "assigned");
    settle();
    EXPECT_EQ(ask("SELECT count(*) FROM notification_inboxes WHERE digest_at IS NOT NULL"), "0");
    prefer(bob, {{"email_digest", "weekly"}});
    comment(ada, card, "Words");
    settle();
    const auto weekly =
        ask("SELECT digest_at FROM notification_inboxes WHERE user_id = '" + bob_id + "'");
    EXPECT_NE(weekly, "");
    prefer(bob, {{"email_digest", "daily"}, {"digest_hour", 5}, {"timezone", "Asia/Tokyo"}});
    EXPECT_EQ(
        ask("SELECT extract(hour FROM digest_at AT TIME ZONE 'Asia/Tokyo') FROM "
            "notification_inboxes WHERE user_id = '" +
            bob_id + "'"),
        "5"
    ) << "what waits follows the preferences";
    expect(204, ada.send("DELETE", "/v1/orgs/" + org + "/members/" + bob_id));
    ask("UPDATE notification_inboxes SET digest_at = now() RETURNING 1");
    do_now("notifications.digest.find", database);
    ASSERT_TRUE(
        becomes("SELECT count(*) FROM notification_inboxes WHERE digest_at IS NOT NULL", "0")
    );
    EXPECT_EQ(digests(), "0") << "he is no member any more";
}

TEST_F(NotificationDigests, UnsubscribingEndsThem) {
    quiet(bob);
    make_card({{"assignees", {bob_id}}});
    comes(bob, "assigned");
    settle();
    bring_due();
    const auto mail = server.mail_to("bob@example.com", 2);
    EXPECT_THAT(mail, HasSubstr("once a week"));
    const auto token = mail_value(mail, "unsubscribe?token=digest.");
    Client anyone = client();
    EXPECT_EQ(
        anyone.send("POST", "/unsubscribe?token=digest." + token.substr(0, token.find('>'))).status,
        200
    );
    EXPECT_EQ(bob.get("/v1/me/preferences").text("/email_digest"), "off");
}

TEST_F(NotificationDigests, ComeAtTheHourOfTheirReadersZone) {
    const auto time = [&](const std::string& arguments) {
        return ask(
            "SELECT to_char(notification_digest_time(" + arguments +
            ") AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')"
        );
    };
    // A Wednesday.
    EXPECT_EQ(time("'daily', 8, 'monday', 'UTC', '2026-11-25 07:59Z'"), "2026-11-25 08:00");
    EXPECT_EQ(time("'daily', 8, 'monday', 'UTC', '2026-11-25 08:00Z'"), "2026-11-26 08:00");
    EXPECT_EQ(
        time("'daily', 8, 'monday', 'America/New_York', '2026-11-25 12:00Z'"), "2026-11-25 13:00"
    );
    EXPECT_EQ(time("'daily', 0, 'monday', 'Asia/Tokyo', '2026-11-25 12:00Z'"), "2026-11-25 15:00");
    EXPECT_EQ(time("'weekly', 8, 'monday', 'UTC', '2026-11-25 12:00Z'"), "2026-11-30 08:00");
    EXPECT_EQ(time("'weekly', 8, 'sunday', 'UTC', '2026-11-25 12:00Z'"), "2026-11-29 08:00");
    EXPECT_EQ(time("'weekly', 8, 'saturday', 'UTC', '2026-11-28 08:00Z'"), "2026-12-05 08:00");
    EXPECT_EQ(time("'weekly', 8, 'saturday', 'UTC', '2026-11-28 07:00Z'"), "2026-11-28 08:00");
    // The hour that a change of the clocks leaves out, and the one that comes twice.
    EXPECT_EQ(
        time("'daily', 2, 'monday', 'Europe/Zurich', '2026-03-28 12:00Z'"), "2026-03-29 01:00"
    );
    EXPECT_EQ(
        time("'daily', 9, 'monday', 'Europe/Zurich', '2026-10-24 12:00Z'"), "2026-10-25 08:00"
    );
    // At 2 o'clock, which comes twice that night: the second time, and never both.
    EXPECT_EQ(
        time("'daily', 2, 'monday', 'Europe/Zurich', '2026-10-24 12:00Z'"), "2026-10-25 01:00"
    );
    EXPECT_EQ(
        time("'daily', 2, 'monday', 'Europe/Zurich', '2026-10-25 01:00Z'"), "2026-10-26 01:00"
    );
    EXPECT_EQ(
        time("'weekly', 2, 'sunday', 'America/New_York', '2026-03-01 12:00Z'"), "2026-03-08 07:00"
    );
    EXPECT_EQ(
        time("'daily', 0, 'monday', 'Asia/Kathmandu', '2026-11-25 12:00Z'"), "2026-11-25 18:15"
    );
    EXPECT_EQ(
        time("'daily', 8, 'monday', 'Nowhere/Land', '2026-11-25 07:00Z'"), "2026-11-25 08:00"
    );
    EXPECT_EQ(time("'off', 8, 'monday', 'UTC', '2026-11-25 07:00Z'"), "");
}

// More workspaces than one statement looks at.
TEST_F(NotificationDigests, AreFoundHoweverManyWorkspacesHaveSome) {
    ask("INSERT INTO orgs (id, name, slug, created_by, last_edited_by) SELECT gen_random_uuid(), "
        "'W', 'w-' || n, u.id, u.id FROM generate_series(1, 1050) n, users u WHERE u.id = '" +
        ada_id + "'");
    ask("INSERT INTO notification_inboxes (org_id, user_id, digest_at) SELECT o.id, '" + bob_id +
        "', now() + CASE WHEN o.slug LIKE '%7' THEN interval '0' ELSE interval '1 day' END "
        "FROM orgs o WHERE o.slug LIKE 'w-%'");
    do_now("notifications.digest.find", database);
    ASSERT_TRUE(becomes("SELECT count(*) FROM notification_inboxes WHERE digest_at <= now()", "0"));
    EXPECT_EQ(ask("SELECT count(*) FROM notification_inboxes WHERE digest_at > now()"), "945");
    EXPECT_EQ(digests(), "0") << "he is in none of them";
}

class DigestsOfThreeServers : public NotificationDigests {
protected:
    /// Those that wait for another attempt are tried now.
    void hurry_digests() {
        ask("UPDATE jobs SET state = 'ready', due_at = now() WHERE kind = 'notifications.digest' "
            "AND state = 'waiting' RETURNING kind");
    }

    Server second{options({})}, third{options({})};
};

TEST_F(DigestsOfThreeServers, AreSentOnceEach) {
    constexpr int people = 60;
    for (int i = 0; i < people; ++i) {
        const auto n = std::to_string(i), user = new_uuid().str();
        ask("INSERT INTO users (id, email, email_key, email_verified, name) VALUES ('" + user +
            "', 'p" + n + "@example.com', 'p" + n + "@example.com', true, 'P" + n + "')");
        ask("INSERT INTO memberships (org_id, user_id, id, role) VALUES ('" + org + "', '" + user +
            "', gen_random_uuid(), 'member')");
        ask("INSERT INTO card_watchers (org_id, card_id, principal_id) SELECT org_id, id, '" +
            user + "' FROM cards");
    }
    const auto card = make_card();
    ask("INSERT INTO card_watchers (org_id, card_id, principal_id) SELECT m.org_id, '" + card +
        "', m.user_id FROM memberships m WHERE m.user_id <> '" + ada_id + "' AND m.org_id = '" +
        org + "'");
    comment(ada, card, "To all of you");
    ASSERT_TRUE(becomes("SELECT count(*) FROM notifications", std::to_string(people + 1)));
    settle();
    ask("UPDATE notification_inboxes SET digest_at = now() - interval '1 second' RETURNING 1");
    for (int i = 0; i < 5; ++i) {
        do_now("notifications.digest.find", database);
        hurry_digests();
        std::this_thread::sleep_for(100ms);
    }
    ASSERT_TRUE(becomes(
        "SELECT count(*) FROM mail_outbox WHERE template = 'notification_digest' AND status = "
        "'sent'",
        std::to_string(people + 1)
    ));
    EXPECT_EQ(
        ask("SELECT max(n) FROM (SELECT count(*) AS n FROM mail_outbox WHERE template = "
            "'notification_digest' GROUP BY recipient) q"),
        "1"
    );
    std::size_t files = 0;
    for (const Server* each : {&server, &second, &third})
        for (int i = 0; i < people; ++i)
            files += each->mails_to("p" + std::to_string(i) + "@example.com").size();
    EXPECT_EQ(files, static_cast<std::size_t>(people));
}

}  // namespace
}  // namespace svc::test
