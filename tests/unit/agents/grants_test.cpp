#include "tests/support/mcp_client.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

namespace svc::test {
namespace {

class Grants : public AgentsTest {
protected:
    static std::string grants(const std::string& board, const std::string& principal = "") {
        return "/v1/boards/" + board + "/access-grants" +
               (principal.empty() ? "" : "/" + principal);
    }
    Reply grant(const std::string& board, const std::string& principal, const char* role) {
        return expect(200, send(ada, "PUT", grants(board, principal), {{"role", role}}));
    }
    static std::size_t count(const Reply& list) {
        return expect(200, list).json().at("results").as_array().size();
    }
};

TEST_F(Grants, AreGivenChangedListedAndTakenBack) {
    const auto agent = make_agent();
    const auto queue = make_queue();
    const auto given = grant(queue.board, agent, "viewer");
    EXPECT_EQ(given.text("/object"), "board_grant");
    EXPECT_EQ(given.text("/board_id"), queue.board);
    EXPECT_EQ(given.text("/principal/id"), agent);
    EXPECT_EQ(given.text("/principal/principal_type"), "agent");
    EXPECT_EQ(given.text("/principal/name"), "Robot");
    EXPECT_EQ(given.text("/role"), "viewer");
    EXPECT_EQ(given.text("/created_by/name"), "Ada");
    const auto changed = grant(queue.board, agent, "editor");
    EXPECT_EQ(changed.text("/id"), given.text("/id"));
    EXPECT_EQ(changed.text("/role"), "editor");
    const auto list = expect(200, ada.get(grants(queue.board)));
    EXPECT_EQ(list.json().at("results").at(0), changed.json());
    EXPECT_EQ(read(agent).text("/board_grants/0/board_id"), queue.board);
    EXPECT_EQ(read(agent).text("/board_grants/0/role"), "editor");
    expect(204, ada.send("DELETE", grants(queue.board, agent)));
    EXPECT_EQ(count(ada.get(grants(queue.board))), 0u);
    EXPECT_EQ(read(agent).text("/board_grants"), "[]");
    expect(404, ada.send("DELETE", grants(queue.board, agent)));
    ASSERT_TRUE(becomes("SELECT count(*) FROM events WHERE kind LIKE 'grant.%'", "3"));
    EXPECT_EQ(
        ask("SELECT string_agg(kind, ' ' ORDER BY sequence) FROM events WHERE kind LIKE 'grant.%'"),
        "grant.created grant.updated grant.deleted"
    );
}

TEST_F(Grants, AreForThoseInTheWorkspaceAndBoardsThatAre) {
    const auto agent = make_agent();
    const auto queue = make_queue();
    EXPECT_EQ(send(ada, "PUT", grants(queue.board, nowhere), {{"role", "viewer"}}).status, 404);
    EXPECT_EQ(send(ada, "PUT", grants(nowhere, agent), {{"role", "viewer"}}).status, 404);
    EXPECT_EQ(send(ada, "PUT", grants(queue.board, agent), {{"role", "admin"}}).status, 422);
    EXPECT_EQ(ada.get(grants(nowhere)).status, 404);
    Client bob = member("bob@example.com", "member");
    EXPECT_EQ(bob.get(grants(queue.board)).status, 403);
    EXPECT_EQ(send(bob, "PUT", grants(queue.board, agent), {{"role", "viewer"}}).status, 403);
}

TEST_F(Grants, ConfineAnAgentToItsBoards) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    const auto own = make_queue("Own"), other = make_queue("Other");
    const auto hidden = expect(201, add_card(ada, other, "Hidden")).text("/id");
    const auto seen = expect(201, add_card(ada, own, "Seen")).text("/id");
    EXPECT_EQ(count(robot.get("/v1/boards")), 2u);
    EXPECT_EQ(count(robot.get("/v1/cards")), 2u);
    grant(own.board, agent, "editor");

    EXPECT_EQ(count(robot.get("/v1/boards")), 1u);
    const auto cards = expect(200, robot.get("/v1/cards"));
    EXPECT_EQ(count(cards), 1u);
    EXPECT_EQ(cards.text("/results/0/id"), seen);
    EXPECT_EQ(count(robot.get("/v1/cards?board_id=" + other.board)), 0u);
    const std::string board = "/v1/boards/" + other.board;
    for (const auto& [method, path] : std::vector<std::pair<const char*, std::string>>{
             {"GET", board},
             {"GET", board + "/columns"},
             {"GET", board + "/columns/" + other.column},
             {"GET", "/v1/cards/" + hidden},
             {"PATCH", "/v1/cards/" + hidden},
             {"POST", "/v1/cards/" + hidden + ":archive"},
             {"POST", board + "/columns/" + other.column + ":claim-next"}})
        EXPECT_EQ(robot.send(method, path, method[0] == 'G' ? "" : "{}").status, 404)
            << method << " " << path;
    expect(404, add_card(robot, other));
    EXPECT_EQ(
        robot.post("/v1/cards/" + seen + ":move", json::value{{"column_id", other.column}}).status,
        robot.post("/v1/cards/" + seen + ":move", json::value{{"column_id", nowhere}}).status
    );
    EXPECT_EQ(expect(200, claim(robot, own)).text("/card/id"), seen);
    expect(201, add_card(robot, own));
}

TEST_F(Grants, OfAViewerLetAnAgentOnlyLook) {
    const auto agent = make_agent({{"role", "admin"}});
    Client robot = acting_as(agent, "admin");
    const auto queue = make_queue();
    const auto card = expect(201, add_card(ada, queue)).text("/id");
    grant(queue.board, agent, "viewer");
    EXPECT_EQ(expect(200, robot.get("/v1/boards/" + queue.board)).text("/role"), "viewer");
    expect(200, robot.get("/v1/cards/" + card));
    expect(403, send(robot, "PATCH", "/v1/cards/" + card, {{"title", "x"}}));
    expect(403, add_card(robot, queue));
    expect(403, claim(robot, queue));
    // Nor does it widen its own grant, though its role in the workspace is that of an admin.
    expect(403, send(robot, "PUT", grants(queue.board, agent), {{"role", "editor"}}));
}

TEST_F(Grants, ConfineAnAgentEvenOnBoardsItMade) {
    const auto agent = make_agent();
    Client robot = acting_as(agent);
    const auto made =
        expect(201, robot.post("/v1/boards", json::value{{"name", "Made"}})).text("/id");
    const auto own = make_queue();
    grant(own.board, agent, "editor");
    expect(404, robot.get("/v1/boards/" + made));
    expect(403, robot.post("/v1/boards", json::value{{"name", "Another"}}));
    EXPECT_EQ(ask("SELECT count(*) FROM boards"), "2");
    expect(204, ada.send("DELETE", grants(own.board, agent)));
    EXPECT_EQ(expect(200, robot.get("/v1/boards/" + made)).text("/role"), "admin");
}

TEST_F(Grants, LeaveAnAgentNothingOfAnAdminsElsewhere) {
    const auto agent = make_agent({{"role", "admin"}}), other = make_agent();
    Client robot = acting_as(agent, "admin");
    const auto own = make_queue("Own"), trashed = make_queue("Trashed");
    const std::string record = "/v1/orgs/" + org + "/audit-events";
    expect(200, robot.get(record));
    grant(own.board, agent, "editor");
    EXPECT_EQ(robot.get("/v1/me").text("/role"), "member");
    expect(403, robot.get(record));
    expect(403, robot.post(path(other, ":disable")));
    expect(403, robot.send("DELETE", grants(own.board, agent)));
    const auto activity = expect(200, robot.get(path(other, "/activity")));
    EXPECT_EQ(activity.body.find(trashed.board), std::string::npos);
    expect(204, ada.send("DELETE", grants(own.board, agent)));
    expect(200, robot.get(record));
}

TEST_F(Grants, OfAgentsAreTakenBackByPeople) {
    const auto agent = make_agent(), boss = make_agent({{"role", "admin"}});
    Client robot = acting_as(boss, "admin");
    const auto queue = make_queue();
    grant(queue.board, agent, "editor");
    expect(403, robot.send("DELETE", grants(queue.board, agent)));
    EXPECT_EQ(count(ada.get(grants(queue.board))), 1u);
    Client bob = member("bob@example.com", "member");
    const auto user = bob.get("/v1/me").text("/id");
    grant(queue.board, user, "viewer");
    expect(204, robot.send("DELETE", grants(queue.board, user)));
    expect(204, ada.send("DELETE", grants(queue.board, agent)));
}

TEST_F(Grants, HoldByMcpToo) {
    const auto agent = make_agent();
    const auto own = make_queue("Own"), other = make_queue("Other");
    const auto hidden = expect(201, add_card(ada, other, "Hidden")).text("/id");
    grant(own.board, agent, "editor");
    McpClient mcp(server.port(), make_token(agent).text("/token"));
    expect(200, mcp.initialize());
    const auto boards = expect(200, mcp.call("list_boards", json::object()));
    EXPECT_NE(boards.body.find(own.board), std::string::npos);
    EXPECT_EQ(boards.body.find(other.board), std::string::npos);
    for (const auto& [tool, arguments] : std::vector<std::pair<const char*, json::object>>{
             {"get_board", {{"board_id", other.board}}},
             {"get_card", {{"card_id", hidden}}},
             {"create_card",
              {{"board_id", other.board}, {"column_id", other.column}, {"title", "x"}}},
             {"claim_next_card", {{"board_id", other.board}, {"column_id", other.column}}}}) {
        const auto answer = expect(200, mcp.call(tool, json::value(arguments)));
        EXPECT_EQ(answer.json().at_pointer("/result/isError"), true) << tool;
        EXPECT_NE(answer.body.find("object_not_found"), std::string::npos) << answer.body;
    }
}

TEST_F(Grants, WidenAndNarrowForPeople) {
    Client bob = member("bob@example.com", "viewer");
    const auto id = bob.get("/v1/me").text("/id");
    const auto queue = make_queue();
    expect(403, add_card(bob, queue));
    grant(queue.board, id, "editor");
    expect(201, add_card(bob, queue));
    ask("UPDATE memberships SET role = 'member' WHERE role = 'viewer' RETURNING id");
    grant(queue.board, id, "viewer");
    expect(403, add_card(bob, queue));
}

TEST_F(Grants, GoWithTheSeat) {
    const auto members = "/v1/orgs/" + org + "/members";
    const json::value seat{{"email", "bob@example.com"}, {"role", "viewer"}};
    Client bob = person("bob@example.com");
    const auto id = bob.get("/v1/me").text("/id");
    bob.always("X-Svc-Org", org);
    const auto queue = make_queue(), other = make_queue("Other");
    const auto agent = make_agent();
    grant(other.board, agent, "editor");
    const std::vector<std::pair<Client*, std::string>> ways{
        {&bob, members + "/me"}, {&ada, members + "/" + id}};
    for (const auto& [who, way] : ways) {
        expect(201, ada.post(members, seat));
        grant(queue.board, id, "editor");
        grant(other.board, id, "editor");
        expect(201, add_card(bob, queue));
        expect(204, who->send("DELETE", way));
        EXPECT_EQ(count(ada.get(grants(queue.board))), 0u);
        expect(201, ada.post(members, seat));
        expect(403, add_card(bob, queue));
        expect(403, add_card(bob, other));
        expect(204, who->send("DELETE", way));
    }
    EXPECT_EQ(count(ada.get(grants(other.board))), 1u) << "the agent's stays";
}

}  // namespace
}  // namespace svc::test
