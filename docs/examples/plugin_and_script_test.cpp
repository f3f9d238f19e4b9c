#include "tests/support/places.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <thread>

/// The plugin and the script of CONTRIBUTING.md, in a real server.
namespace svc::test {

namespace {

const std::string script = in_source("docs/examples/scripts/urgent-titles.lua");

}  // namespace

TEST(MailLog, MailsEndInTheLog) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"modules=mail,orgs,auth", "plugins=mail-log"},
    });
    auto client = server.client();
    expect(
        201,
        client.post(
            "/v1/auth/signup",
            R"({"email": "ada@example.com", "password": "correct horse battery"})"
        )
    );
    for (int i = 0; i < 1500; ++i) {
        if (server.output().find("token=") != std::string::npos) return;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    }
    FAIL() << server.output();
}

TEST(UrgentTitles, ItsOwnTestsPass) {
    const auto checked = run({
        in_build("bin/workboard"),
        "check-scripts",
        script,
        "--database-url",
        Postgres::shared().fresh_database(),
    });
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_NE(checked.output.find("2 cases, 0 faults"), std::string::npos) << checked.output;
}

TEST(UrgentTitles, ACardThatSaysSoBecomesUrgent) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"automations.scripts=" + script},
    });
    auto [client, email, user, org] = make_workspace(server);
    const auto board = expect(201, client.post("/v1/boards", R"({"name": "Office"})"));
    const auto column = board.text("/column_ids/0");
    const auto made = expect(
        201,
        client.post(
            "/v1/boards/" + board.text("/id") + "/cards",
            boost::json::value{{"column_id", column}, {"title", "URGENT: the printer is on fire"}}
        )
    );
    const auto path = "/v1/cards/" + made.text("/id");
    for (int i = 0; i < 1500 && client.get(path).text("/priority") != "urgent"; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_EQ(client.get(path).text("/priority"), "urgent") << server.output();
}

}  // namespace svc::test
