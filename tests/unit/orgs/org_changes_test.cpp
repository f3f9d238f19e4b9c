#include "tests/support/killed_jobs.hpp"
#include "tests/unit/orgs/orgs_fixture.hpp"

namespace svc::test {
namespace {

class OrgChanges : public WorkspacesTest {
protected:
    /// As it is read, without `storage`, which answers to changes do not tell.
    json::value as_changes_tell() {
        auto read = expect(200, ada.get(here)).json();
        EXPECT_EQ(read.as_object().erase("storage"), 1U);
        return read;
    }
};

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
    EXPECT_EQ(as_changes_tell(), named.json());
    EXPECT_EQ(events("org.updated", 1), "1");
    EXPECT_EQ(
        ask("SELECT previous::json ->> 'name' FROM events "
            "WHERE kind = 'org.updated'"),
        "Acme"
    );
    const auto bare = expect(200, patch(ada, here, {{"icon", nullptr}, {"slug", "acme-works"}}));
    EXPECT_EQ(bare.text("/icon"), "null");
    EXPECT_EQ(bare.text("/slug"), "acme-works");
    EXPECT_EQ(bare.text("/name"), "Acme Works");
}

TEST_F(OrgChanges, NothingGivenChangesNothing) {
    const auto before = as_changes_tell();
    EXPECT_EQ(expect(200, patch(ada, here, json::object{})).json(), before);
    EXPECT_EQ(expect(200, patch(ada, here, {{"name", "Acme"}, {"slug", "acme"}})).json(), before);
    EXPECT_EQ(as_changes_tell(), before);
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
    ASSERT_EQ(ask_until("0", "SELECT count(*) FROM orgs WHERE id = '" + org + "'"), "0");
    const std::string kept = "event_board_heads event_chain event_heads event_log mail_outbox";
    const auto left = ask_until(
        kept,
        "WITH of_orgs AS MATERIALIZED (SELECT c.table_name::text AS t FROM "
        "information_schema.columns c JOIN information_schema.tables b USING (table_schema, "
        "table_name) WHERE c.table_schema = 'public' AND c.column_name = 'org_id' AND "
        "b.table_type = 'BASE TABLE') SELECT string_agg(t, ' ' ORDER BY t) FROM of_orgs WHERE "
        "(xpath('/row/n/text()', query_to_xml(format('SELECT count(*) AS n FROM %I WHERE org_id = "
        "%L', t, '" +
            org + "'), false, true, '')))[1]::text <> '0'"
    );
    // What was mailed, what happened, and who did it.
    EXPECT_EQ(left, kept);
    EXPECT_EQ(
        ask_until(
            "delete_org organization Acme acme",
            "SELECT action || ' ' || target_type || ' ' || target_name || ' ' || "
            "(before::json ->> 'slug') FROM audit_events ORDER BY sequence DESC LIMIT 1"
        ),
        "delete_org organization Acme acme"
    );
    const auto verified = operate({"audit", "verify"});
    EXPECT_EQ(verified.code, 0) << verified.output;
    expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}, {"slug", "acme"}}));
}

TEST_F(OrgChanges, NobodyIsLetInToWhatIsBeingDeleted) {
    Client bob = person("bob@example.com"), token = program(ada);
    const auto invitation = expect(201, invite(ada, "bob@example.com")).text("/id");
    expect(204, remove(ada, here + "?confirm=acme"));
    expect(404, accept(bob, invitation));
    EXPECT_TRUE(texts(bob.get("/v1/me/invitations"), "id").empty());
    expect(401, token.get("/v1/me"));
    expect(404, ada.get(members));
    expect(404, ada.get("/v1/boards"));
    ada.always("X-Svc-Org", "");
    EXPECT_TRUE(texts(ada.get("/v1/orgs"), "id").empty());
    EXPECT_EQ(operate({"org", "set-plan", "acme", "team"}).code, 1);
    EXPECT_EQ(events("org.deleted", 1), "1");
}

// A row for each, in tables that hang on the workspace by way of others.
TEST_F(OrgChanges, AWorkspaceOfAnySizeIsDeletedWhateverCrashes) {
    constexpr int many = 15'000;  // several times what one transaction deletes
    const auto board = expect(201, ada.post("/v1/boards", json::value{{"name", "Work"}}));
    const auto column = board.text("/column_ids/0");
    ask("WITH made AS (INSERT INTO cards (org_id, id, board_id, column_id, number, position, title,"
        " created_by, last_edited_by) SELECT '" +
        org + "', gen_random_uuid(), '" + board.text("/id") + "', '" + column +
        "', n, n::text, 'Card', '{}', '{}' FROM generate_series(1, " + std::to_string(many) +
        ") n RETURNING id),"
        " assigned AS (INSERT INTO card_assignees (org_id, principal_id, card_id) SELECT '" +
        org + "', '" + org + "', id FROM made) SELECT count(*) FROM made");
    const auto cards = [&] {
        return std::stoi(ask("SELECT count(*) FROM cards WHERE org_id = '" + org + "'"));
    };
    ASSERT_EQ(cards(), many);
    const auto since = std::chrono::steady_clock::now();
    ada.always("X-Svc-Org", "");
    expect(204, remove(ada, here + "?confirm=acme"));
    EXPECT_LT(std::chrono::steady_clock::now() - since, std::chrono::seconds(2));
    expect(404, ada.get(here));
    expect(201, ada.post("/v1/orgs", json::value{{"name", "Acme"}, {"slug", "acme"}}));

    const auto wait_for = [&](const auto& done) {
        for (int i = 0; i < 4'500 && !done(); ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(20));
    };
    wait_for([&] { return cards() < many - many / 10; });
    EXPECT_GT(cards(), 0) << "it is not one statement";
    EXPECT_EQ(server.end(SIGKILL), 128 + SIGKILL);
    end_leases_of_killed(database);
    server.start();
    wait_for([&] { return ask("SELECT count(*) FROM orgs") == "1"; });
    EXPECT_EQ(ask("SELECT string_agg(slug, ' ') FROM orgs"), "acme");
    EXPECT_EQ(cards(), 0);
    EXPECT_EQ(ask("SELECT count(*) FROM card_assignees"), "0");
}

}  // namespace
}  // namespace svc::test
