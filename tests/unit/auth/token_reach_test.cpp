#include "tests/support/accounts_fixture.hpp"

#include <array>

/// What a token may do to other tokens, and to the account of its owner.
namespace svc::test {
namespace {

class TokenReach : public AccountsTest {
protected:
    TokenReach() {
        ada = person("ada@example.com");
        org = expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}})).text("/id");
    }

    Reply make(json::object what, const char* role) {
        what["name"] = "Key";
        what["role"] = role;
        return expect(201, ada.post("/v1/tokens", json::value(what)));
    }
    Reply make_integration(const char* role) { return make({{"kind", "integration"}}, role); }
    Reply make_agent(const char* role) {
        return make({{"kind", "agent"}, {"agent", {{"name", "Robot"}}}}, role);
    }
    Client with(const Reply& made) {
        Client bearer = client();
        bearer.token(made.text("/token"));
        return bearer;
    }

    Client ada = client();
    std::string org;
};

TEST_F(TokenReach, EndsNoneThatMayDoMore) {
    const auto reader = make_integration("viewer"), worker = make_integration("member");
    const auto robot = make_agent("admin");
    const auto end = [](Client& by, const Reply& token) {
        return by.send("DELETE", "/v1/tokens/" + token.text("/id"));
    };
    Client reading = with(reader), working = with(worker);
    expect(403, end(reading, worker));
    expect(403, end(working, robot));
    expect(200, working.get("/v1/me"));
    expect(204, end(reading, reader));
    expect(401, reading.get("/v1/me"));
    expect(204, end(working, make_integration("viewer")));
    expect(204, end(ada, robot));
}

TEST_F(TokenReach, OfAReaderLeavesTheAccountAlone) {
    Client reader = with(make_integration("viewer")), worker = with(make_integration("member"));
    const auto session = expect(200, ada.get("/v1/me/sessions")).text("/results/0/id");
    const std::string passwords =
        R"({"current_password": "wrong horse battery", "new_password": "another horse entirely"})";
    const std::vector<std::array<std::string, 3>> calls{
        {"POST", "/v1/orgs", R"({"name": "Another"})"},
        {"POST", "/v1/me/password", passwords},
        {"PATCH", "/v1/me/profile", R"({"bio": "Mallory was here"})"},
        {"PATCH", "/v1/me/preferences", R"({"theme": "dark"})"},
        {"DELETE", "/v1/orgs/" + org + "/members/me", ""},
        {"DELETE", "/v1/me/sessions/" + session, ""},
        {"DELETE", "/v1/me/sessions", ""}};
    for (const auto& [method, path, body] : calls)
        EXPECT_EQ(reader.send(method, path, body).status, 403) << method << " " << path;
    expect(200, ada.get("/v1/me"));
    EXPECT_EQ(worker.send("PATCH", "/v1/me/profile", R"({"bio": "Hello"})").status, 200);
    EXPECT_EQ(worker.send("DELETE", "/v1/me/sessions").status, 204);
    expect(401, ada.get("/v1/me"));
}

}  // namespace
}  // namespace svc::test
