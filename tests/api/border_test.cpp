#include "tests/api/furnished.hpp"
#include "tests/support/mcp_client.hpp"

#include <algorithm>

/// The border between two workspaces. Every operation that /openapi.json has with an id in its path
/// is called by people and programs of one workspace with the ids of the other, and has to answer
/// as if there were no such thing.
namespace svc::test {

namespace {

class Border : public Furnished {
protected:
    Border() : ours(server, "ada@example.com", "Acme"), theirs(server, "bob@example.com", "Other") {
        furnish(ours);
        furnish(theirs);
    }

    /// Calls it with these values and says what is wrong with the answer, if anything is.
    std::string probe(
        Client& by, const Described& operation, const std::map<std::string, std::string>& values
    ) {
        std::string said;
        for (const auto& body : bodies_for(ours, operation)) {
            const auto answer = by.send(operation.method, operation.at(values), body);
            if (answer.status == 404 && answer.text("/code") == "object_not_found") return "";
            said = std::to_string(answer.status) + " " + answer.body;
            if (answer.status != 422) return said;
        }
        return "no body fits, so give the test one: " + said;
    }

    /// Every way across the border: all ids foreign, and each one alone among one's own.
    std::vector<std::map<std::string, std::string>> ways(
        const Described& operation,
        const std::map<std::string, std::string>& foreign,
        const std::map<std::string, std::string>& own
    ) const {
        std::vector<std::map<std::string, std::string>> all{foreign};
        const auto ids = std::ranges::count_if(operation.in_path, is_id);
        for (const Parameter& each : operation.in_path) {
            if (ids < 2 || !is_id(each)) continue;
            auto mixed = own;
            mixed[each.name] = foreign.at(each.name);
            all.push_back(mixed);
        }
        return all;
    }

    Side ours, theirs;
};

TEST_F(Border, EveryIdThatAPathTakesIsKnown) {
    ASSERT_GT(with_ids().size(), 15u) << "the document is not read as it is meant";
    for (const Described& each : with_ids())
        for (const Side* side : {&ours, &theirs}) {
            std::string missing;
            EXPECT_TRUE(side->fill(each, missing))
                << each.name << ": nothing was made or listed that has a " << missing
                << "; say in `also_called` what it is the id of, or in `bodies` how it is made";
        }
}

TEST_F(Border, AnIdThatNobodyKnowsIsNamed) {
    const Described unheard_of{
        .name = "get_gizmo",
        .method = "GET",
        .path = "/v1/boards/{board_id}/gizmos/{gizmo_id}",
        .in_path = {{"board_id", json::object()}, {"gizmo_id", json::object()}}};
    std::string missing;
    EXPECT_FALSE(ours.fill(unheard_of, missing));
    EXPECT_EQ(missing, "gizmo_id");
}

// Else that a stranger finds nothing would prove nothing.
TEST_F(Border, WhatIsLookedForIsThere) {
    for (const Described& each : with_ids()) {
        if (each.name == "list_automation_runs") continue;  // no script has run here
        std::string missing;
        const auto values = ours.fill(each, missing);
        if (!values || each.method != "GET") continue;
        const auto seen = ours.workspace.client.get(each.at(*values));
        EXPECT_EQ(seen.status, 200) << each.name << " " << each.at(*values) << ": " << seen.body;
    }
}

TEST_F(Border, NothingOfAnotherWorkspaceIsFound) {
    Client person = theirs.workspace.client, program = server.client(), agent = server.client();
    const auto mint = [&](json::object body) {
        body["name"] = "Prober";
        body["role"] = "admin";
        return expect(201, theirs.workspace.client.post("/v1/tokens", json::value(body)))
            .text("/token");
    };
    program.token(mint({{"kind", "integration"}}));
    agent.token(mint({{"kind", "agent"}, {"agent", {{"name", "Prober"}}}}));
    // An agent may not do what only a person may, and hears so before anything is looked up.
    const std::vector<std::pair<const char*, Client*>> strangers{
        {"a person", &person}, {"a program", &program}, {"an agent", &agent}};
    for (const Described& each : with_ids()) {
        std::string missing;
        const auto foreign = ours.fill(each, missing), own = theirs.fill(each, missing);
        if (!foreign || !own) continue;  // another test says so
        for (const auto& values : ways(each, *foreign, *own))
            for (const auto& [who, client] : strangers) {
                const auto wrong = probe(*client, each, values);
                if (client == &agent && wrong.starts_with("403")) continue;
                EXPECT_EQ(wrong, "")
                    << each.name << " as " << who << ": " << each.method << " " << each.at(values);
            }
    }
}

// A tool is the same operation, and its border the same.
TEST_F(Border, NothingOfAnotherWorkspaceIsFoundByMcp) {
    const json::value key{{"kind", "integration"}, {"name", "Prober"}, {"role", "admin"}};
    McpClient mcp(
        server.port(), expect(201, theirs.workspace.client.post("/v1/tokens", key)).text("/token")
    );
    expect(200, mcp.initialize());
    const auto tools = mcp.tool_names();
    int probed = 0;
    for (const Described& each : with_ids()) {
        std::string missing;
        const auto foreign = ours.fill(each, missing);
        if (!foreign || std::ranges::find(tools, each.name) == tools.end()) continue;
        ++probed;
        std::string said;
        for (const auto& body : bodies_for(ours, each)) {
            auto arguments = body.empty() ? json::object() : json::parse(body).as_object();
            for (const auto& [name, value] : *foreign) arguments[name] = value;
            for (const Parameter& more : each.in_query) arguments[more.name] = word(more);
            said = expect(200, mcp.call(each.name, json::value(arguments))).body;
            if (said.find("object_not_found") != said.npos) break;
        }
        EXPECT_NE(said.find("object_not_found"), said.npos) << each.name << ": " << said;
    }
    EXPECT_GT(probed, 15);
}

TEST_F(Border, NothingOfAnotherWorkspaceIsChanged) {
    const auto security_epoch = [&] {
        std::string all;
        for (const Described& each : with_ids()) {
            std::string missing;
            const auto values = ours.fill(each, missing);
            if (!values || each.method != "GET") continue;
            const auto body = ours.workspace.client.get(each.at(*values)).json();
            const auto* version =
                body.is_object() ? body.as_object().if_contains("version") : nullptr;
            if (version) all += each.at(*values) + " " + json::serialize(*version) + "\n";
        }
        return all;
    };
    const auto before = security_epoch();
    ASSERT_FALSE(before.empty());
    for (const Described& each : with_ids()) {
        std::string missing;
        const auto foreign = ours.fill(each, missing);
        if (!foreign || each.method == "GET") continue;
        for (const auto& body : bodies_for(ours, each))
            theirs.workspace.client.send(each.method, each.at(*foreign), body);
    }
    EXPECT_EQ(security_epoch(), before);
    EXPECT_EQ(
        Postgres::shared().run(
            "SELECT count(*) FROM event_log x WHERE x.org_id = '" + ours.workspace.org_id +
                "' AND '" + theirs.workspace.user_id +
                "' IN (x.actor_id::text, x.on_behalf_of_user_id::text)",
            database
        ),
        "0"
    );
}

}  // namespace
}  // namespace svc::test
