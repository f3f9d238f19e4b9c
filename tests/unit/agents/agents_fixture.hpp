#pragma once

#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"

/// Agents on the real program.
namespace svc::test {

class AgentsTest : public AccountsTest {
protected:
    explicit AgentsTest(std::vector<std::string> settings = {})
        : AccountsTest(std::move(settings)) {
        ada = person("ada@example.com");
        org = expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
        ada.always("X-Svc-Org", org);
    }

    Reply send(Client& by, std::string_view method, const std::string& path, json::value body) {
        return by.send(method, path, json::serialize(body));
    }
    /// An agent of Ada's.
    std::string make_agent(json::object what = {}) {
        if (!what.contains("name")) what["name"] = "Robot";
        return expect(201, ada.post("/v1/agents", json::value(what))).text("/id");
    }
    Reply make_token(const std::string& agent, const char* role = "member") {
        return expect(
            201,
            ada.post(
                "/v1/tokens",
                json::value{{"kind", "agent"}, {"name", "Key"}, {"role", role}, {"agent_id", agent}}
            )
        );
    }
    Client with(const Reply& token, const Server& on) const {
        Client bearer = on.client();
        bearer.token(token.text("/token"));
        return bearer;
    }
    Client with(const Reply& token) const { return with(token, server); }
    Client acting_as(const std::string& agent, const char* role = "member") {
        return with(make_token(agent, role));
    }
    std::string path(const std::string& agent, const std::string& more = "") {
        return "/v1/agents/" + agent + more;
    }
    Reply read(const std::string& agent) { return expect(200, ada.get(path(agent))); }
    Reply disable(const std::string& agent) {
        return expect(200, ada.post(path(agent, ":disable")));
    }

    /// Another member of the workspace.
    Client member(const std::string& email, const std::string& role) {
        Client made = person(email);
        const auto user = made.get("/v1/me").text("/id");
        ask("WITH named AS (INSERT INTO principals (org_id, id, type, name) VALUES ('" + org +
            "', '" + user +
            "', 'user', 'Bob')) INSERT INTO memberships (org_id, user_id, id, role) VALUES ('" +
            org + "', '" + user + "', '" + new_uuid().str() + "', '" + role + "') RETURNING id");
        made.always("X-Svc-Org", org);
        return made;
    }

    struct Queue {
        std::string board, column;
    };
    Queue make_queue(const std::string& name = "Work") {
        Queue made;
        made.board = expect(201, ada.post("/v1/boards", json::value{{"name", name}})).text("/id");
        const json::value column{
            {"name", "To do"}, {"kind", "queue"}, {"queue", {{"enabled", true}}}};
        made.column =
            expect(201, ada.post("/v1/boards/" + made.board + "/columns", column)).text("/id");
        return made;
    }
    Reply add_card(Client& by, const Queue& queue, const std::string& title = "Card") {
        return by.post(
            "/v1/boards/" + queue.board + "/cards",
            json::value{{"column_id", queue.column}, {"title", title}}
        );
    }
    Reply claim(Client& by, const Queue& queue) {
        return by.post("/v1/boards/" + queue.board + "/columns/" + queue.column + ":claim-next");
    }
    /// Waits until the statement gives this.
    bool becomes(const std::string& sql, const std::string& wanted) {
        return eventually([&] { return ask(sql) == wanted; });
    }

    static constexpr const char* nowhere = "0192f0c1-2d3e-7f40-8123-456789abcdef";
    Client ada = client();
    std::string org;
};

}  // namespace svc::test
