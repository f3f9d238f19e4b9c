// News that other modules have: webhooks, scripts, and notices that are no events.

#include "modules/notifications/api.hpp"
#include "modules/notifications/shapes.hpp"
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
    NotificationsOfScripts()
        : NotificationsTest(
              {"automations.scripts=" + script(), "automations.disable_after_failures=4"}
          ) {}
    void make_board(const char* name) {
        expect(201, bob.post("/v1/boards", json::value{{"name", name}}));
    }
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
    for (int i = 0; i < 3; ++i) make_board("Fail");
    ASSERT_TRUE(eventually([&] { return comes(ada, "automation_failed").at("event_count") == 3; }));
    const auto told = comes(ada, "automation_failed");
    EXPECT_EQ(text(told, "title"), "The automation fails.lua failed");
    EXPECT_THAT(text(told, "body"), HasSubstr("out of luck"));
    EXPECT_EQ(how_many(ada, "automation_failed"), 1u);
    EXPECT_EQ(how_many(bob, "automation_failed"), 0u);
    settle();
    const auto mails = [&] {
        return ask("SELECT count(*) FROM mail_outbox WHERE subject LIKE 'The automation%'");
    };
    EXPECT_EQ(mails(), "1") << "of all that she has not read";
    expect(200, ada.post("/v1/notifications:readAll"));
    make_board("Fine");
    make_board("Fail");
    ASSERT_TRUE(eventually([&] { return how_many(ada, "automation_failed") == 2; }));
    settle();
    EXPECT_EQ(mails(), "2");
}

TEST_F(NotificationsOfScripts, TellAdminsOfOneThatWasDisabledAndTheOperatorHasItRunAgain) {
    for (int i = 0; i < 4; ++i) make_board("Fail");
    ASSERT_TRUE(eventually([&] {
        return text(comes(ada, "automation_failed"), "title") ==
               "The automation fails.lua was disabled";
    }));
    const auto told = comes(ada, "automation_failed");
    EXPECT_THAT(text(told, "body"), HasSubstr("4 runs in this workspace failed"));
    EXPECT_THAT(text(told, "body"), HasSubstr("out of luck"));
    EXPECT_EQ(how_many(bob, "automation_failed"), 0u);
    const auto shown = [&] { return expect(200, ada.get("/v1/automations")); };
    EXPECT_EQ(shown().text("/results/0/consecutive_failures"), "4");
    EXPECT_EQ(shown().text("/results/0/disabled_reason"), text(told, "body"));
    const auto went_well = [&] {
        return ask("SELECT count(*) FROM automation_runs WHERE status = 'succeeded'");
    };
    EXPECT_EQ(went_well(), "1") << "of the board that there is";
    make_board("Fine");
    settle();

    EXPECT_THAT(operate({"automations", "list"}).output, HasSubstr("fails.lua  4 runs in this"));
    EXPECT_NE(operate({"automations", "enable", "other.lua", org}).code, 0);
    const auto enabled = operate({"automations", "enable", "fails.lua", org});
    EXPECT_EQ(enabled.code, 0) << enabled.output;
    EXPECT_EQ(operate({"automations", "list"}).output, "");
    EXPECT_EQ(shown().text("/results/0/disabled_at"), "null");
    make_board("Fine");
    EXPECT_TRUE(eventually([&] { return went_well() == "2"; })) << "and of none in between";
    EXPECT_TRUE(becomes(
        "SELECT count(*) FROM event_log WHERE action = 'workboard automations enable'", "1"
    ));
}

class Broadcasts : public NotificationsTest {};

TEST_F(Broadcasts, ReachEverybodyOnceInEachOfTheirWorkspaces) {
    Client at_home = bob;
    const auto home =
        expect(201, at_home.post("/v1/orgs", json::value{{"name", "Home"}})).text("/id");
    at_home.always("X-Svc-Org", home);
    prefer(ada, {{"notifications", {{"system", {{"in_app", false}, {"email", true}}}}}});
    const std::vector<std::string> command{"broadcast", "Closed on Sunday", "From 8 to 9 UTC."};
    const auto done = operate(command);
    EXPECT_EQ(done.code, 0);
    EXPECT_THAT(done.output, HasSubstr("queued for 2 people"));
    const auto told = comes(bob, "system");
    EXPECT_EQ(text(told, "title"), "Closed on Sunday");
    EXPECT_EQ(text(told, "body"), "From 8 to 9 UTC.");
    EXPECT_TRUE(told.at("actor").is_null());
    EXPECT_EQ(text(comes(at_home, "system"), "id"), text(told, "id"));
    EXPECT_EQ(count(at_home), 1);
    expect(200, at_home.post("/v1/notifications/" + text(told, "id") + ":read"));
    EXPECT_EQ(count(bob), 0);
    const auto mail = server.mail_to("ada@example.com", 2);
    EXPECT_THAT(mail, HasSubstr("Subject: Closed on Sunday"));
    EXPECT_THAT(mail, HasSubstr("List-Unsubscribe-Post"));
    EXPECT_EQ(list(ada).size(), 0u);
    // Given once more, as when it was cut short, it tells nobody twice.
    operate(command);
    settle();
    EXPECT_EQ(how_many(bob, "system"), 1u);
    EXPECT_EQ(count(bob), 0);
    EXPECT_EQ(ask("SELECT count(*) FROM mail_outbox WHERE template = 'notification'"), "1");
    EXPECT_EQ(list(ada).size() + static_cast<std::size_t>(count(ada)), 0u);
    EXPECT_NE(operate({"broadcast", ""}).code, 0);
    EXPECT_NE(operate({"broadcast", std::string(201, 'x')}).code, 0);
    EXPECT_EQ(operate({"broadcast"}).code, 2);
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

TEST(Notices, OfEveryKindComeAsTheirReaderChose) {
    InProcessServer here("mail,orgs,auth,agents,boards,notifications");
    const Caller olga = here.owner_of_new_org();
    const auto mails = [&] {
        return std::stoi(here.run("SELECT count(*) FROM mail_outbox WHERE template = 'notification'"
        ));
    };
    const auto unread = [&] {
        return here.must(olga, "count_notifications", json::object()).number("/unread_count");
    };
    for (const auto kind : Json<notifications::NotificationKind>::names()) {
        // These two are mailed by those who know more to say.
        const bool is_mailed = kind != "invitation" && kind != "webhook_disabled";
        for (const bool in_app : {false, true})
            for (const bool email : {false, true}) {
                const json::value chosen{
                    {"notifications", {{kind, {{"in_app", in_app}, {"email", email}}}}}
                };
                here.must(olga, "update_my_preferences", chosen);
                const auto mails_before = mails();
                const auto unread_before = unread();
                const notifications::Notice notice{
                    .org = *olga.org_id,
                    .person = olga.id,
                    .kind = std::string(kind),
                    .title = "News",
                    .target_type = "organization",
                    .target = new_uuid(),
                };
                here.kernel().transact(Tx::Mode::write, [&](Tx& tx) {
                    tx.set_scope(notice.org, std::nullopt);
                    here.kernel().find<notifications::Notices>()->post(tx, notice);
                });
                here.run_job("notifications.make");
                EXPECT_EQ(unread() - unread_before, in_app ? 1 : 0) << kind;
                EXPECT_EQ(mails() - mails_before, email && is_mailed ? 1 : 0) << kind;
            }
    }
}

// What was put off in one workspace is found behind whatever waits in another.
TEST(Notices, OfOneWorkspaceAreFoundHoweverManyWaitInAnother) {
    InProcessServer here("mail,orgs,auth,agents,boards,notifications");
    const auto first = here.owner_of_new_org().org_id->str();
    const auto second = here.owner_of_new_org().org_id->str();
    ASSERT_LT(first, second);
    const auto wait = [&](const std::string& org, const std::string& many) {
        here.run(
            "INSERT INTO notification_work (org_id, id, position, due_at) SELECT '" + org +
            "', gen_random_uuid(), 0, now() - interval '1 minute' FROM generate_series(1, " + many +
            ")"
        );
    };
    wait(first, "10001");
    wait(second, "1");
    here.run_job("notifications.make.find");
    EXPECT_EQ(
        here.run(
            "SELECT count(*) FROM jobs WHERE kind = 'notifications.make' AND org_id IN ('" + first +
            "', '" + second + "')"
        ),
        "2"
    );
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
