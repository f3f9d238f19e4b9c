#pragma once

#include "tests/support/accounts_fixture.hpp"
#include "tests/support/eventually.hpp"
#include "tests/support/places.hpp"

/// One workspace, Ada's, and people with any role in it, on the real program.
namespace svc::test {

class WorkspacesTest : public AccountsTest {
protected:
    explicit WorkspacesTest(std::vector<std::string> settings = {})
        : AccountsTest(std::move(settings)), ada(person("ada@example.com")) {
        const json::value body{{"name", "Acme"}, {"slug", "acme"}};
        org = expect(201, ada.post("/v1/orgs", body)).text("/id");
        here = "/v1/orgs/" + org;
        members = here + "/members";
        invitations = here + "/invitations";
        ada.always("X-Svc-Org", org);
    }

    /// A verified person who has been given this role, signed in.
    Client member(const std::string& email, const std::string& role) {
        Client made = person(email);
        expect(201, add(ada, email, role));
        made.always("X-Svc-Org", org);
        return made;
    }
    Reply add(Client& by, const std::string& email, const std::string& role = "member") {
        return by.post(members, json::value{{"email", email}, {"role", role}});
    }
    Reply invite(Client& by, const std::string& email, const std::string& role = "member") {
        return by.post(invitations, json::value{{"email", email}, {"role", role}});
    }
    static Reply accept(Client& by, const std::string& invitation) {
        return by.post("/v1/invitations/" + invitation + ":accept");
    }
    static Reply decline(Client& by, const std::string& invitation) {
        return by.post("/v1/invitations/" + invitation + ":decline");
    }
    static Reply patch(Client& by, const std::string& path, const json::value& body) {
        return by.send("PATCH", path, json::serialize(body));
    }
    static Reply remove(Client& by, const std::string& path, const Headers& headers = {}) {
        return by.send("DELETE", path, {}, headers);
    }
    Reply set_role(Client& by, const std::string& user, const std::string& role) {
        return patch(by, members + "/" + user, {{"role", role}});
    }
    static std::string id_of(Client& who) { return expect(200, who.get("/v1/me")).text("/id"); }

    /// A client that signs in with a token which `by` has made.
    Client program(
        Client& by,
        const std::string& kind = "integration",
        const std::string& role = "admin",
        const std::string& name = "Builder"
    ) {
        json::object body{{"kind", kind}, {"name", name}, {"role", role}};
        if (kind == "agent") body["agent"] = {{"name", name}};
        Client made = client();
        made.token(expect(201, by.post("/v1/tokens", json::value(body))).text("/token"));
        return made;
    }

    /// `workboard <words>` on the database of the server, as an operator runs it.
    Finished operate(std::vector<std::string> words) {
        words.insert(words.begin(), in_build("bin/workboard"));
        words.insert(
            words.end(), {"--database-url", database, "--var", (server.var() / "operator").string()}
        );
        return run(words);
    }
    void set_state(const std::string& state) {
        ASSERT_EQ(operate({"org", "set-billing-state", "acme", state}).code, 0);
    }
    void set_plan(const std::string& plan) {
        ASSERT_EQ(operate({"org", "set-plan", "acme", plan}).code, 0);
    }

    /// Waits until the statement says so; what it says at the end of the patience otherwise.
    std::string ask_until(const std::string& wanted, const std::string& sql) {
        std::string said;
        eventually([&] { return (said = ask(sql)) == wanted; });
        return said;
    }
    /// How many events of the kind the workspace has, once there are `wanted`.
    std::string events(const std::string& kind, int wanted) {
        return ask_until(
            std::to_string(wanted),
            "SELECT count(*) FROM events WHERE org_id = '" + org + "' AND kind = '" + kind + "'"
        );
    }
    static std::vector<std::string> texts(const Reply& page, std::string_view member) {
        std::vector<std::string> out;
        const auto body = page.json();
        for (const auto& each : body.at("results").as_array())
            out.emplace_back(each.at(member).as_string());
        return out;
    }

    Client ada = client();
    std::string org, here, members, invitations;
};

inline std::string reason(const Reply& reply) { return reply.text("/additional_data/reason"); }

inline const std::string nowhere = "0192f0c1-2d3e-7f40-8123-456789abcdef";

}  // namespace svc::test
