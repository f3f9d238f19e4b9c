#include "svc/types.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>

#include <thread>

namespace svc::test {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

class OutboxTest : public testing::Test {
protected:
    OutboxTest()
        : database(Postgres::shared().fresh_database()), server({.database_url = database}) {}

    /// A mail of the workspace's as an earlier day has left it; its id.
    std::string leave_mail(
        const Workspace& in, const std::string& status, const std::string& subject = "Hello"
    ) {
        const auto id = Postgres::shared().run(
            "INSERT INTO mail_outbox (org_id, id, template, recipient, subject, text_body, "
            "html_body, link, status, attempts, last_error) VALUES ('" +
                in.org_id + "', '" + new_uuid().str() +
                "', 'org_invitation', 'bob@example.com', '" + subject +
                "', 'the text', '<p>the html</p>', 'https://example.com/?token=secret', '" +
                status + "', 12, '451 later') RETURNING id",
            database
        );
        // What a server is sending whose end is not known yet has a job that runs, until its lease
        // is over.
        if (status == "queued" || status == "sending")
            Postgres::shared().run(
                "INSERT INTO jobs (org_id, kind, key, state, due_at) VALUES ('" + in.org_id +
                    "', 'mail.send', '" + id + "', '" + (status == "queued" ? "ready" : "running") +
                    "', now())",
                database
            );
        return id;
    }
    std::string path(const Workspace& in, const std::string& mail = "") {
        return "/v1/orgs/" + in.org_id + "/email-outbox" +
               (mail.empty() ? "" : "/" + mail + ":requeue");
    }
    std::string ask(const std::string& sql) { return Postgres::shared().run(sql, database); }

    std::string database;
    Server server;
    Workspace ada{make_workspace(server)};
};

TEST_F(OutboxTest, AnAdminSeesTheMailsNewestFirst) {
    const auto first = leave_mail(ada, "failed", "First"),
               second = leave_mail(ada, "sent", "Second");
    const auto page = expect(200, ada.client.get(path(ada)));
    EXPECT_EQ(page.text("/results/0/id"), second);
    EXPECT_EQ(page.text("/results/1/id"), first);
    EXPECT_EQ(page.text("/results/1/object"), "email_outbox");
    EXPECT_EQ(page.text("/results/1/org_id"), ada.org_id);
    EXPECT_EQ(page.text("/results/1/status"), "failed");
    EXPECT_EQ(page.text("/results/1/template"), "org_invitation");
    EXPECT_EQ(page.text("/results/1/recipient"), "bob@example.com");
    EXPECT_EQ(page.text("/results/1/subject"), "First");
    EXPECT_EQ(page.text("/results/1/attempts"), "12");
    EXPECT_EQ(page.text("/results/1/last_error"), "451 later");
    EXPECT_TRUE(page.json().at_pointer("/results/1/next_attempt_at").is_null());
}

TEST_F(OutboxTest, NobodyIsShownWhatMailsSay) {
    leave_mail(ada, "failed");
    const auto page = expect(200, ada.client.get(path(ada)));
    for (const char* inside : {"the text", "the html", "secret"})
        EXPECT_THAT(page.body, Not(HasSubstr(inside)));
}

TEST_F(OutboxTest, IsListedByStatusAndInPages) {
    const auto failed = leave_mail(ada, "failed");
    for (int i = 0; i < 3; ++i) leave_mail(ada, "sent");
    const auto some = expect(200, ada.client.get(path(ada) + "?status=failed"));
    EXPECT_EQ(some.json().at("results").as_array().size(), 1u);
    EXPECT_EQ(some.text("/results/0/id"), failed);
    expect(422, ada.client.get(path(ada) + "?status=lost"));

    std::set<std::string> seen;
    std::string next;
    do {
        const auto page = expect(
            200,
            ada.client.get(
                path(ada) + "?page_size=2" + (next.empty() ? "" : "&start_cursor=" + next)
            )
        );
        const auto body = page.json();
        for (const auto& each : body.at("results").as_array())
            seen.emplace(each.at("id").as_string());
        const auto& cursor = body.at("next_cursor");
        next = cursor.is_string() ? std::string(cursor.as_string()) : "";
    } while (!next.empty());
    EXPECT_EQ(seen.size(), 4u);
}

TEST_F(OutboxTest, AFailedMailIsSentOnceItIsRequeued) {
    const auto mail = leave_mail(ada, "failed", "Try again");
    const auto requeued = expect(200, ada.client.post(path(ada, mail)));
    EXPECT_EQ(requeued.text("/object"), "email_outbox_requeue");
    EXPECT_EQ(requeued.text("/id"), mail);
    EXPECT_EQ(requeued.text("/status"), "queued");
    EXPECT_EQ(requeued.text("/requeued"), "true");
    EXPECT_EQ(requeued.text("/attempts"), "0");
    EXPECT_EQ(requeued.text("/recipient"), "bob@example.com");
    EXPECT_THAT(server.mail_to("bob@example.com"), HasSubstr("Subject: Try again"));
    EXPECT_TRUE(eventually([&] {
        return expect(200, ada.client.get(path(ada))).text("/results/0/status") == "sent";
    }));
    EXPECT_THAT(server.output(), HasSubstr("org_invitation to bob@example.com: "));
    EXPECT_EQ(
        ask("SELECT text_body || html_body || coalesce(link, '') FROM mail_outbox "
            "WHERE id = '" +
            mail + "'"),
        ""
    ) << "its link may be a key";
}

TEST_F(OutboxTest, RequeuingIsSafeToRepeat) {
    const auto mail = leave_mail(ada, "failed");
    expect(200, ada.client.post(path(ada, mail)));
    const auto again = expect(200, ada.client.post(path(ada, mail)));
    EXPECT_EQ(again.text("/requeued"), "false");
    const auto sent = leave_mail(ada, "sent");
    const auto left = expect(200, ada.client.post(path(ada, sent)));
    EXPECT_EQ(left.text("/requeued"), "false");
    EXPECT_EQ(left.text("/status"), "sent");
    server.mail_to("bob@example.com");
    std::this_thread::sleep_for(300ms);
    EXPECT_EQ(server.mails_to("bob@example.com").size(), 1u);
}

TEST_F(OutboxTest, OfRequestsAtOnceOneRequeues) {
    const auto mail = leave_mail(ada, "failed");
    std::atomic<int> requeued{0};
    std::vector<std::thread> threads;
    for (int i = 0; i < 8; ++i)
        threads.emplace_back([&, client = ada.client]() mutable {
            if (expect(200, client.post(path(ada, mail))).text("/requeued") == "true") ++requeued;
        });
    for (auto& each : threads) each.join();
    EXPECT_EQ(requeued, 1);
}

TEST_F(OutboxTest, RequeuingIsAudited) {
    const auto mail = leave_mail(ada, "failed");
    expect(200, ada.client.post(path(ada, mail)));
    const std::string count =
        "SELECT count(*) FROM audit_events WHERE action = 'requeue_email' "
        "AND outcome = 'success' AND target_id = '" +
        mail + "'";
    EXPECT_TRUE(eventually([&] { return ask(count) != "0"; }));
    EXPECT_EQ(ask(count), "1");
}

TEST_F(OutboxTest, WhatAServerDiedWithIsSentByAnother) {
    leave_mail(ada, "sending", "Half sent");
    EXPECT_THAT(server.mail_to("bob@example.com"), HasSubstr("Subject: Half sent"));
}

TEST_F(OutboxTest, ServersOnOneDatabaseSendEachMailOnce) {
    const Server other({.database_url = database});
    constexpr std::size_t mails = 60;  // several times what is taken at once
    for (std::size_t i = 0; i < mails; ++i) leave_mail(ada, "queued");
    const std::string left = "SELECT count(*) FROM mail_outbox WHERE status <> 'sent'";
    EXPECT_TRUE(eventually([&] { return ask(left) == "0"; }));
    const auto here = server.mails_to("bob@example.com").size();
    EXPECT_EQ(here + other.mails_to("bob@example.com").size(), mails);
}

TEST_F(OutboxTest, IsForAdminsOfTheWorkspace) {
    const auto mail = leave_mail(ada, "failed");
    auto eve = make_workspace(server, "eve@example.com", "Elsewhere");
    expect(404, eve.client.get(path(ada)));
    expect(404, eve.client.post(path(ada, mail)));
    expect(404, eve.client.post(path(eve, mail)));
    expect(404, ada.client.post(path(ada, new_uuid().str())));
    expect(422, ada.client.post(path(ada, "nonsense")));
    EXPECT_EQ(expect(200, eve.client.get(path(eve))).json().at("results").as_array().size(), 0u);

    const auto me = expect(200, ada.client.get("/v1/me")).text("/id");
    ask("UPDATE memberships SET role = 'member' WHERE user_id = '" + me + "' RETURNING 1");
    expect(403, ada.client.get(path(ada)));
    expect(403, ada.client.post(path(ada, mail)));
    EXPECT_EQ(ask("SELECT status FROM mail_outbox WHERE id = '" + mail + "'"), "failed");
}

/// Nothing listens where the mails should go.
class OutboxWithoutAServer : public testing::Test {
protected:
    std::string row(const std::string& what) {
        return Postgres::shared().run("SELECT " + what + " FROM mail_outbox", database);
    }
    std::string database{Postgres::shared().fresh_database()};
    Server server{{
        .database_url = database,
        .settings =
            {"plugins=mail-smtp",
             "modules=mail,orgs,auth",
             "mail-smtp.host=127.0.0.1",
             "mail-smtp.security=none",
             "mail-smtp.port=" + std::to_string(free_port()),
             "mail.retry_seconds=1",
             "mail.most_attempts=2"},
    }};
};

TEST_F(OutboxWithoutAServer, AMailIsTriedAsOftenAsItMayAndThenFailed) {
    Client client = server.client();
    expect(
        201,
        client.post(
            "/v1/auth/signup", R"({"email": "ada@example.com", "password": "correct horse"})"
        )
    );
    EXPECT_TRUE(eventually([&] { return row("status") == "failed"; }));
    EXPECT_EQ(row("attempts"), "2");
    EXPECT_THAT(row("last_error"), HasSubstr("127.0.0.1"));
    EXPECT_THAT(row("text_body"), HasSubstr("token=")) << "it may be requeued";
    EXPECT_EQ(
        Postgres::shared().run("SELECT count(*) FROM jobs WHERE kind = 'mail.send'", database), "0"
    ) << "nobody tries it again";
}

}  // namespace
}  // namespace svc::test
