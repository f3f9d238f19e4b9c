#include "tests/support/mcp_client.hpp"
#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

class AuditRecord : public WorkspacesTest {
protected:
    /// The newest entry of the action, once there is one.
    json::value entry(const std::string& action, const std::string& more = {}) {
        const auto path = here + "/audit-events?action=" + action + more;
        json::value page;
        const auto is_there = [&] {
            page = expect(200, ada.get(path)).json();
            return !page.at("results").as_array().empty();
        };
        if (!eventually(is_there)) throw std::runtime_error("no audit entry of " + action);
        return page.at("results").at(0);
    }
    static std::string at(const json::value& value, std::string_view pointer) {
        const auto& found = value.at_pointer(pointer);
        return found.is_string() ? std::string(found.as_string()) : json::serialize(found);
    }
    /// How many there are, once there are `wanted`: they are moved in after the write.
    std::string entries(const std::string& wanted) {
        return ask_until(wanted, "SELECT count(*) FROM audit_events WHERE org_id = '" + org + "'");
    }
    /// As somebody who owns the database would.
    void tamper(const std::string& statement) { ask(statement + " AND org_id = '" + org + "'"); }
};

// --------------------------------------------------------------------------- every write

TEST_F(AuditRecord, EveryWriteIsInIt) {
    Client bob = member("bob@example.com", "member"), cleo = person("cleo@example.com");
    const auto user = id_of(bob);
    expect(200, patch(ada, here, {{"name", "Works"}}));
    expect(200, set_role(ada, user, "viewer"));
    expect(200, ada.post(members + "/" + user + ":resend-invite"));
    const auto first = expect(201, invite(ada, "cleo@example.com")).text("/id");
    expect(200, invite(ada, "cleo@example.com"));
    expect(200, decline(cleo, first));
    expect(
        204, remove(ada, invitations + "/" + expect(201, invite(ada, "x@example.com")).text("/id"))
    );
    expect(200, accept(cleo, expect(201, invite(ada, "cleo@example.com")).text("/id")));
    expect(204, remove(cleo, members + "/me"));
    expect(204, remove(ada, members + "/" + user));
    set_plan("team");
    const std::vector<std::string> actions{
        "create_org",
        "add_member",
        "update_org",
        "update_member",
        "resend_member_invite",
        "create_invitation",
        "create_invitation",
        "decline_invitation",
        "create_invitation",
        "revoke_invitation",
        "create_invitation",
        "accept_invitation",
        "accept_invitation",
        "leave_org",
        "remove_member",
        "org set-plan"};
    ASSERT_EQ(
        ask_until(std::to_string(actions.size()), "SELECT count(*) FROM audit_events"),
        std::to_string(actions.size())
    );
    auto listed = texts(expect(200, ada.get(here + "/audit-events?page_size=100")), "action");
    std::ranges::reverse(listed);
    EXPECT_EQ(listed, actions);
    EXPECT_EQ(ask("SELECT count(*) FROM audit_events WHERE outcome <> 'success'"), "0");
}

TEST_F(AuditRecord, AnEntrySaysWhoWhatAndFromWhere) {
    Client bob = member("bob@example.com", "member");
    const auto user = id_of(bob);
    const auto changed = ada.send(
        "PATCH", members + "/" + user, R"({"role": "admin"})", {{"User-Agent", "browser/1.0"}}
    );
    expect(200, changed);
    const auto said = entry("update_member");
    EXPECT_EQ(at(said, "/object"), "audit_event");
    EXPECT_EQ(at(said, "/org_id"), org);
    EXPECT_EQ(at(said, "/actor/principal_type"), "user");
    EXPECT_EQ(at(said, "/actor/id"), id_of(ada));
    EXPECT_EQ(at(said, "/actor/name"), "Ada");
    EXPECT_EQ(at(said, "/actor/via"), "web");
    EXPECT_EQ(at(said, "/actor/token_id"), "null");
    EXPECT_EQ(at(said, "/target/type"), "membership");
    EXPECT_EQ(at(said, "/target/id"), changed.text("/id"));
    EXPECT_EQ(at(said, "/before/role"), "member");
    EXPECT_EQ(at(said, "/after/role"), "admin");
    EXPECT_EQ(at(said, "/outcome"), "success");
    EXPECT_EQ(at(said, "/ip_address"), "127.0.0.1");
    EXPECT_EQ(at(said, "/user_agent"), "browser/1.0");
    EXPECT_EQ(at(said, "/request_id"), changed.header("x-request-id"));
    EXPECT_EQ(at(said, "/hash").size(), 64u);
}

TEST_F(AuditRecord, AnEntrySaysByWhichWay) {
    const auto body = [](const char* name) { return json::value{{"name", name}}; };
    Client token = program(ada);
    expect(201, token.post("/v1/boards", body("By api")));
    const auto by_token = entry("create_board");
    EXPECT_EQ(at(by_token, "/actor/via"), "api");
    EXPECT_EQ(at(by_token, "/actor/principal_type"), "user");
    EXPECT_EQ(at(by_token, "/actor/id"), id_of(ada));
    EXPECT_NE(at(by_token, "/actor/token_id"), "null");

    const json::value wanted{
        {"kind", "agent"}, {"name", "Robot"}, {"role", "admin"}, {"agent", {{"name", "Robot"}}}};
    const auto made = expect(201, ada.post("/v1/tokens", wanted));
    McpClient mcp(server.port(), made.text("/token"));
    expect(200, mcp.initialize());
    expect(200, mcp.call("update_org", {{"org_id", org}, {"name", "Works"}}));
    const auto by_agent = entry("update_org");
    EXPECT_EQ(at(by_agent, "/actor/via"), "mcp");
    EXPECT_EQ(at(by_agent, "/actor/principal_type"), "agent");
    EXPECT_EQ(at(by_agent, "/actor/name"), "Robot");
    EXPECT_EQ(at(by_agent, "/actor/id"), made.text("/agent_id"));
    EXPECT_EQ(at(by_agent, "/actor/token_id"), made.text("/id"));
    EXPECT_EQ(at(by_agent, "/actor/on_behalf_of_user_id"), id_of(ada));
    EXPECT_EQ(at(by_agent, "/ip_address"), "127.0.0.1");
}

TEST_F(AuditRecord, HoldsNoSecret) {
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    const auto newcomer = expect(201, add(ada, "new@example.com"));
    const json::value wanted{{"kind", "integration"}, {"name", "Key"}, {"role", "member"}};
    const auto token = expect(201, ada.post("/v1/tokens", wanted)).text("/token");
    entry("create_token");
    const auto whole = expect(200, ada.get(here + "/audit-events?page_size=100")).body +
                       ask("SELECT string_agg(e::text, '') FROM events e");
    EXPECT_THAT(whole, HasSubstr(invitation));
    for (const auto& secret :
         {token, mailed_token("bob@example.com"), mailed_token("new@example.com")})
        EXPECT_THAT(whole, Not(HasSubstr(secret)));
    EXPECT_THAT(whole, Not(HasSubstr("token_digest")));
    EXPECT_THAT(whole, Not(HasSubstr(password)));
}

// ------------------------------------------------------------------------- every refusal

TEST_F(AuditRecord, ARefusedCallIsInIt) {
    Client max = member("max@example.com", "member");
    const auto refused = expect(403, set_role(max, id_of(ada), "viewer"));
    const auto said = entry("update_member");
    EXPECT_EQ(at(said, "/outcome"), "denied");
    EXPECT_EQ(at(said, "/actor/id"), id_of(max));
    EXPECT_EQ(at(said, "/actor/via"), "web");
    EXPECT_EQ(at(said, "/target/type"), "user");
    EXPECT_EQ(at(said, "/target/id"), id_of(ada));
    EXPECT_EQ(at(said, "/before"), "null");
    EXPECT_EQ(at(said, "/after/code"), "restricted_resource");
    EXPECT_EQ(at(said, "/after/message"), refused.text("/message"));
    EXPECT_EQ(at(said, "/ip_address"), "127.0.0.1");
    EXPECT_EQ(at(said, "/request_id"), refused.header("x-request-id"));
}

TEST_F(AuditRecord, RefusalsOfEverySortAreInIt) {
    Client max = member("max@example.com", "member"), adam = member("adam@example.com", "admin");
    Client agent = program(ada, "agent", "member", "Robot");
    expect(403, max.get(here + "/audit-events"));
    expect(403, max.get(here + "/billing"));
    expect(403, set_role(adam, id_of(ada), "viewer"));
    expect(403, remove(adam, here + "?confirm=acme"));
    expect(403, remove(agent, members + "/me"));
    expect(403, agent.post("/v1/orgs", json::value{{"name", "Mine"}}));
    for (const char* action :
         {"list_audit_events",
          "get_billing",
          "update_member",
          "delete_org",
          "leave_org",
          "create_org"})
        EXPECT_EQ(at(entry(action, "&outcome=denied"), "/outcome"), "denied") << action;
    EXPECT_EQ(at(entry("delete_org"), "/target/type"), "organization");
    EXPECT_EQ(at(entry("delete_org"), "/target/id"), org);
    EXPECT_EQ(at(entry("leave_org"), "/actor/name"), "Robot");
    EXPECT_EQ(at(entry("leave_org"), "/actor/on_behalf_of_user_id"), id_of(ada));
    EXPECT_EQ(ask("SELECT count(*) FROM events WHERE kind IS NULL"), "0");
}

TEST_F(AuditRecord, ARefusalByMcpIsInIt) {
    const json::value wanted{
        {"kind", "agent"}, {"name", "Robot"}, {"role", "member"}, {"agent", {{"name", "Robot"}}}};
    McpClient mcp(server.port(), expect(201, ada.post("/v1/tokens", wanted)).text("/token"));
    expect(200, mcp.initialize());
    mcp.call("remove_member", {{"org_id", org}, {"user_id", id_of(ada)}});
    const auto said = entry("remove_member");
    EXPECT_EQ(at(said, "/outcome"), "denied");
    EXPECT_EQ(at(said, "/actor/via"), "mcp");
    EXPECT_EQ(at(said, "/target/type"), "user");
    EXPECT_EQ(at(said, "/target/id"), id_of(ada));
}

TEST_F(AuditRecord, StrangersLeaveNothing) {
    Client eve = person("eve@example.com");
    const auto before = ask_until("1", "SELECT count(*) FROM audit_events");
    expect(404, eve.get(here + "/audit-events"));
    expect(404, set_role(eve, id_of(ada), "viewer"));
    expect(401, client().get(here + "/audit-events"));
    expect(404, set_role(ada, nowhere, "viewer"));
    expect(422, set_role(ada, id_of(ada), "king"));
    expect(201, invite(ada, "bob@example.com"));
    entry("create_invitation");
    EXPECT_EQ(entries("2"), "2");
}

// ---------------------------------------------------------------------------- reading it

TEST_F(AuditRecord, IsFilteredAndPaged) {
    Client max = member("max@example.com", "member");
    for (const char* name : {"One", "Two", "Three"})
        expect(200, patch(ada, here, {{"name", name}}));
    expect(403, patch(max, here, {{"name", "Four"}}));
    entry("update_org", "&outcome=denied");
    const auto page = [&](const std::string& query) {
        return expect(200, ada.get(here + "/audit-events?" + query));
    };
    const auto count = [&](const std::string& query) {
        return page(query).json().at("results").as_array().size();
    };
    EXPECT_EQ(count("action=update_org"), 4u);
    EXPECT_EQ(count("action=update_org&outcome=success"), 3u);
    EXPECT_EQ(count("outcome=denied"), 1u);
    EXPECT_EQ(count("actor_id=" + id_of(max)), 1u);
    EXPECT_EQ(count("target_type=organization&outcome=success"), 3u);
    EXPECT_EQ(count("target_id=" + org), 4u);
    EXPECT_EQ(count("action=fly"), 0u);
    EXPECT_EQ(count("since=2100-01-01T00:00:00Z"), 0u);
    EXPECT_EQ(count("until=2020-01-01T00:00:00Z"), 0u);
    expect(422, ada.get(here + "/audit-events?outcome=perhaps"));
    expect(422, ada.get(here + "/audit-events?since=yesterday"));
    expect(422, ada.get(here + "/audit-events?actor_id=me"));

    const auto first = page("page_size=2&action=update_org");
    EXPECT_EQ(first.text("/type"), "audit_event");
    const auto cursor = first.text("/next_cursor");
    const auto rest = page("page_size=2&action=update_org&start_cursor=" + cursor);
    EXPECT_EQ(rest.text("/has_more"), "false");
    const auto sequence = [](const Reply& reply, int i) {
        return std::stoi(reply.text("/results/" + std::to_string(i) + "/sequence"));
    };
    EXPECT_GT(sequence(first, 0), sequence(first, 1));
    EXPECT_GT(sequence(first, 1), sequence(rest, 0));
    EXPECT_GT(sequence(rest, 0), sequence(rest, 1));
    expect(422, ada.get(here + "/audit-events?action=update_member&start_cursor=" + cursor));
    const auto newest = page("page_size=2");
    EXPECT_EQ(newest.text("/results/0/prev_hash"), newest.text("/results/1/hash"));
}

TEST_F(AuditRecord, OfManyWritersAtOnceIsOneChain) {
    std::vector<Client> browsers(8, ada);
    at_once(8, [&](int i) {
        for (int n = 0; n < 5; ++n)
            invite(browsers[i], "p" + std::to_string(i) + std::to_string(n) + "@example.com");
        return 0;
    });
    EXPECT_EQ(ask_until("41", "SELECT count(*) FROM audit_events"), "41");
    const auto verified = operate({"audit", "verify"});
    EXPECT_EQ(verified.code, 0);
    EXPECT_THAT(verified.output, HasSubstr(org + "  41 entries"));
    EXPECT_THAT(verified.output, HasSubstr("the chain holds"));
}

// -------------------------------------------------------------------------- tampering

TEST_F(AuditRecord, TamperingShows) {
    for (const char* name : {"One", "Two", "Three"})
        expect(200, patch(ada, here, {{"name", name}}));
    ASSERT_EQ(ask_until("4", "SELECT count(*) FROM audit_events"), "4");
    ask("CREATE TABLE kept_log AS SELECT * FROM event_log");
    ask("CREATE TABLE kept_chain AS SELECT * FROM event_chain");
    ASSERT_EQ(operate({"audit", "verify"}).code, 0);
    const std::vector<std::pair<const char*, const char*>> crimes{
        {"UPDATE event_log SET actor_name = 'Eve' WHERE id = (SELECT min(id) + 1 FROM kept_log)",
         "entry 2 was changed"},
        {"UPDATE event_log SET changes = '{}' WHERE id = (SELECT min(id) + 2 FROM kept_log)",
         "entry 3 was changed"},
        {"UPDATE event_chain SET hash = '' WHERE audit_sequence = 3", "entry 3 was changed"},
        {"DELETE FROM event_log WHERE id = (SELECT min(id) FROM kept_log)", "entry 1 is missing"},
        {"DELETE FROM event_chain WHERE audit_sequence = 4", "entry 4 is missing"},
        {"UPDATE event_chain SET audit_sequence = 9 WHERE audit_sequence = 2",
         "entry 2 is missing"},
    };
    for (const auto& [crime, verdict] : crimes) {
        tamper(crime);
        const auto verified = operate({"audit", "verify"});
        EXPECT_EQ(verified.code, 1) << crime;
        EXPECT_THAT(verified.output, HasSubstr("BROKEN: " + std::string(verdict)));
        ask("TRUNCATE event_log, event_chain");
        ask("INSERT INTO event_log OVERRIDING SYSTEM VALUE SELECT * FROM kept_log");
        ask("INSERT INTO event_chain SELECT * FROM kept_chain");
    }
    EXPECT_EQ(operate({"audit", "verify"}).code, 0);
}

TEST_F(AuditRecord, IsNotFilledByAskingAgainForWhatIsRefused) {
    Client bob = member("bob@example.com", "member");
    for (int i = 0; i < 60; ++i) expect(403, bob.get(here + "/audit-events"));
    expect(403, bob.get(invitations));
    EXPECT_EQ(server.end(SIGTERM), 0);  // which writes what was counted
    server.start();
    EXPECT_EQ(ask_until("12", "SELECT count(*) FROM audit_events WHERE outcome = 'denied'"), "12");
    EXPECT_EQ(
        ask("SELECT (after::json ->> 'code') || ' ' || (after::json ->> 'count') || ' ' || "
            "actor_name FROM audit_events WHERE action = 'list_audit_events' "
            "ORDER BY sequence DESC LIMIT 1"),
        "restricted_resource 50 Ada"
    );
    EXPECT_EQ(operate({"audit", "verify"}).code, 0);
}

// A filter that nothing passes looks at a bounded part of the record a page.
TEST_F(AuditRecord, IsReadInBoundedParts) {
    ASSERT_EQ(entries("1"), "1");
    EXPECT_EQ(server.end(SIGTERM), 0);
    ask("WITH filler AS (INSERT INTO event_log (org_id, entry_id, outcome, action, version, "
        "changes, "
        "previous, depth) SELECT e.org_id, gen_random_uuid(), 'success', 'filler', 0, '{}', "
        "'{}', 0 FROM audit_events e, generate_series(1, 25000) n WHERE e.sequence = 1 "
        "RETURNING org_id, id) INSERT INTO event_chain (org_id, audit_sequence, log_id, hash) "
        "SELECT org_id, 1 + row_number() OVER (ORDER BY id), id, '' FROM filler");
    server.start();
    std::string cursor;
    std::vector<std::string> found;
    int pages = 0;
    do {
        const auto path = here + "/audit-events?action=create_org";
        const auto page =
            expect(200, ada.get(path + (cursor.empty() ? "" : "&start_cursor=" + cursor)));
        for (const auto& each : texts(page, "action")) found.push_back(each);
        cursor = page.text("/has_more") == "true" ? page.text("/next_cursor") : "";
        ASSERT_LE(++pages, 4);
    } while (!cursor.empty());
    EXPECT_EQ(pages, 3);
    EXPECT_THAT(found, ElementsAre("create_org"));
    const auto newest = expect(200, ada.get(here + "/audit-events"));
    EXPECT_EQ(texts(newest, "action").size(), 25u);
}

}  // namespace
}  // namespace svc::test
