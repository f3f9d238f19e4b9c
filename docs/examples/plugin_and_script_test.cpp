#include "tests/support/markdown.hpp"
#include "tests/support/places.hpp"
#include "tests/support/postgres.hpp"
#include "tests/support/workspace.hpp"

#include <gtest/gtest.h>

#include <boost/json.hpp>

#include <filesystem>
#include <fstream>
#include <thread>

/// The plugin and the script of CONTRIBUTING.md, in a real server.
namespace svc::test {

namespace {

const std::string script = in_source("docs/examples/scripts/urgent-titles.lua");

/// A command of the program, on a database that is there.
Finished workboard(std::vector<std::string> words) {
    words.insert(words.begin(), in_build("bin/workboard"));
    words.insert(words.end(), {"--database-url", Postgres::shared().fresh_database()});
    return run(words);
}

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
    const auto checked = workboard({"check-scripts", script});
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_NE(checked.output.find("2 passed"), std::string::npos) << checked.output;
}

TEST(ShippedScripts, TheirOwnTestsPass) {
    const auto checked = workboard({"check-scripts", "label-results.lua"});
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_NE(checked.output.find("3 passed"), std::string::npos) << checked.output;
}

TEST(ShippedScripts, AreOffUntilAnOperatorNamesThem) {
    const auto checked = workboard({"check-scripts"});
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_NE(checked.output.find("0 passed"), std::string::npos) << checked.output;
}

/// The scripts of docs/automations.md, each with its test, as files; the page shows first all
/// scripts, then all tests, in the same order.
class PageOfAutomations : public testing::Test {
protected:
    PageOfAutomations() {
        std::string name = std::filesystem::temp_directory_path() / "page-XXXXXX";
        if (!mkdtemp(name.data())) throw std::runtime_error("no temporary folder");
        folder = name;
        std::vector<std::string> tests;
        std::ifstream file(in_source("docs/automations.md"));
        const std::string page(std::istreambuf_iterator<char>(file), {});
        for (const CodeBlock& block : code_blocks(page)) {
            if (block.language == "json") tests.push_back(block.text);
            if (block.language != "lua") continue;
            scripts.push_back(folder / ("page" + std::to_string(scripts.size()) + ".lua"));
            std::ofstream(scripts.back()) << block.text;
        }
        EXPECT_EQ(scripts.size(), tests.size()) << "each script has its test";
        for (std::size_t i = 0; i < tests.size(); ++i)
            std::ofstream(folder / ("page" + std::to_string(i) + ".test.json")) << tests[i];
    }
    ~PageOfAutomations() override { std::filesystem::remove_all(folder); }

    std::filesystem::path folder;
    std::vector<std::string> scripts;
};

TEST_F(PageOfAutomations, ItsScriptsPassItsTests) {
    std::vector<std::string> words{"check-scripts"};
    words.insert(words.end(), scripts.begin(), scripts.end());
    const auto checked = workboard(words);
    EXPECT_EQ(checked.code, 0) << checked.output;
    EXPECT_NE(checked.output.find("3 passed"), std::string::npos) << checked.output;
}

TEST_F(PageOfAutomations, ItsScriptsDoInAServerWhatItSays) {
    ASSERT_EQ(scripts.size(), 2u);
    const Server server({
        .database_url = Postgres::shared().fresh_database(),
        .settings = {"automations.scripts=" + scripts[0] + "," + scripts[1]},
    });
    auto [client, email, user, org] = make_workspace(server);
    using boost::json::value;
    const auto board = expect(201, client.post("/v1/boards", R"({"name": "Office"})")).text("/id");
    const auto columns = "/v1/boards/" + board + "/columns";
    const auto queue =
        expect(201, client.post(columns, R"({"name": "To do", "kind": "queue"})")).text("/id");
    const auto done =
        expect(201, client.post(columns, R"({"name": "Finished", "kind": "done"})")).text("/id");
    const auto made = expect(
        201,
        client.post("/v1/boards/" + board + "/cards", value{{"column_id", queue}, {"title", "Tea"}})
    );
    const auto card = "/v1/cards/" + made.text("/id");
    const auto refused = expect(409, client.post(card + ":move", value{{"column_id", done}}));
    EXPECT_EQ(refused.text("/code"), "no_estimate");
    EXPECT_EQ(refused.text("/message"), made.text("/key") + " needs an estimate first.");

    const auto claim = expect(200, client.post(columns + "/" + queue + ":claim-next", "{}"));
    expect(
        200,
        client.post(
            "/v1/leases/" + claim.text("/lease/id") + ":fail",
            value{{"lease_token", claim.text("/lease_token")}, {"error", "It is raining"}}
        )
    );
    const auto comments = "/v1/comments?card_id=" + made.text("/id");
    const std::string said = "Attempt 1 failed: It is raining";
    for (int i = 0; i < 1500 && client.get(comments).body.find(said) == std::string::npos; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    EXPECT_NE(client.get(comments).body.find(said), std::string::npos) << server.output();
    const std::string runs = "/v1/automations/page1.lua/runs";
    for (int i = 0; i < 1500 && client.get(runs).body.find("succeeded") == std::string::npos; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const auto list = expect(200, client.get(runs));
    EXPECT_EQ(list.text("/results/0/script"), "page1.lua");
    EXPECT_EQ(list.text("/results/0/kind"), "lease.failed");
    EXPECT_EQ(list.text("/results/0/status"), "succeeded");
    EXPECT_EQ(list.text("/results/0/calls/0/operation"), "create_comment");
    EXPECT_EQ(expect(200, client.get("/v1/automations/other.lua/runs")).text("/results"), "[]");

    expect(200, client.send("PATCH", card, R"({"estimate": 2})"));
    expect(200, client.post(card + ":move", value{{"column_id", done}}));
}

TEST(PageOfEvents, ListsTheKindsThatThereAre) {
    const auto printed = workboard({"event-kinds"});
    ASSERT_EQ(printed.code, 0) << printed.output;
    const auto table = printed.output.substr(printed.output.find("| Kind |"));
    std::ifstream file(in_source("docs/events.md"));
    const std::string page(std::istreambuf_iterator<char>(file), {});
    const auto kinds = section(page, "## Kinds");
    EXPECT_NE(kinds.find(table.substr(0, table.find_last_not_of('\n') + 1)), std::string::npos)
        << "docs/events.md should have, as `workboard event-kinds` prints it:\n"
        << table;
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
