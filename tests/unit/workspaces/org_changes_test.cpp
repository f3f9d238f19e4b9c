#include "tests/unit/workspaces/workspaces.hpp"

namespace svc::test {
namespace {

class OrgChanges : public WorkspacesTest {};

TEST_F(OrgChanges, GivenFieldsChangeAndOthersStay) {
    const auto before = expect(200, ada.get(here));
    const json::value icon{{"type", "emoji"}, {"emoji", "🚀"}};
    const auto named = expect(200, patch(ada, here, {{"name", " Acme Works "}, {"icon", icon}}));
    EXPECT_EQ(named.text("/name"), "Acme Works");
    EXPECT_EQ(named.text("/slug"), "acme");
    EXPECT_EQ(named.json().at("icon"), icon);
    EXPECT_EQ(named.text("/version"), "2");
    EXPECT_EQ(named.header("etag"), "\"2\"");
    EXPECT_EQ(named.text("/created_time"), before.text("/created_time"));
    EXPECT_EQ(expect(200, ada.get(here)).body, named.body);
    EXPECT_EQ(events("org.updated", 1), "1");
    EXPECT_EQ(
        ask("SELECT envelope::json #>> '{data,previous,name}' FROM events "
            "WHERE kind = 'org.updated'"),
        "Acme"
    );
    const auto bare = expect(200, patch(ada, here, {{"icon", nullptr}, {"slug", "acme-works"}}));
    EXPECT_EQ(bare.text("/icon"), "null");
    EXPECT_EQ(bare.text("/slug"), "acme-works");
    EXPECT_EQ(bare.text("/name"), "Acme Works");
}

TEST_F(OrgChanges, NothingGivenChangesNothing) {
    const auto before = expect(200, ada.get(here));
    EXPECT_EQ(expect(200, patch(ada, here, json::object{})).body, before.body);
    EXPECT_EQ(
        expect(200, patch(ada, here, {{"name", "Acme"}, {"slug", "acme"}})).body, before.body
    );
}

TEST_F(OrgChanges, EveryWrongFieldIsNamed) {
    const auto wrong = [&](const json::value& body) {
        return json::serialize(first_loc(expect(422, patch(ada, here, body))));
    };
    EXPECT_EQ(wrong({{"name", " "}}), R"(["body","name"])");
    EXPECT_EQ(wrong({{"name", nullptr}}), R"(["body","name"])");
    EXPECT_EQ(wrong({{"slug", "A B"}}), R"(["body","slug"])");
    EXPECT_EQ(wrong({{"slug", nullptr}}), R"(["body","slug"])");
    EXPECT_EQ(wrong({{"icon", {{"type", "external"}}}}), R"(["body","icon"])");
    EXPECT_EQ(wrong({{"plan", "business"}}), R"(["body","plan"])");
    EXPECT_EQ(wrong({{"billing_state", "active"}}), R"(["body","billing_state"])");
}

TEST_F(OrgChanges, ATakenSlugIsAConflict) {
    expect(201, ada.post("/v1/orgs", json::value{{"name", "Other"}, {"slug", "other"}}));
    const auto taken = expect(409, patch(ada, here, {{"slug", "other"}, {"name", "New"}}));
    EXPECT_EQ(reason(taken), "slug_taken");
    EXPECT_EQ(expect(200, ada.get(here)).text("/name"), "Acme");
}

TEST_F(OrgChanges, AreForAdminsWhoKnowTheVersion) {
    Client adam = member("adam@example.com", "admin"), max = member("max@example.com", "member");
    const std::string body = R"({"name": "New"})";
    expect(412, adam.send("PATCH", here, body, {{"If-Match", "\"3\""}}));
    expect(200, adam.send("PATCH", here, body, {{"If-Match", "\"1\""}}));
    expect(403, max.send("PATCH", here, body));
    Client eve = person("eve@example.com");
    expect(404, eve.send("PATCH", here, body));
    EXPECT_EQ(expect(200, ada.get(here)).text("/last_edited_by/id"), id_of(adam));
}

// ---------------------------------------------------------------------------- deletion

TEST_F(OrgChanges, DeletingTakesTheSlug) {
    expect(422, remove(ada, here));
    const auto wrong = expect(422, remove(ada, here + "?confirm=other"));
    EXPECT_EQ(first_loc(wrong), json::parse(R"(["query","confirm"])"));
    expect(412, remove(ada, here + "?confirm=acme", {{"If-Match", "9"}}));
    EXPECT_EQ(ask("SELECT count(*) FROM orgs"), "1");
    expect(204, remove(ada, here + "?confirm=acme"));
    expect(404, ada.get(here));
    expect(404, remove(ada, here + "?confirm=acme"));
}

TEST_F(OrgChanges, OnlyAnOwnerWhoHasSignedInDeletes) {
    Client adam = member("adam@example.com", "admin");
    Client token = program(ada), agent = program(ada, "agent");
    Client eve = person("eve@example.com");
    expect(403, remove(adam, here + "?confirm=acme"));
    expect(403, remove(token, here + "?confirm=acme"));
    expect(403, remove(agent, here + "?confirm=acme"));
    expect(404, remove(eve, here + "?confirm=acme"));
    EXPECT_EQ(ask("SELECT count(*) FROM orgs"), "1");
}

TEST_F(OrgChanges, EverythingGoesButTheAuditRecord) {
    Client adam = member("adam@example.com", "admin");
    Client token = program(adam), agent = program(ada, "agent");
    expect(201, invite(ada, "bob@example.com"));
    const auto board = expect(201, ada.post("/v1/boards", json::value{{"name", "Work"}}));
    const auto column = board.text("/column_ids/0");
    const json::value card{{"column_id", column}, {"title", "Paint"}};
    expect(201, ada.post("/v1/boards/" + board.text("/id") + "/cards", card));
    const auto other = expect(201, adam.post("/v1/orgs", json::value{{"name", "Other"}}));

    ada.always("X-Svc-Org", "");
    adam.always("X-Svc-Org", "");
    expect(204, remove(ada, here + "?confirm=acme"));
    expect(404, adam.get(here));
    expect(401, token.get("/v1/me"));
    expect(401, agent.get("/v1/me"));
    expect(200, adam.get("/v1/orgs/" + other.text("/id")));
    const auto left =
        ask("SELECT string_agg(t, ' ') FROM (SELECT c.table_name AS t FROM "
            "information_schema.columns c JOIN information_schema.tables b USING (table_schema, "
            "table_name) WHERE c.table_schema = 'public' AND c.column_name = 'org_id' AND "
            "b.table_type = 'BASE TABLE' AND (xpath('/row/n/text()', query_to_xml(format('SELECT "
            "count(*) AS n FROM %I WHERE org_id = %L', c.table_name, '" +
            org + "'), false, true, '')))[1]::text <> '0' ORDER BY 1) x");
    // What was mailed, what happened, and who did it.
    EXPECT_EQ(left, "audit_events event_board_heads event_heads events mail_outbox");
    EXPECT_EQ(
        ask_until(
            "delete_org organization Acme acme",
            "SELECT action || ' ' || target_type || ' ' || target_name || ' ' || "
            "(before::json ->> 'slug') FROM audit_events ORDER BY sequence DESC LIMIT 1"
        ),
        "delete_org organization Acme acme"
    );
    EXPECT_EQ(operate({"audit", "verify"}).code, 0);
    expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}, {"slug", "acme"}}));
}

}  // namespace
}  // namespace svc::test
