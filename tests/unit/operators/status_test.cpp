#include "tests/support/eventually.hpp"
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

    EXPECT_TRUE(metrics.contains("workboard_db_waiting"));

    auto bob = make_workspace(server, "bob@example.com", "Elsewhere");
    EXPECT_EQ(bob.client.get(path).status, 404);
    Client agent = server.client();
    agent.token(ada.mint("agent", "Robot"));
    EXPECT_EQ(agent.get(path).status, 403);
    EXPECT_EQ(server.client().get(path).status, 401);
}

/// The operator's view once the checks have run.
json::object status_when_checked(Client& operator_) {
    json::object seen;
    const auto are_checked = [&] {
        seen = expect(200, operator_.get(path)).json().as_object();
        return !seen.at("checked_time").is_null();
    };
    if (!eventually(are_checked)) throw std::runtime_error("the checks never ended");
    return seen;
}

const json::object& module_of(const json::object& seen, std::string_view name) {
    for (const auto& each : seen.at("modules").as_array())
        if (std::string_view(each.at("name").as_string()) == name) return each.as_object();
    throw std::runtime_error("there is no module " + std::string(name));
}

TEST(Operators, SeeWhatChecksFindOfEachModule) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"operators.accounts=ada@example.com", "auth.log_ins=7"},
    });
    auto ada = make_workspace(server);
    const auto seen = status_when_checked(ada.client);
    const auto& mail = module_of(seen, "mail-file");
    EXPECT_EQ(mail.at("health"), "warning");
    ASSERT_EQ(mail.at("findings").as_array().size(), 1U);
    EXPECT_EQ(mail.at("findings").at(0).at("name"), "mail");
    EXPECT_EQ(module_of(seen, "store-local").at("health"), "ok");
    EXPECT_EQ(module_of(seen, "boards").at("findings").as_array().size(), 0U);
    const auto& kernel = module_of(seen, "kernel");
    std::set<std::string> checks;
    for (const auto& each : kernel.at("findings").as_array())
        checks.emplace(each.at("name").as_string());
    for (const char* each : {"address", "certificate", "clock", "search", "bus"})
        EXPECT_TRUE(checks.contains(each)) << each;
    EXPECT_NE(seen.at("health"), "ok");
}

TEST(Operators, SeeWhereSettingsComeFromAndNoSecret) {
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings =
            {"operators.accounts=ada@example.com",
             "auth.log_ins=7",
             "metrics.token=nobody is to see this one"},
    });
    auto ada = make_workspace(server);
    const auto answer = expect(200, ada.client.get(path));
    EXPECT_EQ(answer.body.find("nobody is to see"), std::string::npos);
    const auto setting = [&](std::string_view section, std::string_view name) {
        const auto seen = answer.json();
        for (const auto& each : seen.at("settings").as_array())
            if (std::string_view(each.at("section").as_string()) == section &&
                std::string_view(each.at("name").as_string()) == name)
                return each.as_object();
        throw std::runtime_error("there is no setting " + std::string(name));
    };
    EXPECT_EQ(setting("auth", "log_ins").at("value"), "7");
    EXPECT_EQ(setting("auth", "log_ins").at("source"), "--set auth.log_ins");
    EXPECT_TRUE(setting("mail", "most_attempts").at("source").is_null());
    EXPECT_EQ(setting("metrics", "token").at("value"), "\"(secret)\"");
}

TEST(Operators, AreWarnedOfANumberAboveItsLimit) {
    const std::string url = Postgres::shared().fresh_database();
    const Server server({.database_url = url, .settings = {"operators.accounts=ada@example.com"}});
    auto ada = make_workspace(server);
    Postgres::shared().run(
        "INSERT INTO jobs (org_id, kind, key, state) VALUES "
        "('00000000-0000-0000-0000-000000000000', 'events.sweep', 'given up', 'failed')",
        url
    );
    const auto seen = expect(200, ada.client.get(path)).json().as_object();
    bool warned = false;
    for (const auto& each : module_of(seen, "kernel").at("findings").as_array())
        if (each.at("name") == "workboard_jobs") {
            warned = true;
            EXPECT_EQ(each.at("health"), "warning");
            EXPECT_NE(each.at("text").as_string().find("events.sweep"), json::string::npos) << each;
        }
    EXPECT_TRUE(warned) << json::serialize(seen.at("modules"));
    EXPECT_EQ(seen.at("health"), "warning");
}

TEST(Operators, AreNoneUnlessTheSettingsNameSome) {
    const Server server({.database_url = Postgres::shared().fresh_database()});
    auto ada = make_workspace(server);
    EXPECT_EQ(ada.client.get(path).status, 404);
}

}  // namespace
}  // namespace svc::test
