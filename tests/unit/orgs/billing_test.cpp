#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class Billing : public WorkspacesTest {
protected:
    Billing()
        : WorkspacesTest({"orgs.free_seats=3", "orgs.billing_portal=https://pay.example.com/"}) {}
    Reply bill() { return expect(200, ada.get(here + "/billing")); }
};

TEST_F(Billing, SaysWhatIsUsed) {
    auto now = bill();
    EXPECT_EQ(now.text("/object"), "billing");
    EXPECT_EQ(now.text("/org_id"), org);
    EXPECT_EQ(now.text("/plan"), "free");
    EXPECT_EQ(now.text("/billing_state"), "active");
    EXPECT_EQ(now.text("/seat_cap"), "3");
    EXPECT_EQ(now.text("/seat_count"), "1");
    EXPECT_EQ(now.text("/agent_count"), "0");
    EXPECT_EQ(now.text("/free_agent_count"), "1");
    EXPECT_EQ(now.text("/billable_agent_count"), "0");
    EXPECT_EQ(now.text("/past_due_since"), "null");
    EXPECT_EQ(now.text("/portal_url"), "https://pay.example.com/");
    member("bob@example.com", "member");
    program(ada, "agent", "member", "First");
    program(ada, "agent", "member", "Second");
    now = bill();
    EXPECT_EQ(now.text("/seat_count"), "2");
    EXPECT_EQ(now.text("/agent_count"), "2");
    EXPECT_EQ(now.text("/billable_agent_count"), "1");
}

TEST_F(Billing, IsForAdmins) {
    Client adam = member("adam@example.com", "admin"), max = member("max@example.com", "member");
    expect(200, adam.get(here + "/billing"));
    expect(403, max.get(here + "/billing"));
    Client eve = person("eve@example.com");
    expect(404, eve.get(here + "/billing"));
    expect(401, client().get(here + "/billing"));
}

TEST_F(Billing, TheOperatorSetsPlanAndState) {
    const auto set = operate({"org", "set-plan", "acme", "team"});
    EXPECT_EQ(set.code, 0);
    EXPECT_EQ(set.output, org + "  acme  team  active\n");
    EXPECT_EQ(operate({"org", "set-billing-state", org, "trialing"}).code, 0);
    EXPECT_EQ(operate({"org", "list"}).output, org + "  acme  team  trialing\n");
    EXPECT_EQ(bill().text("/plan"), "team");
    EXPECT_EQ(bill().text("/seat_cap"), "null");
    EXPECT_EQ(bill().text("/billing_state"), "trialing");
    EXPECT_EQ(expect(200, ada.get(here)).text("/version"), "3");
    EXPECT_EQ(events("org.billing_changed", 2), "2");
    EXPECT_EQ(
        ask("SELECT action || ' ' || actor_type || ' ' || "
            "(before::json ->> 'plan') || ' ' || (after::json ->> 'plan') FROM audit_events "
            "WHERE action = 'org set-plan'"),
        "org set-plan system free team"
    );
    // Once more is no change.
    EXPECT_EQ(operate({"org", "set-plan", "acme", "team"}).code, 0);
    EXPECT_EQ(expect(200, ada.get(here)).text("/version"), "3");
}

TEST_F(Billing, TheOperatorIsToldWhatIsWrong) {
    EXPECT_EQ(operate({"org", "set-plan", "acme", "gold"}).code, 2);
    EXPECT_EQ(operate({"org", "set-billing-state", "acme", "broke"}).code, 2);
    EXPECT_EQ(operate({"org", "set-plan", "acme"}).code, 2);
    EXPECT_EQ(operate({"org"}).code, 2);
    EXPECT_EQ(operate({"org", "set-plan", "nobody", "team"}).code, 1);
    EXPECT_EQ(ask("SELECT plan || ' ' || version FROM orgs"), "free 1");
}

TEST_F(Billing, ASlugThatLooksLikeAnIdTakesNobodysPlace) {
    Client eve = person("eve@example.com");
    const json::value body{{"name", "Decoy"}, {"slug", org}};
    expect(201, eve.post("/v1/orgs", body));
    EXPECT_EQ(operate({"org", "set-plan", org, "team"}).code, 0);
    EXPECT_EQ(ask("SELECT slug FROM orgs WHERE plan = 'team'"), "acme");
    EXPECT_EQ(operate({"org", "set-plan", nowhere, "team"}).code, 1);
}

TEST_F(Billing, TheDatesOfAStateAreKept) {
    set_state("past_due");
    const auto since = bill().text("/past_due_since");
    EXPECT_NE(since, "null");
    set_plan("team");
    EXPECT_EQ(bill().text("/past_due_since"), since);
    set_state("canceled");
    EXPECT_EQ(bill().text("/past_due_since"), "null");
    EXPECT_NE(bill().text("/cancel_at"), "null");
    set_state("active");
    EXPECT_EQ(bill().text("/cancel_at"), "null");
}

// ------------------------------------------------------------------------------ arrears

class Arrears : public Billing {
protected:
    Arrears() {
        bob = member("bob@example.com", "member");
        token = program(ada);
        agent = program(ada, "agent");
        board = expect(201, ada.post("/v1/boards", json::value{{"name", "Work"}})).text("/id");
        // Known to the server by now, as they will be when the state changes.
        for (Client* each : {&ada, &bob, &token, &agent}) expect(200, each->get(here));
        set_state("past_due");
    }
    static void refused(const Reply& reply) {
        EXPECT_EQ(reply.status, 402) << reply.body;
        EXPECT_THAT(reply.body, HasSubstr("workspace_past_due"));
    }

    Client bob = client(), token = client(), agent = client();
    std::string board;
};

TEST_F(Arrears, AreNoAnswerToWhoeverMayNotWriteAnyway) {
    set_state("active");
    Client viewer = member("vera@example.com", "viewer");
    Client reader = program(viewer, "integration", "viewer");
    const auto columns = expect(200, ada.get("/v1/boards/" + board + "/columns"));
    const json::value card{{"column_id", columns.text("/results/0/id")}, {"title", "Card"}};
    set_state("past_due");
    for (Client* each : {&viewer, &reader}) {
        EXPECT_EQ(each->post("/v1/boards/" + board + "/cards", card).status, 403);
        EXPECT_EQ(patch(*each, "/v1/boards/" + board, {{"name", "New"}}).status, 403);
        EXPECT_EQ(patch(*each, here, {{"name", "New"}}).status, 403);
    }
    refused(ada.post("/v1/boards/" + board + "/cards", card));
    refused(ada.post("/v1/boards/" + board + "/cards", json::value{{"titel", "Card"}}));
    EXPECT_EQ(ask("SELECT count(*) FROM cards"), "0");
}

TEST_F(Arrears, BlockEveryWriteAtOnce) {
    const json::value named{{"name", "New"}};
    for (Client* each : {&ada, &token, &agent}) {
        refused(each->post("/v1/boards", named));
        refused(patch(*each, here, named));
        refused(add(*each, "new@example.com"));
        refused(invite(*each, "new@example.com"));
        refused(set_role(*each, id_of(bob), "viewer"));
        refused(remove(*each, members + "/" + id_of(bob)));
        refused(each->post(members + "/" + id_of(bob) + ":resend-invite"));
        refused(remove(*each, invitations + "/" + nowhere));
    }
    refused(remove(ada, here + "?confirm=acme"));
    refused(bob.post("/v1/boards", named));
    const json::value wanted{{"kind", "integration"}, {"name", "Late"}, {"role", "member"}};
    refused(ada.post("/v1/tokens", wanted));
    EXPECT_EQ(ask("SELECT count(*) || ' ' || max(name) FROM boards"), "1 Work");
}

TEST_F(Arrears, LeaveReadingAsItWas) {
    for (Client* each : {&ada, &token, &agent}) {
        expect(200, each->get("/v1/boards/" + board));
        expect(200, each->get(members));
        expect(200, each->get(here + "/billing"));
        expect(200, each->get(here + "/audit-events"));
    }
    EXPECT_EQ(expect(200, ada.get(here)).text("/billing_state"), "past_due");
}

TEST_F(Arrears, LeaveTheAccountAndTheWayOutOpen) {
    expect(204, remove(bob, members + "/me"));
    bob.always("X-Svc-Org", "");
    expect(201, bob.post("/v1/orgs", json::value{{"name", "Bobs own"}}));
    expect(200, bob.get("/v1/me"));
    expect(204, bob.post("/v1/auth/logout"));
    Client again = client();
    expect(200, log_in(again, "bob@example.com"));
    expect(204, remove(ada, "/v1/me/sessions"));
}

TEST_F(Arrears, AreNobodyElses) {
    Client eve = person("eve@example.com");
    expect(201, eve.post("/v1/orgs", json::value{{"name", "Other"}}));
    expect(201, eve.post("/v1/boards", json::value{{"name", "Fine"}}));
}

TEST_F(Arrears, AreOverWithTheNextRequest) {
    for (const char* state : {"active", "trialing", "canceled"}) {
        set_state(state);
        expect(201, token.post("/v1/boards", json::value{{"name", state}}));
        set_state("past_due");
        refused(token.post("/v1/boards", json::value{{"name", state}}));
    }
}

// The contract's order of checks: role before arrears, arrears before the body.
TEST_F(Arrears, ComeAfterTheRoleAndBeforeTheBody) {
    EXPECT_EQ(invite(bob, "x@example.com").status, 403);
    refused(ada.post(invitations, json::value{{"email", 7}}));
    Client eve = person("eve@example.com");
    EXPECT_EQ(invite(eve, "x@example.com").status, 404);
}

TEST_F(Arrears, AreCountedInNoRoundTripOfTheirOwn) {
    const auto trips = [&](const std::string& operation) {
        const auto metrics = client().get("/metrics").body;
        const auto at =
            metrics.find("workboard_request_round_trips_total{operation=\"" + operation + "\"}");
        EXPECT_NE(at, metrics.npos) << metrics.substr(0, 2000);
        return std::stoi(metrics.substr(metrics.find(' ', at) + 1));
    };
    expect(200, token.get("/v1/boards/" + board));
    const int before = trips("get_board");
    for (int i = 0; i < 10; ++i) expect(200, token.get("/v1/boards/" + board));
    EXPECT_EQ(trips("get_board") - before, 10);
}

}  // namespace
}  // namespace svc::test
