#include "tests/support/count_of.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/mcp_client.hpp"
#include "tests/support/places.hpp"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <set>

/// Scripts in a real server.
namespace svc::test {

namespace {

using std::chrono::seconds;

/// A server with one script, and somebody's workspace with a board.
class Theatre {
public:
    explicit Theatre(const std::string& source, std::vector<std::string> settings = {})
        : file_(folder_.path() / "script.lua"), server_(options(source, std::move(settings))) {}

    struct Site {
        Workspace workspace;
        std::string board;
        std::vector<std::string> columns;
    };
    Site site(const std::string& email) const {
        Site site{make_workspace(server_, email), {}, {}};
        const auto made =
            expect(201, site.workspace.client.post("/v1/boards", R"({"name": "Office"})"));
        site.board = made.text("/id");
        const json::value shown = made.json();
        for (const auto& each : shown.at("column_ids").as_array())
            site.columns.emplace_back(each.as_string());
        return site;
    }
    /// The path of a new card.
    static std::string card(Site& site, const std::string& title) {
        const auto made = site.workspace.client.post(
            "/v1/boards/" + site.board + "/cards",
            json::value{{"column_id", site.columns.at(0)}, {"title", title}}
        );
        return "/v1/cards/" + expect(201, made).text("/id");
    }
    void write(const std::string& source) const { std::ofstream(file_) << source; }
    const Server& server() const { return server_; }
    void run(const std::string& sql) const { Postgres::shared().run(sql, database_); }

    bool says(const std::string& line) const {
        return eventually([&] { return server_.output().find(line) != std::string::npos; });
    }
    static bool gets_priority(Site& site, const std::string& card, const std::string& priority) {
        return eventually([&] {
            return expect(200, site.workspace.client.get(card)).text("/priority") == priority;
        });
    }

private:
    Server::Options options(const std::string& source, std::vector<std::string> settings) const {
        write(source);
        settings.push_back("automations.scripts=" + file_.string());
        return {.database_url = database_, .settings = std::move(settings)};
    }

    TempFolder folder_{"workboard-scripts"};
    const std::filesystem::path file_;
    const std::string database_ = Postgres::shared().fresh_database();
    Server server_;
};

std::string sets_priority(const std::string& priority) {
    return R"(svc.after("card.created", function(event)
  svc.update_card{card_id = event.data.id, priority = ")" +
           priority + R"("}
end))";
}

/// What a tool answers, parsed.
json::value answer_of(McpClient& mcp, std::string_view tool, const json::value& arguments) {
    const auto reply = mcp.call(tool, arguments, {{"X-MCP-Tools", std::string(tool)}});
    return reply.json().at("result").at("structuredContent");
}

}  // namespace

TEST(ScriptsInAServer, HangUpReadsThemAnewAndKeepsThemWhenOneIsOfNoUse) {
    const Theatre theatre(sets_priority("high"));
    auto site = theatre.site("ada@example.com");
    EXPECT_TRUE(Theatre::gets_priority(site, Theatre::card(site, "first"), "high"));

    theatre.write(sets_priority("low"));
    theatre.server().signal(SIGHUP);
    ASSERT_TRUE(theatre.says("reloaded; scripts that run: 1")) << theatre.server().output();
    EXPECT_TRUE(Theatre::gets_priority(site, Theatre::card(site, "second"), "low"));

    theatre.write("svc.after(");
    theatre.server().signal(SIGHUP);
    ASSERT_TRUE(theatre.says("automations.scripts stays as it was: script script.lua:1:"))
        << theatre.server().output();
    theatre.write(R"(svc.after("card.vanished", print))");
    theatre.server().signal(SIGHUP);
    ASSERT_TRUE(
        theatre.says("stays as it was: script script.lua:1: unknown event kind card.vanished")
    ) << theatre.server().output();
    EXPECT_TRUE(Theatre::gets_priority(site, Theatre::card(site, "third"), "low"));
}

TEST(ScriptsInAServer, ThoseOfOneWorkspaceThatRunForEverDelayNoOther) {
    const Theatre theatre(
        R"(svc.after("card.created", function(event)
  while event.subject.title == "for ever" do end
  svc.update_card{card_id = event.data.id, priority = "high"}
end))",
        {"automations.instructions=1000000000",
         "automations.after_milliseconds=2000",
         "automations.at_once=2"}
    );
    auto one = theatre.site("one@example.com"), two = theatre.site("two@example.com");
    auto quiet = theatre.site("quiet@example.com");
    for (int i = 0; i < 4; ++i)
        for (auto* each : {&one, &two}) Theatre::card(*each, "for ever");
    const auto ended = [&] {
        return count_of(theatre.server().output(), "took longer than 2000 ms");
    };
    // Both have been met as what they are.
    ASSERT_TRUE(eventually([&] { return ended() >= 2; })) << theatre.server().output();
    const auto before = ended();
    const auto card = Theatre::card(quiet, "at once");
    EXPECT_TRUE(Theatre::gets_priority(quiet, card, "high"));
    EXPECT_LE(ended() - before, 2) << "it had to wait for those that run for ever";
    EXPECT_LT(ended(), 8) << "nobody was in the way any more";
}

TEST(ScriptsInAServer, GetTheWholeRecordAndWhereACardComesFromBeforeItMoves) {
    const Theatre theatre(R"(
svc.before("card.moved", function(event)
  local from, to, card = event.data.from, event.data.to, event.subject
  return svc.refuse("seen", table.concat({from.name, from.kind, to.name, to.kind, card.title,
    card.priority, card.column_id == to.column_id and "there" or "here"}, "|"))
end)
svc.before("card.updated", function(event)
  local card = event.subject
  return svc.refuse("seen", table.concat({event.data.changes.title, event.data.previous.title,
    card.title, card.priority, card.key, card.board_id == event.data.board_id and "there" or "?",
    card.version}, "|"))
end))");
    auto site = theatre.site("ada@example.com");
    auto& client = site.workspace.client;
    const auto made = expect(
        201,
        client.post(
            "/v1/boards/" + site.board + "/cards",
            json::value{{"column_id", site.columns[0]}, {"title", "Tea"}, {"priority", "low"}}
        )
    );
    const std::string card = "/v1/cards/" + made.text("/id");
    const auto name_of = [&](std::size_t column) {
        return expect(200, client.get("/v1/boards/" + site.board + "/columns"))
            .text("/results/" + std::to_string(column) + "/name");
    };
    const auto moved =
        expect(409, client.post(card + ":move", json::value{{"column_id", site.columns[1]}}));
    EXPECT_EQ(moved.text("/code"), "seen");
    const std::string from = name_of(0) + "|", to = "|" + name_of(1) + "|";
    EXPECT_TRUE(moved.text("/message").starts_with(from)) << moved.body;
    EXPECT_NE(moved.text("/message").find(to), std::string::npos) << moved.body;
    EXPECT_TRUE(moved.text("/message").ends_with("|Tea|low|there")) << moved.body;
    const auto updated = expect(409, client.send("PATCH", card, R"({"title": "Coffee"})"));
    EXPECT_EQ(updated.text("/message"), "Coffee|Tea|Coffee|low|" + made.text("/key") + "|there|2");
}

TEST(ScriptsInAServer, EveryEventHasItsSubjectBeforeAndAfter) {
    const Theatre theatre(R"(
svc.before("*", function(event)
  if type(event.subject) ~= "table" then return svc.refuse("no_subject", event.kind) end
end)
svc.after("*", function(event)
  svc.log(event.kind .. (type(event.subject) == "table" and " has it" or " lacks it"))
end))");
    auto site = theatre.site("ada@example.com");
    auto& client = site.workspace.client;
    const std::string board = "/v1/boards/" + site.board;
    const auto card = Theatre::card(site, "Tea");
    const std::string id = card.substr(card.rfind('/') + 1);
    const auto post = [&](const std::string& path, const json::value& body) {
        const auto reply = client.post(path, body);
        EXPECT_LT(reply.status, 300) << path << " " << reply.body;
        return reply;
    };
    post(board + "/labels", json::value{{"name", "Hot"}});
    post(board + "/properties", json::value{{"name", "Cups"}, {"type", "number"}});
    post(board + "/share-links", json::object{});
    post(card + ":move", json::value{{"column_id", site.columns[1]}});
    post("/v1/comments", json::value{{"parent", {{"card_id", id}}}, {"markdown", "Now"}});
    EXPECT_EQ(client.send("PATCH", card, R"({"priority": "high"})").status, 200);
    EXPECT_EQ(client.send("PATCH", card + "/markdown", R"({"markdown": "Hot"})").status, 200);
    EXPECT_EQ(client.send("PATCH", board, R"({"name": "Kitchen"})").status, 200);
    post(
        "/v1/orgs/" + site.workspace.org_id + "/invitations",
        json::value{{"email", "bob@example.com"}, {"role", "member"}}
    );
    site.workspace.mint("agent", "Robot");
    EXPECT_LT(client.send("DELETE", card).status, 300);
    EXPECT_LT(client.post(card + ":restore").status, 300);

    const std::string runs = "/v1/automations/script.lua/runs?page_size=100";
    ASSERT_TRUE(eventually([&] {
        return client.get(runs).body.find("card.restored has it") != std::string::npos;
    })) << client.get(runs).body;
    const std::string list = client.get(runs).body;
    EXPECT_EQ(list.find("lacks it"), std::string::npos) << list;
    for (const char* kind :
         {"card.created",
          "card.moved",
          "card.updated",
          "card.deleted",
          "comment.created",
          "block.created",
          "board.updated",
          "label.created",
          "property.created",
          "share_link.created",
          "invitation.created",
          "agent.created",
          "token.created"})
        EXPECT_NE(list.find(std::string(kind) + " has it"), std::string::npos) << kind;
}

TEST(ScriptsInAServer, ARefusedCallIsInTheLogAndInTheRunWhichRestAndMcpShow) {
    const Theatre theatre(R"(
svc.after("card.created", function(event)
  svc.update_card{card_id = event.data.id, priority = "enormous"}
  svc.log("came to its end")
end))");
    auto site = theatre.site("ada@example.com");
    auto& client = site.workspace.client;
    Theatre::card(site, "Tea");
    ASSERT_TRUE(theatre.says("script.lua: update_card was answered 422: priority: "))
        << theatre.server().output();
    const std::string runs = "/v1/automations/script.lua/runs";
    ASSERT_TRUE(eventually([&] {
        return client.get(runs).body.find("\"refused\"") != std::string::npos;
    }));
    const auto list = expect(200, client.get(runs));
    EXPECT_EQ(list.text("/results/0/status"), "refused");
    EXPECT_EQ(list.text("/results/0/log/0"), "came to its end");
    EXPECT_EQ(list.text("/results/0/calls/0/operation"), "update_card");
    EXPECT_EQ(list.text("/results/0/calls/0/status"), "422");

    const auto admin = expect(
        201,
        client.post(
            "/v1/tokens",
            json::value{{"kind", "integration"}, {"name", "Watcher"}, {"role", "admin"}}
        )
    );
    McpClient mcp(theatre.server().port(), admin.text("/token"));
    mcp.initialize();
    const auto same = answer_of(mcp, "list_automation_runs", {{"automation_id", "script.lua"}});
    EXPECT_EQ(same.at_pointer("/results/0/id").as_string(), list.text("/results/0/id"));
    EXPECT_EQ(same.at_pointer("/results/0/calls/0/outcome").as_string(), "refused");

    const auto all = expect(200, client.get("/v1/automations"));
    EXPECT_EQ(all.json().at("results").as_array().size(), 1U);
    EXPECT_EQ(all.text("/results/0/name"), "script.lua");
    EXPECT_EQ(all.text("/results/0/id"), list.text("/results/0/automation_id"));
    EXPECT_EQ(all.text("/results/0/binds/0/when"), "after");
    EXPECT_EQ(all.text("/results/0/binds/0/event"), "card.created");
    EXPECT_EQ(all.text("/results/0/operations/0"), "update_card");
    EXPECT_EQ(all.text("/results/0/last_status"), "refused");

    // Members have no business there.
    Client member = theatre.server().client();
    member.token(site.workspace.mint("integration", "Member"));
    EXPECT_EQ(member.get(runs).status, 403);
    EXPECT_EQ(member.get("/v1/automations").status, 403);
    EXPECT_EQ(client.get("/v1/automations/other.lua/runs").text("/results"), "[]");
    EXPECT_EQ(client.get("/v1/automations/0190a5b4-0000-7000-8000-000000000001/runs").status, 404);
}

TEST(ScriptsInAServer, RunsWithLongLogsAreReadAsFarAsTheirPageGoes) {
    const Theatre theatre(sets_priority("low"));
    auto site = theatre.site("ada@example.com");
    auto& client = site.workspace.client;
    Theatre::card(site, "Tea");
    const std::string path = "/v1/automations/script.lua/runs";
    ASSERT_TRUE(eventually([&] {
        return client.get(path).body.find("\"succeeded\"") != std::string::npos;
    }));
    theatre.run(
        "INSERT INTO automation_runs (org_id, id, automation_id, script, event_id, kind, status,"
        " mode, log, depth, created_time) SELECT org_id, gen_random_uuid(), automation_id, script,"
        " gen_random_uuid(), kind, status, mode, json_build_array(repeat('x', 400000)), 0,"
        " created_time + n * interval '1 second' FROM automation_runs, generate_series(1, 10) n"
    );
    std::set<std::string> ids;
    std::string cursor;
    int pages = 1;
    for (;; ++pages) {
        const auto page = expect(200, client.get(path + "?page_size=100" + cursor)).json();
        EXPECT_LE(json::serialize(page.at("results")).size(), std::size_t{1} << 20);
        for (const auto& each : page.at("results").as_array())
            EXPECT_TRUE(ids.emplace(each.at("id").as_string()).second) << "twice";
        if (page.at("next_cursor").is_null() || pages > 20) break;
        cursor = "&start_cursor=" + std::string(page.at("next_cursor").as_string());
    }
    EXPECT_EQ(ids.size(), 11U);
    EXPECT_EQ(pages, 5) << "two long ones each, and the first run behind the last of them";
}

TEST(ScriptsInAServer, GetTheEventsOfPrivateBoardsAndCannotActOnThem) {
    const Theatre theatre(R"(
svc.after("card.created", function(event)
  local card, refusal = svc.update_card{card_id = event.data.id, priority = "high"}
  svc.log(event.subject.title .. " " .. tostring(card) .. " " .. refusal.status)
end))");
    auto site = theatre.site("ada@example.com");
    auto& client = site.workspace.client;
    const auto board = expect(
        201, client.post("/v1/boards", json::value{{"name", "Own"}, {"visibility", "private"}})
    );
    site.board = board.text("/id");
    site.columns = {board.text("/column_ids/0")};
    Theatre::card(site, "Secret");
    const std::string runs = "/v1/automations/script.lua/runs";
    EXPECT_TRUE(eventually([&] {
        return client.get(runs).body.find("Secret nil 404") != std::string::npos;
    })) << client.get(runs).body;
}

TEST(ScriptsInAServer, TheKindsOfEventsAreListedWithTheirShapes) {
    const Theatre theatre(sets_priority("low"));
    auto site = theatre.site("ada@example.com");
    auto& client = site.workspace.client;
    const auto cards = expect(200, client.get("/v1/event-kinds?kind=card.*&page_size=100"));
    std::vector<std::string> kinds;
    const auto parsed = cards.json();
    for (const auto& each : parsed.at("results").as_array()) {
        kinds.emplace_back(each.at("kind").as_string());
        if (kinds.back() != "card.created") continue;
        EXPECT_EQ(each.at("subject"), json::value("card"));
        EXPECT_TRUE(each.at("data_schema").at("properties").as_object().contains("changes"));
        EXPECT_NE(
            json::serialize(each.at("subject_schema")).find("\"priority\""), std::string::npos
        );
    }
    EXPECT_THAT(kinds, testing::IsSupersetOf({"card.created", "card.moved", "card.updated"}));
    EXPECT_TRUE(std::ranges::is_sorted(kinds));
    const auto moved = expect(200, client.get("/v1/event-kinds?kind=card.moved")).json();
    const auto& data = moved.at("results").at(0).at("data_schema").at("properties");
    EXPECT_TRUE(data.as_object().contains("from"));
    EXPECT_TRUE(data.as_object().contains("to"));

    // Page by page each comes once.
    std::vector<std::string> paged;
    std::string path = "/v1/event-kinds?page_size=7";
    for (std::string cursor; paged.size() < 500;) {
        const auto page = expect(200, client.get(path + cursor)).json();
        for (const auto& each : page.at("results").as_array())
            paged.emplace_back(each.at("kind").as_string());
        if (page.at("next_cursor").is_null()) break;
        cursor = "&start_cursor=" + std::string(page.at("next_cursor").as_string());
    }
    EXPECT_GT(paged.size(), 40U);
    EXPECT_EQ(std::set<std::string>(paged.begin(), paged.end()).size(), paged.size());
    EXPECT_EQ(client.get("/v1/event-kinds?kind=card.%25").status, 422);

    McpClient mcp(theatre.server().port(), site.workspace.mint("agent", "Robot"));
    mcp.initialize();
    const auto same = answer_of(mcp, "list_event_kinds", {{"kind", "card.moved"}});
    EXPECT_EQ(same.at_pointer("/results/0/kind").as_string(), "card.moved");
}

}  // namespace svc::test
