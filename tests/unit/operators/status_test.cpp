#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

/// What the accounts that run a server see of it.
namespace svc::test {
namespace {

const std::string path = "/v1/operator/status";

TEST(Operators, AloneSeeTheServersState) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"operators.accounts=Ada@Example.com"},
    });
    auto ada = make_workspace(server);
    const auto seen = expect(200, ada.client.get(path)).json();
    EXPECT_GT(seen.at("database").at("size_bytes").as_int64(), 1'000'000);
    EXPECT_GE(seen.at("database").at("connections").as_int64(), 1);
    std::set<std::string> modules, drivers, metrics;
    for (const auto& each : seen.at("modules").as_array())
        (each.at("kind") == "driver" ? drivers : modules).emplace(each.at("name").as_string());
    EXPECT_TRUE(modules.contains("operators") && modules.contains("queue"));
    EXPECT_TRUE(drivers.contains("mail-file"));
    for (const auto& each : seen.at("metrics").as_array()) {
        metrics.emplace(each.at("name").as_string());
        EXPECT_NE(each.at("help").as_string(), "") << each;
    }
    EXPECT_TRUE(metrics.contains("workboard_mail_outbox")) << testing::PrintToString(metrics);

    auto bob = make_workspace(server, "bob@example.com", "Elsewhere");
    EXPECT_EQ(bob.client.get(path).status, 404);
    Client agent = server.client();
    agent.token(ada.mint("agent", "Robot"));
    EXPECT_EQ(agent.get(path).status, 403);
    EXPECT_EQ(server.client().get(path).status, 401);
}

TEST(Operators, AreNoneUnlessTheSettingsNameSome) {
    const Server server({.database_url = Postgres::shared().fresh_database()});
    auto ada = make_workspace(server);
    EXPECT_EQ(ada.client.get(path).status, 404);
}

}  // namespace
}  // namespace svc::test
