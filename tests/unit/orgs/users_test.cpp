#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

using testing::ElementsAre;

class Users : public WorkspacesTest {};

TEST_F(Users, ArePeopleAndAgents) {
    Client bob = member("bob@example.com", "viewer");
    Client agent = program(ada, "agent", "member", "Robot");
    const auto all = expect(200, bob.get("/v1/users"));
    EXPECT_EQ(all.text("/type"), "user");
    EXPECT_THAT(texts(all, "name"), ElementsAre("Ada", "Ada", "Robot"));
    EXPECT_THAT(texts(all, "type"), ElementsAre("person", "person", "bot"));
    EXPECT_EQ(all.text("/results/1/person/email"), "bob@example.com");
    EXPECT_EQ(all.json().at("results").at(1).as_object().contains("bot"), false);
    EXPECT_EQ(all.text("/results/2/bot/owner/type"), "workspace");
    EXPECT_EQ(all.text("/results/2/bot/workspace_id"), org);
    EXPECT_EQ(all.text("/results/2/bot/workspace_name"), "Acme");
    EXPECT_EQ(all.json().at("results").at(2).as_object().contains("person"), false);
    EXPECT_EQ(all.text("/results/2/id"), id_of(agent));

    EXPECT_THAT(texts(expect(200, agent.get("/v1/users?type=bot")), "name"), ElementsAre("Robot"));
    const auto first = expect(200, bob.get("/v1/users?page_size=2"));
    const auto rest =
        expect(200, bob.get("/v1/users?page_size=2&start_cursor=" + first.text("/next_cursor")));
    EXPECT_THAT(texts(rest, "name"), ElementsAre("Robot"));
    const auto body = all.json();
    for (const auto& each : body.at("results").as_array()) {
        const std::string id(each.at("id").as_string());
        EXPECT_EQ(expect(200, bob.get("/v1/users/" + id)).json(), each);
    }
}

TEST_F(Users, AreThoseOfTheWorkspaceAlone) {
    Client bob = member("bob@example.com", "member"), eve = person("eve@example.com");
    const auto id = id_of(bob), stranger = id_of(eve);
    expect(404, eve.get("/v1/users"));
    expect(201, eve.post("/v1/orgs", json::value{{"name", "Other"}}));
    EXPECT_THAT(texts(expect(200, eve.get("/v1/users")), "id"), ElementsAre(stranger));
    EXPECT_EQ(
        without_ids(expect(404, eve.get("/v1/users/" + id))),
        without_ids(expect(404, eve.get("/v1/users/" + nowhere)))
    );
    expect(404, bob.get("/v1/users/" + stranger));
    expect(204, remove(bob, members + "/me"));
    expect(404, ada.get("/v1/users/" + id));
    expect(422, ada.get("/v1/users/nobody"));
    expect(200, ada.get("/v1/users/me"));
}

// A session that works in one workspace reads another of its own by naming it.
TEST_F(Users, OfTheWorkspaceThatTheRequestNames) {
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    member("bob@example.com", "member");
    EXPECT_EQ(expect(200, ada.get("/v1/users")).json().at("results").as_array().size(), 2u);
    ada.always("X-Svc-Org", other);
    EXPECT_EQ(expect(200, ada.get("/v1/users")).json().at("results").as_array().size(), 1u);
    Client token = program(ada);
    token.always("X-Svc-Org", org);
    expect(404, token.get("/v1/users"));
}

}  // namespace
}  // namespace svc::test
