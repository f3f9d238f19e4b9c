#include "tests/unit/oauth/oauth_fixture.hpp"

namespace svc::test {
namespace {

class ConnectedClients : public OAuthTest {
protected:
    void expect_over(const Flow& flow, const Reply& given) {
        EXPECT_EQ(at_mcp(given), 401);
        expect_refused(refresh(flow, given.text("/refresh_token")), "invalid_grant");
    }
    std::string seat_of(Client& person) {
        return "/v1/orgs/" + org + "/members/" + person.get("/v1/me").text("/id");
    }
    /// A connection of somebody else's than Ada's.
    Reply connect_as(Client& by, const Flow& flow) {
        const auto allowed = expect(201, allow(by, flow));
        return expect(200, exchange(flow, member_of(allowed.text("/redirect_to"), "code")));
    }
};

TEST_F(ConnectedClients, WhatIsForMcpIsGoodForNothingElse) {
    const auto given = connect(new_flow());
    EXPECT_EQ(at_mcp(given), 200);
    EXPECT_EQ(at_rest(given), 401);
    EXPECT_EQ(at_mcp(given), 200);
    Flow flow = new_flow();
    flow.more = {{"resource", base()}};
    const auto everywhere = connect(flow);
    EXPECT_EQ(at_mcp(everywhere), 200);
    EXPECT_EQ(at_rest(everywhere), 200);
}

TEST_F(ConnectedClients, ItActsAsThePersonOrAsItsAgent) {
    const auto who = [&](const Reply& given) {
        McpClient mcp(server.port(), given.text("/access_token"));
        mcp.initialize();
        return mcp.call("create_board", {{"name", "Made by a client"}})
            .text("/result/structuredContent/created_by/principal_type");
    };
    EXPECT_EQ(who(connect(new_flow())), "user");
    EXPECT_EQ(who(connect(new_flow(), {{"kind", "agent"}, {"agent_name", "Helper"}})), "agent");
}

TEST_F(ConnectedClients, RevokingTheTokenEndsBoth) {
    const auto flow = new_flow();
    const auto given = connect(flow);
    const auto id = ada.get("/v1/tokens").text("/results/0/id");
    expect(204, ada.send("DELETE", "/v1/tokens/" + id));
    expect_over(flow, given);
}

// Clients refresh when they get a 401, and not when a tool refuses.
TEST_F(ConnectedClients, ACallAfterTheEndIsRefusedAsARequest) {
    const auto flow = new_flow();
    const auto call_tools = [&](McpClient& mcp) {
        std::vector<int> statuses;
        for (const char* tool : {"list_boards", "create_board"})
            statuses.push_back(mcp.call(tool, {{"name", "Board"}}).status);
        return statuses;
    };
    const std::vector<std::string> ends{
        "UPDATE tokens SET access_until = now() RETURNING id",
        "UPDATE tokens SET revoked_at = now() RETURNING id",
    };
    for (const std::string& end : ends)
        for (const char* first : {"list_boards", "create_board"}) {
            const auto given = connect(flow);
            McpClient mcp(server.port(), given.text("/access_token"));
            mcp.initialize();
            EXPECT_EQ(mcp.call(first, {{"name", "Board"}}).status, 200);
            ask(end);
            ask("UPDATE orgs SET security_epoch = security_epoch + 1 RETURNING id");
            EXPECT_EQ(mcp.call(first, {{"name", "Board"}}).status, 401) << end;
            EXPECT_EQ(call_tools(mcp), (std::vector{401, 401}));
        }
}

TEST_F(ConnectedClients, WhoIsRemovedTakesThemAlong) {
    Client bob = member("bob@example.com", "member");
    const auto flow = new_flow();
    const auto given = connect_as(bob, flow);
    EXPECT_EQ(at_mcp(given), 200);
    expect(204, ada.send("DELETE", seat_of(bob)));
    expect_over(flow, given);
}

TEST_F(ConnectedClients, ALowerRoleCountsAtOnce) {
    Client bob = member("bob@example.com", "member");
    const auto given = connect_as(bob, new_flow());
    McpClient mcp(server.port(), given.text("/access_token"));
    mcp.initialize();
    EXPECT_THAT(mcp.tool_names(), testing::Contains("create_board"));
    expect(200, send(ada, "PATCH", seat_of(bob), {{"role", "viewer"}}));
    const auto refused = mcp.call("create_board", {{"name", "No"}});
    EXPECT_EQ(refused.text("/result/isError"), "true") << refused.body;
}

TEST_F(ConnectedClients, WhoIsShutOutIsShutOutWithThem) {
    const auto flow = new_flow();
    const auto given = connect(flow);
    ask("UPDATE users SET disabled_at = now() WHERE email = 'ada@example.com' RETURNING id");
    ask("UPDATE orgs SET security_epoch = security_epoch + 1 RETURNING id");
    expect_over(flow, given);
}

TEST_F(ConnectedClients, ADisabledAgentIsRefusedUntilItIsEnabled) {
    const auto flow = new_flow();
    const auto allowed =
        expect(201, allow(ada, flow, {{"kind", "agent"}, {"agent_name", "Helper"}}));
    const auto agent = allowed.text("/agent_id");
    const auto given = expect(200, exchange(flow, member_of(allowed.text("/redirect_to"), "code")));
    disable(agent);
    EXPECT_EQ(at_mcp(given), 401);
    // A client that is told its refresh token is worth nothing throws it away.
    const auto renewed = expect(200, refresh(flow, given.text("/refresh_token")));
    EXPECT_EQ(at_mcp(renewed), 401);
    expect(200, ada.post(path(agent, ":enable")));
    EXPECT_EQ(at_mcp(renewed), 200);
    expect(204, ada.send("DELETE", path(agent)));
    EXPECT_EQ(ask("SELECT count(*) FROM oauth_grants"), "0");
}

TEST_F(ConnectedClients, AClientLeavesNothingThatOutlivesIt) {
    Flow flow = new_flow();
    flow.more = {{"resource", base()}};
    const auto given = connect(flow, {{"role", "admin"}});
    Client bearer = client();
    bearer.token(given.text("/access_token"));
    const json::value mine{{"kind", "integration"}, {"name", "x"}, {"role", "viewer"}};
    EXPECT_EQ(bearer.post("/v1/tokens", mine).status, 403);
    const auto other = expect(201, ada.post("/v1/tokens", mine)).text("/id");
    EXPECT_EQ(bearer.post("/v1/tokens/" + other + ":rotate").status, 403);
}

TEST_F(ConnectedClients, AClientEndsItsConnectionAndNoOther) {
    const auto flow = new_flow();
    const auto other = register_client();
    const auto end = [&](const std::string& token, const std::string& client_id) {
        return post_form("/oauth/revoke", {{"token", token}, {"client_id", client_id}});
    };
    for (const char* which : {"/access_token", "/refresh_token"}) {
        const auto given = connect(flow);
        expect(200, end(given.text(which), other));
        EXPECT_EQ(at_mcp(given), 200);
        expect(200, end(given.text(which), flow.client_id));
        expect_over(flow, given);
        expect(200, end(given.text(which), flow.client_id));
    }
    // A token that nobody was granted by OAuth is none of its business.
    const json::value mine{{"kind", "integration"}, {"name", "x"}};
    const auto own = expect(201, ada.post("/v1/tokens", mine));
    expect(200, end(own.text("/token"), flow.client_id));
    Client bearer = with(own);
    expect(200, bearer.get("/v1/me"));
    expect_refused(post_form("/oauth/revoke", {{"token", "x"}}), "invalid_request");
    expect(200, end("x", flow.client_id));
}

TEST_F(ConnectedClients, OtherWorkspacesAreOutOfReach) {
    const auto given = connect(new_flow());
    const auto other =
        expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}})).text("/id");
    McpClient mcp(server.port(), given.text("/access_token"));
    mcp.client.always("X-Svc-Org", other);
    EXPECT_EQ(mcp.initialize().status, 404);
}

}  // namespace
}  // namespace svc::test
