// What people chose: in the product, by mail, or not at all; and mails that they want no more of.

#include "tests/unit/notifications/notifications_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::Not;

/// The address in a header of a mail; lines of 8-bit mails are whole.
std::string unsubscribe_path(const std::string& mail) {
    static const std::regex address("List-Unsubscribe: <https?://[^/]+(/[^>]+)>");
    std::smatch found;
    return std::regex_search(mail, found, address) ? found[1].str() : "";
}

class NotificationChoices : public NotificationsTest {
protected:
    using NotificationsTest::NotificationsTest;
    json::value only(const std::string& kind, bool in_app, bool email) {
        return {{"notifications", {{kind, {{"in_app", in_app}, {"email", email}}}}}};
    }
    /// Mails but that which confirmed the address.
    std::size_t mails() { return server.mails_to("bob@example.com").size() - 1; }
};

TEST_F(NotificationChoices, DecideForEachKindWhetherAndHow) {
    const auto card = make_card();
    watch(bob, card);
    prefer(bob, only("comment", false, false));
    prefer(bob, only("moved", false, true));
    prefer(bob, only("assigned", true, false));
    comment(ada, card, "Not to be heard");
    expect(200, send(ada, "PATCH", "/v1/cards/" + card, {{"assignees", {bob_id}}}));
    move(ada, card, columns.at(1));
    const auto mail = server.mail_to("bob@example.com", 2);
    settle();
    EXPECT_THAT(mail, HasSubstr("Ada moved "));
    EXPECT_THAT(mail, HasSubstr("/cards/" + card));
    ASSERT_EQ(list(bob).size(), 1u);
    EXPECT_EQ(text(list(bob).front().as_object(), "kind"), "assigned");
    EXPECT_EQ(mails(), 1u);
}

TEST_F(NotificationChoices, AMailEndsItsKindByAPostOfWhoeverHasItsAddress) {
    const auto card = make_card();
    comment(ada, card, "Look ", bob_id);
    const auto mail = server.mail_to("bob@example.com", 2);
    EXPECT_THAT(mail, HasSubstr("Subject: Ada mentioned you in "));
    EXPECT_THAT(mail, HasSubstr("List-Unsubscribe-Post: List-Unsubscribe=One-Click"));
    EXPECT_THAT(mail, HasSubstr("Content-Type: text/html"));
    const auto path = unsubscribe_path(mail);
    ASSERT_FALSE(path.empty()) << mail;
    Client anyone = client();
    anyone.always("X-Board-Version", "");
    const auto asked = anyone.get(path);
    EXPECT_EQ(asked.status, 200);
    EXPECT_THAT(asked.header("content-type"), HasSubstr("text/html"));
    EXPECT_THAT(asked.body, HasSubstr("<form method=\"post\">"));
    EXPECT_EQ(bob.get("/v1/me/preferences").text("/notifications/mention/email"), "true")
        << "a GET changes nothing";
    EXPECT_EQ(anyone.send("HEAD", path).status, 200);
    EXPECT_EQ(bob.get("/v1/me/preferences").text("/notifications/mention/email"), "true")
        << "nor does a HEAD";
    const Headers form{{"Content-Type", "application/x-www-form-urlencoded"}};
    EXPECT_EQ(anyone.send("POST", path, "List-Unsubscribe=One-Click", form).status, 200);
    const auto after = bob.get("/v1/me/preferences");
    EXPECT_EQ(after.text("/notifications/mention/email"), "false");
    EXPECT_EQ(after.text("/notifications/assigned/email"), "true");
    EXPECT_EQ(anyone.send("POST", path, "List-Unsubscribe=One-Click", form).status, 200);
    for (const std::string& wrong :
         {std::string("/unsubscribe"),
          std::string("/unsubscribe?token="),
          path + "x",
          std::regex_replace(path, std::regex("token=mention"), "token=assigned"),
          std::regex_replace(path, std::regex("token=mention"), "token=digest"),
          "/unsubscribe?token=mention." + std::string(32, '0') + ".AAAA"}) {
        EXPECT_EQ(anyone.send("POST", wrong, "", form).status, 404) << wrong;
        EXPECT_EQ(anyone.get(wrong).status, 404) << wrong;
    }
    comment(ada, make_card(), "Again ", bob_id);
    ASSERT_TRUE(eventually([&] { return how_many(bob, "mention") == 2; }));
    settle();
    EXPECT_EQ(mails(), 1u);
}

// As mail programs do it that take the other form of RFC 8058, and do not say who they are.
TEST_F(NotificationChoices, OneClickMayComeInPartsAndFromWhereverItLikes) {
    comment(ada, make_card(), "Look ", bob_id);
    const auto path = unsubscribe_path(server.mail_to("bob@example.com", 2));
    const std::string body =
        "--b\r\nContent-Disposition: form-data; name=\"List-Unsubscribe\"\r\n\r\n"
        "One-Click\r\n--b--\r\n";
    const Headers headers{
        {"Content-Type", "multipart/form-data; boundary=b"},
        {"Origin", "https://mail.example"},
        {"Cookie", "session=somebody"}
    };
    EXPECT_EQ(client().send("POST", path, body, headers).status, 200);
    EXPECT_EQ(bob.get("/v1/me/preferences").text("/notifications/mention/email"), "false");
    EXPECT_EQ(client().send("POST", path, std::string(5000, 'x'), headers).status, 413);
}

// What people write stands in subjects and texts, and is no header and no mark-up there.
TEST_F(NotificationChoices, WhatPeopleWriteAddsNothingToAMail) {
    const auto card = make_card({{"title", "Fix =?utf-8?q?it?= \u2028Bcc: eve@example.com <b>&"}});
    comment(ada, card, "Hello\r\nBcc: eve@example.com\r\n\r\n.\r\n<script>", bob_id);
    const auto mail = server.mail_to("bob@example.com", 2);
    const auto headers = mail.substr(0, mail.find("\r\n\r\n"));
    EXPECT_THAT(headers, Not(HasSubstr("Bcc")));
    EXPECT_THAT(headers, HasSubstr("Subject: =?utf-8?B?"));
    EXPECT_THAT(headers, HasSubstr("To: bob@example.com\r\n"));
    EXPECT_THAT(mail, HasSubstr("\r\n> Hello\r\n> Bcc: eve@example.com\r\n"));
    EXPECT_THAT(mail, HasSubstr("&lt;script&gt;"));
    EXPECT_THAT(mail, HasSubstr("&lt;b&gt;&amp;"));
    const auto html = mail.substr(mail.find("Content-Type: text/html"));
    EXPECT_THAT(html, Not(HasSubstr("<script>")));
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox WHERE recipient LIKE 'eve%'"), "0");
}

TEST_F(NotificationChoices, WhoseAddressIsNotConfirmedOrAccountIsDisabledGetsNoMail) {
    ask("UPDATE users SET disabled_at = now() WHERE id = '" + bob_id + "' RETURNING id");
    comment(ada, make_card(), "Look ", bob_id);
    settle();
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox WHERE template = 'notification'"), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM notifications"), "1");
}

class FewNotificationMails : public NotificationChoices {
protected:
    FewNotificationMails() : NotificationChoices({"notifications.mails_per_hour=3"}) {}
};

TEST_F(FewNotificationMails, AreSentInAnHour) {
    for (int i = 0; i < 6; ++i) comment(ada, make_card(), "Look ", bob_id);
    ASSERT_TRUE(eventually([&] { return how_many(bob, "mention") == 6; }));
    settle();
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox WHERE template = 'notification'"), "3");
    ask("UPDATE notification_inboxes SET mails_since = now() - interval '61 minutes' RETURNING 1");
    comment(ada, make_card(), "Look ", bob_id);
    ASSERT_TRUE(becomes("SELECT count(*) FROM mail_outbox WHERE template = 'notification'", "4"));
}

}  // namespace
}  // namespace svc::test
