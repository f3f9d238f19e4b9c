#include "tests/unit/agents/agents_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class Agents : public AgentsTest {};

TEST_F(Agents, AreMadeAsTheyAreDescribed) {
    const auto made = expect(
        201,
        ada.post(
            "/v1/agents",
            json::value{
                {"name", "  Packer "},
                {"avatar_url", "https://example.com/a.png"},
                {"description", "Packs"},
                {"role", "viewer"},
                {"budgets", {{"requests_per_minute", 60}, {"daily_writes", 5}}}}
        )
    );
    EXPECT_EQ(made.text("/object"), "agent");
    EXPECT_EQ(made.text("/org_id"), org);
    EXPECT_EQ(made.text("/name"), "Packer");
    EXPECT_EQ(made.text("/avatar_url"), "https://example.com/a.png");
    EXPECT_EQ(made.text("/description"), "Packs");
    EXPECT_EQ(made.text("/role"), "viewer");
    EXPECT_EQ(made.text("/status"), "active");
    EXPECT_EQ(made.text("/owner_user_id"), ada.get("/v1/me").text("/id"));
    EXPECT_EQ(made.text("/budgets/requests_per_minute"), "60");
    EXPECT_EQ(made.text("/budgets/requests_per_day"), "null");
    EXPECT_EQ(made.text("/budgets/daily_writes"), "5");
    EXPECT_EQ(made.text("/usage/requests_today"), "0");
    EXPECT_EQ(made.text("/board_grants"), "[]");
    EXPECT_EQ(made.text("/is_free"), "true");
    EXPECT_EQ(made.text("/last_active_at"), "null");
    EXPECT_EQ(made.text("/created_by/name"), "Ada");
    const auto read_back = read(made.text("/id"));
    EXPECT_EQ(read_back.json(), made.json());
    EXPECT_EQ(read_back.header("etag"), "\"1\"");
    EXPECT_EQ(read(make_agent()).text("/is_free"), "false");
}

TEST_F(Agents, AreListedNewestFirst) {
    const auto first = make_agent({{"name", "One"}}), second = make_agent({{"name", "Two"}});
    disable(first);
    const auto page = expect(200, ada.get("/v1/agents?page_size=1"));
    EXPECT_EQ(page.text("/results/0/id"), second);
    const auto next =
        expect(200, ada.get("/v1/agents?page_size=1&start_cursor=" + page.text("/next_cursor")));
    EXPECT_EQ(next.text("/results/0/id"), first);
    EXPECT_EQ(next.text("/next_cursor"), "null");
    const auto disabled = expect(200, ada.get("/v1/agents?status=disabled"));
    EXPECT_EQ(disabled.json().at("results").as_array().size(), 1u);
    EXPECT_EQ(disabled.text("/results/0/id"), first);
}

TEST_F(Agents, AreChangedFieldByField) {
    const auto agent = make_agent(
        {{"description", "Old"}, {"budgets", {{"requests_per_day", 9}, {"daily_writes", 5}}}}
    );
    const auto changed = expect(
        200,
        send(
            ada,
            "PATCH",
            path(agent),
            {{"name", "New"}, {"description", nullptr}, {"budgets", {{"daily_writes", nullptr}}}}
        )
    );
    EXPECT_EQ(changed.text("/name"), "New");
    EXPECT_EQ(changed.text("/description"), "null");
    EXPECT_EQ(changed.text("/budgets/requests_per_day"), "9");
    EXPECT_EQ(changed.text("/budgets/daily_writes"), "null");
    EXPECT_EQ(changed.text("/version"), "2");
    EXPECT_EQ(read(agent).json(), changed.json());
    EXPECT_EQ(expect(200, send(ada, "PATCH", path(agent), json::object())).text("/version"), "2");
    const auto stale =
        ada.send("PATCH", path(agent), R"({"name": "Newer"})", {{"If-Match", "\"1\""}});
    EXPECT_EQ(expect(412, stale).text("/code"), "version_conflict");
    for (const char* wrong :
         {R"({"name": ""})",
          R"({"role": "owner"})",
          R"({"budgets": null})",
          R"({"budgets": {"daily_writes": -1}})",
          R"({"status": "asleep"})",
          R"({"owner_user_id": "x"})"})
        EXPECT_EQ(ada.send("PATCH", path(agent), wrong).status, 422) << wrong;
}

TEST_F(Agents, AreTheirNewNameFromTheNextRequestOn) {
    const auto agent = make_agent();
    Client robot = acting_as(agent, "admin");
    EXPECT_EQ(robot.get("/v1/me").text("/name"), "Robot");
    expect(200, send(ada, "PATCH", path(agent), {{"name", "Renamed"}, {"role", "viewer"}}));
    const auto me = robot.get("/v1/me");
    EXPECT_EQ(me.text("/name"), "Renamed");
    EXPECT_EQ(me.text("/role"), "viewer");
}

TEST_F(Agents, AreManagedByAdminsAndSeenByMembers) {
    const auto agent = make_agent();
    Client bob = member("bob@example.com", "member");
    expect(200, bob.get(path(agent)));
    expect(200, bob.get("/v1/agents"));
    expect(200, bob.get(path(agent, "/activity")));
    expect(403, bob.post("/v1/agents", json::value{{"name", "Mine"}}));
    expect(403, send(bob, "PATCH", path(agent), {{"name", "Mine"}}));
    expect(403, bob.post(path(agent, ":disable")));
    expect(403, bob.post(path(agent, ":enable")));
    expect(403, bob.send("DELETE", path(agent)));
    EXPECT_EQ(read(agent).text("/status"), "active");
}

TEST_F(Agents, ThatAreAdminsGiveNobodyMoreThanItHas) {
    const auto agent = make_agent({{"role", "admin"}, {"budgets", {{"daily_writes", 900}}}});
    const auto other = make_agent();
    const auto others = make_token(other);
    const auto own = make_token(agent, "admin");
    Client robot = with(own);
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "admin");
    expect(403, robot.post("/v1/agents", json::value{{"name", "Free"}}));
    expect(
        403,
        robot.post(
            "/v1/tokens",
            json::value{{"kind", "agent"}, {"name", "x"}, {"agent", {{"name", "Free"}}}}
        )
    );
    expect(
        403,
        robot.post("/v1/tokens", json::value{{"kind", "agent"}, {"name", "x"}, {"agent_id", other}})
    );
    expect(403, robot.post("/v1/tokens/" + others.text("/id") + ":rotate"));
    for (const char* wider :
         {R"({"budgets": {"daily_writes": null}})",
          R"({"role": "admin"})",
          R"({"status": "active"})"})
        EXPECT_EQ(robot.send("PATCH", path(agent), wider).status, 403) << wider;
    disable(other);
    expect(403, robot.post(path(other, ":enable")));
    expect(403, send(robot, "PATCH", path(other), {{"status", "active"}}));
    EXPECT_EQ(read(other).text("/status"), "disabled");
    EXPECT_EQ(read(agent).text("/budgets/daily_writes"), "900");
    EXPECT_EQ(ask("SELECT count(*) FROM agents"), "2");
    // What takes away is an admin's, and its own secret its own.
    const auto third = make_agent();
    expect(200, robot.post(path(third, ":disable")));
    expect(200, send(robot, "PATCH", path(third), {{"name", "Renamed"}}));
    expect(204, robot.send("DELETE", "/v1/tokens/" + others.text("/id")));
    expect(200, robot.post("/v1/tokens/" + own.text("/id") + ":rotate"));
}

TEST_F(Agents, ThatAreNotThereAre404) {
    for (const auto& [method, more] : std::vector<std::pair<const char*, const char*>>{
             {"GET", ""},
             {"PATCH", ""},
             {"DELETE", ""},
             {"POST", ":disable"},
             {"POST", ":enable"},
             {"GET", "/activity"}})
        EXPECT_EQ(ada.send(method, path(nowhere, more), "{}").status, 404) << method << more;
}

TEST_F(Agents, AreSwitchedOffAndOn) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    expect(200, robot.get("/v1/me"));
    const auto off =
        expect(200, ada.post(path(agent, ":disable"), json::value{{"reason", "It runs wild"}}));
    EXPECT_EQ(off.text("/status"), "disabled");
    EXPECT_EQ(off.text("/disabled_reason"), "It runs wild");
    EXPECT_EQ(off.text("/disabled_by/name"), "Ada");
    EXPECT_NE(off.text("/disabled_at"), "null");
    EXPECT_EQ(expect(401, robot.get("/v1/me")).header("www-authenticate"), "Bearer");
    EXPECT_EQ(disable(agent).text("/version"), off.text("/version")) << "twice is once";
    const auto on = expect(200, ada.post(path(agent, ":enable")));
    EXPECT_EQ(on.text("/status"), "active");
    EXPECT_EQ(on.text("/disabled_at"), "null");
    EXPECT_EQ(on.text("/disabled_by"), "null");
    EXPECT_EQ(on.text("/disabled_reason"), "null");
    expect(200, robot.get("/v1/me"));
    expect(200, send(ada, "PATCH", path(agent), {{"status", "disabled"}}));
    expect(401, robot.get("/v1/me"));
}

TEST_F(Agents, MayBeMadeSwitchedOff) {
    const auto agent = make_agent({{"status", "disabled"}});
    EXPECT_EQ(read(agent).text("/disabled_by/name"), "Ada");
    Client robot = acting_as(agent);
    expect(401, robot.get("/v1/me"));
    expect(200, ada.post(path(agent, ":enable")));
    expect(200, robot.get("/v1/me"));
}

TEST_F(Agents, LeaveTheirWorkBehindUnderTheirName) {
    const auto agent = make_agent({{"name", "Packer"}});
    Client robot = acting_as(agent);
    const auto queue = make_queue();
    const auto card = expect(201, add_card(robot, queue)).text("/id");
    expect(
        200,
        send(ada, "PATCH", "/v1/cards/" + card, {{"assignees", json::array{json::value(agent)}}})
    );
    const auto claimed = expect(200, claim(robot, queue));
    ASSERT_EQ(claimed.text("/claimed"), "true");
    expect(
        200,
        ada.send(
            "PUT", "/v1/boards/" + queue.board + "/access-grants/" + agent, R"({"role": "editor"})"
        )
    );
    expect(204, ada.send("DELETE", path(agent)));
    expect(404, ada.get(path(agent)));
    expect(404, ada.send("DELETE", path(agent)));
    expect(401, robot.get("/v1/me"));
    EXPECT_EQ(ask("SELECT count(*) FROM tokens"), "0");
    EXPECT_EQ(ask("SELECT count(*) FROM board_grants"), "0");

    const auto left = expect(200, ada.get("/v1/cards/" + card));
    EXPECT_EQ(left.text("/created_by/name"), "Packer");
    EXPECT_EQ(left.text("/assignees/0/name"), "Packer");
    EXPECT_EQ(left.text("/lease"), "null");
    const auto lease = expect(200, ada.get("/v1/leases/" + claimed.text("/lease/id")));
    EXPECT_EQ(lease.text("/state"), "revoked");
    EXPECT_EQ(lease.text("/holder/name"), "Packer");
    ASSERT_TRUE(becomes(
        "SELECT count(*) FROM audit_events WHERE actor_id = '" + agent +
            "' AND action LIKE '%c%'",
        "2"
    ));
    const auto activity = expect(200, ada.get(path(agent, "/activity")));
    EXPECT_EQ(activity.text("/results/0/action"), "claim_next_card");
    EXPECT_EQ(activity.text("/results/1/action"), "create_card");
}

TEST_F(Agents, AreKnownByWhatTheyDid) {
    const auto agent = make_agent(), other = make_agent();
    Client robot = acting_as(agent), rival = acting_as(other);
    const auto queue = make_queue();
    for (const char* title : {"First", "Second", "Third"})
        expect(201, add_card(robot, queue, title));
    expect(201, add_card(rival, queue, "Another's"));
    ASSERT_TRUE(becomes("SELECT count(*) FROM audit_events WHERE action = 'create_card'", "4"));
    const auto page = expect(200, ada.get(path(agent, "/activity?page_size=2")));
    EXPECT_EQ(page.text("/results/0/object"), "agent_activity");
    EXPECT_EQ(page.text("/results/0/action"), "create_card");
    EXPECT_EQ(page.text("/results/0/outcome"), "success");
    EXPECT_EQ(page.text("/results/0/via"), "api");
    EXPECT_THAT(page.text("/results/0/target/name"), HasSubstr("Third"));
    const auto rest = expect(
        200, ada.get(path(agent, "/activity?page_size=2&start_cursor=" + page.text("/next_cursor")))
    );
    EXPECT_THAT(rest.text("/results/0/target/name"), HasSubstr("First"));
    EXPECT_EQ(rest.json().at("results").as_array().size(), 1u);
    EXPECT_EQ(rest.text("/next_cursor"), "null");
    // What is on boards that a member may not see stays untold, and by which token.
    Client bob = member("bob@example.com", "member");
    for (Client* stranger : {&bob, &rival}) {
        const auto seen = expect(200, stranger->get(path(agent, "/activity")));
        EXPECT_EQ(seen.text("/results/0/action"), "create_card");
        EXPECT_EQ(seen.text("/results/0/target"), "null");
        EXPECT_EQ(seen.text("/results/0/token_id"), "null");
    }
    const auto own = expect(200, robot.get(path(agent, "/activity")));
    EXPECT_THAT(own.text("/results/0/target/name"), HasSubstr("Third"));
    EXPECT_NE(own.text("/results/0/token_id"), "null");
}

TEST_F(Agents, AreToldOf) {
    const auto agent = make_agent();
    expect(200, send(ada, "PATCH", path(agent), {{"role", "viewer"}}));
    disable(agent);
    expect(200, ada.post(path(agent, ":enable")));
    expect(204, ada.send("DELETE", path(agent)));
    ASSERT_TRUE(becomes("SELECT count(*) FROM events WHERE kind LIKE 'agent.%'", "5"));
    EXPECT_EQ(
        ask("SELECT string_agg(kind, ' ' ORDER BY sequence) FROM events WHERE kind LIKE 'agent.%'"),
        "agent.created agent.updated agent.disabled agent.enabled agent.deleted"
    );
    EXPECT_EQ(
        ask("SELECT changes::json ->> 'role' FROM events"
            " WHERE kind = 'agent.updated'"),
        "viewer"
    );
}

}  // namespace
}  // namespace svc::test
