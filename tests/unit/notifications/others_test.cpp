// News that other modules have: webhooks, scripts, and notices that are no events.

#include "modules/notifications/api.hpp"
#include "tests/support/in_process_server.hpp"
#include "tests/support/webhook_receiver.hpp"
#include "tests/unit/notifications/notifications_fixture.hpp"

#include <fstream>

namespace svc::test {
namespace {

using testing::HasSubstr;

class NotificationsOfWebhooks : public NotificationsTest {
protected:
    NotificationsOfWebhooks() : NotificationsTest({"webhooks.allow_private_targets=true"}) {
        receiver.answer("/gone", 410);
    }
    void disable_one(const std::string& name) {
        const json::value body{
            {"url", receiver.url("/gone")}, {"name", name}, {"events", {"board.created"}}
        };
        expect(201, ada.post("/v1/webhooks", body));
        expect(201, ada.post("/v1/boards", json::value{{"name", "Tell"}}));
    }
    WebhookReceiver receiver;
};

TEST_F(NotificationsOfWebhooks, TellAdminsOfOneThatWasDisabledAndMailThoseWhoWantIt) {
    Client carl = member("carl@example.com", "admin");
    prefer(carl, {{"notifications", {{"webhook_disabled", {{"email", false}}}}}});
    disable_one("Builds");
    const auto told = comes(ada, "webhook_disabled");
    EXPECT_EQ(text(told, "title"), "The webhook Builds was disabled");
    EXPECT_FALSE(text(told, "body").empty());
    comes(carl, "webhook_disabled");
    settle();
    EXPECT_EQ(list(bob).size(), 0u);
    EXPECT_THAT(server.mail_to("ada@example.com", 2), HasSubstr("A webhook was disabled"));
    EXPECT_EQ(
        ask("SELECT string_agg(recipient, ',') FROM mail_outbox WHERE template = 'webhook_failing'"
        ),
        "ada@example.com"
    ) << "one mail, and none for whoever wants none";
}

class NotificationsOfScripts : public NotificationsTest {
protected:
    NotificationsOfScripts() : NotificationsTest({"automations.scripts=" + script()}) {}
    static std::string script() {
        static const TempFolder folder("workboard-notifications");
        const auto file = folder.path() / "fails.lua";
        std::ofstream(file) << R"(svc.after("board.created", function(event)
  if event.data.changes.name == "Fail" then error("out of luck") end
end))";
        return file.string();
    }
};

TEST_F(NotificationsOfScripts, TellAdminsOfOneThatFailed) {
    for (int i = 0; i < 3; ++i) expect(201, bob.post("/v1/boards", json::value{{"name", "Fail"}}));
    ASSERT_TRUE(eventually([&] { return comes(ada, "automation_failed").at("event_count") == 3; }));
    const auto told = comes(ada, "automation_failed");
    EXPECT_EQ(text(told, "title"), "The automation fails.lua failed");
    EXPECT_THAT(text(told, "body"), HasSubstr("out of luck"));
    EXPECT_EQ(how_many(ada, "automation_failed"), 1u);
    EXPECT_EQ(how_many(bob, "automation_failed"), 0u);
}

TEST(Notices, AreToldOnceAndOnlyWhenTheirTransactionIsCommitted) {
    InProcessServer here("mail,orgs,auth,agents,boards,notifications");
    const Caller olga = here.owner_of_new_org();
    const notifications::Notice notice{
        .org = *olga.org_id,
        .person = olga.id,
        .kind = "feedback",
        .title = "Your report is in progress",
        .body = "We look into it.",
        .target_type = "feedback",
        .target = new_uuid(),
    };
    auto* notices = here.kernel().find<notifications::Notices>();
    ASSERT_NE(notices, nullptr);
    const auto post = [&](bool fails) {
        try {
            here.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
                tx.set_scope(notice.org, std::nullopt);
                notices->post(tx, notice);
                if (fails) throw std::runtime_error("no");
            });
        } catch (const std::runtime_error&) {
        }
        here.run_job("notifications.make");
    };
    post(true);
    EXPECT_EQ(here.must(olga, "count_notifications", json::object()).number("/unread_count"), 0);
    post(false);
    here.run_job("notifications.make");
    const auto all = here.must(olga, "list_notifications", json::object());
    ASSERT_EQ(all.body.at("results").as_array().size(), 1u);
    EXPECT_EQ(all.text("/results/0/kind"), "feedback");
    EXPECT_EQ(all.text("/results/0/title"), "Your report is in progress");
    EXPECT_EQ(all.text("/results/0/body"), "We look into it.");
    EXPECT_EQ(all.text("/results/0/target/id"), notice.target.str());
    EXPECT_EQ(all.number("/results/0/event_count"), 1);
    EXPECT_EQ(here.run("SELECT count(*) FROM mail_outbox WHERE template = 'notification'"), "1");
}

TEST(Notices, ThatCannotBeMadeAreGivenUpAndHoldUpNoOther) {
    InProcessServer here("mail,orgs,auth,agents,boards,notifications");
    const Caller olga = here.owner_of_new_org();
    const auto org = olga.org_id->str();
    here.run(
        "INSERT INTO notification_work (org_id, id, notice) VALUES ('" + org +
        "', '00000000-0000-7000-8000-000000000001', '{\"person\": 1}')"
    );
    const notifications::Notice notice{
        .org = *olga.org_id,
        .person = olga.id,
        .kind = "system",
        .title = "Good news",
        .target_type = "organization",
        .target = *olga.org_id,
    };
    here.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        here.kernel().find<notifications::Notices>()->post(tx, notice);
    });
    here.run_job("notifications.make");
    EXPECT_EQ(here.must(olga, "count_notifications", json::object()).number("/unread_count"), 1);
    for (int i = 0; i < 4; ++i) {
        here.run("UPDATE notification_work SET due_at = now() - interval '1 minute'");
        here.run_job("notifications.make");
    }
    EXPECT_EQ(here.run("SELECT count(*) FROM notification_work"), "0");
}

}  // namespace
}  // namespace svc::test
