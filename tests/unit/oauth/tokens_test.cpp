#include "tests/unit/oauth/oauth_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;
using testing::MatchesRegex;
using testing::Not;

class OAuthCodes : public OAuthTest {};

TEST_F(OAuthCodes, ACodeGivesTokensOnce) {
    const auto flow = new_flow();
    const auto given = connect(flow);
    EXPECT_THAT(given.text("/access_token"), MatchesRegex("svc_[0-9A-Za-z]{43}"));
    EXPECT_EQ(given.text("/token_type"), "Bearer");
    EXPECT_EQ(given.text("/expires_in"), "3600");
    EXPECT_EQ(given.text("/scope"), "read write");
    EXPECT_EQ(given.header("cache-control"), "no-store");
    EXPECT_EQ(at_mcp(given), 200);
    for (const char* secret : {"/access_token", "/refresh_token"}) {
        const auto like = " x WHERE x::text LIKE '%" + given.text(secret) + "%'";
        for (const char* table : {"oauth_grants", "tokens", "event_log", "events"})
            EXPECT_EQ(ask("SELECT count(*) FROM " + std::string(table) + like), "0") << table;
        EXPECT_THAT(server.output(), Not(HasSubstr(given.text(secret))));
    }
}

TEST_F(OAuthCodes, ACodeThatComesAgainEndsWhatItGave) {
    const auto flow = new_flow();
    const auto code = code_for(flow);
    const auto given = expect(200, exchange(flow, code));
    EXPECT_EQ(at_mcp(given), 200);
    expect_refused(exchange(flow, code), "invalid_grant");
    EXPECT_EQ(at_mcp(given), 401);
    expect_refused(refresh(flow, given.text("/refresh_token")), "invalid_grant");
    EXPECT_TRUE(becomes("SELECT count(*) FROM events WHERE kind = 'token.revoked'", "1"));
}

TEST_F(OAuthCodes, OfTwoWhoExchangeOneAtATimeNobodyKeepsIt) {
    const auto flow = new_flow();
    const auto code = code_for(flow);
    const auto replies = at_once(4, [&](int) { return exchange(flow, code); });
    EXPECT_EQ(count_status(replies, 200), 1);
    for (const auto& each : replies)
        if (each.status == 200) EXPECT_EQ(at_mcp(each), 401);
        else expect_refused(each, "invalid_grant");
    EXPECT_EQ(token_states(), "true");
}

TEST_F(OAuthCodes, WhoCannotProveItGetsNothingAndSpoilsNothing) {
    const auto flow = new_flow();
    const auto other = register_client();
    const auto code = code_for(flow);
    const std::vector<std::pair<Fields, const char*>> wrong{
        {{{"code_verifier", random_token()}}, "invalid_grant"},
        {{{"code_verifier", ""}}, "invalid_request"},
        {{{"code_verifier", base64(sha256(flow.verifier))}}, "invalid_grant"},
        {{{"code_verifier", "short"}}, "invalid_grant"},
        {{{"client_id", other}}, "invalid_grant"},
        {{{"client_id", ""}}, "invalid_request"},
        {{{"redirect_uri", "https://client.example/callback/"}}, "invalid_grant"},
        {{{"redirect_uri", ""}}, "invalid_request"},
        {{{"resource", "https://other.example/"}}, "invalid_target"},
        {{{"resource", base()}}, "invalid_target"},
        {{{"code", code.substr(0, code.size() - 1) + (code.back() == 'A' ? "E" : "A")}},
         "invalid_grant"},
        {{{"code", "svcc_x"}}, "invalid_grant"},
        {{{"grant_type", "password"}}, "unsupported_grant_type"},
        {{{"grant_type", ""}}, "invalid_request"},
    };
    for (const auto& [other_fields, error] : wrong)
        expect_refused(exchange(flow, code, other_fields), error);
    expect(200, exchange(flow, code));
}

TEST_F(OAuthCodes, OnlyFormsAreRead) {
    const auto send = [&](std::string_view body, const char* type) {
        return client().send("POST", "/oauth/token", body, {{"Content-Type", type}});
    };
    const char* form = "application/x-www-form-urlencoded";
    expect_refused(send("{}", "application/json"), "invalid_request");
    expect_refused(send("grant_type=refresh_token&grant_type=x", form), "invalid_request");
    expect_refused(send("grant_type=%zz", form), "invalid_request");
    expect_refused(send("", form), "invalid_request");
    EXPECT_EQ(send(std::string(20'000, 'x'), form).status, 413);
    EXPECT_EQ(client().get("/oauth/token").status, 405);
}

TEST_F(OAuthCodes, ACodeRunsOut) {
    const auto flow = new_flow();
    const auto code = code_for(flow, {{"kind", "agent"}, {"agent_name", "Never"}});
    ask("UPDATE oauth_grants SET code_expires_at = now() - interval '1 second' RETURNING token_id");
    expect_refused(exchange(flow, code), "invalid_grant");
}

TEST_F(OAuthCodes, WhatNobodyComesForIsUndone) {
    const auto flow = new_flow();
    code_for(flow);
    code_for(flow, {{"kind", "agent"}, {"agent_name", "Never"}});
    const auto kept = connect(flow, {{"kind", "agent"}, {"agent_name", "Kept"}});
    ask("UPDATE oauth_grants SET code_expires_at = now() - interval '1 second' RETURNING token_id");
    do_now("oauth.end_unused_codes.find", database);
    EXPECT_TRUE(becomes("SELECT count(*) FROM agents", "1"));
    EXPECT_TRUE(becomes("SELECT count(*) FROM oauth_grants", "1"));
    EXPECT_EQ(token_states(), "true,false");
    EXPECT_EQ(at_mcp(kept), 200);
}

TEST_F(OAuthCodes, ItIsTheAddressThatWasAskedWithWhosePortIsFree) {
    Flow flow{.client_id = register_client({"http://127.0.0.1/callback"})};
    flow.redirect_uri = "http://127.0.0.1:1234/callback";
    const auto code = code_for(flow);
    const Fields other_port{{"redirect_uri", "http://127.0.0.1:1235/callback"}};
    expect_refused(exchange(flow, code, other_port), "invalid_grant");
    expect(200, exchange(flow, code));
}

// ------------------------------------------------------------------------ refresh tokens

class OAuthRefresh : public OAuthTest {
protected:
    explicit OAuthRefresh(std::vector<std::string> settings = {})
        : OAuthTest(std::move(settings)) {}
    void let_leeway_pass() {
        ask("UPDATE oauth_grants SET refreshed_at = now() - interval '1 hour' RETURNING token_id");
    }
};

TEST_F(OAuthRefresh, GivesAnotherPairAndEndsTheOld) {
    const auto flow = new_flow();
    const auto first = connect(flow);
    const auto second = expect(200, refresh(flow, first.text("/refresh_token")));
    EXPECT_NE(second.text("/access_token"), first.text("/access_token"));
    EXPECT_NE(second.text("/refresh_token"), first.text("/refresh_token"));
    EXPECT_EQ(second.text("/scope"), first.text("/scope"));
    EXPECT_EQ(at_mcp(first), 401);
    EXPECT_EQ(at_mcp(second), 200);
    const auto third = expect(200, refresh(flow, second.text("/refresh_token")));
    EXPECT_EQ(at_mcp(third), 200);
    EXPECT_EQ(ask("SELECT count(*) FROM tokens"), "1");
}

TEST_F(OAuthRefresh, AStolenOneEndsTheConnectionForBoth) {
    const auto flow = new_flow();
    const auto first = connect(flow);
    const auto second = expect(200, refresh(flow, first.text("/refresh_token")));
    let_leeway_pass();
    expect_refused(refresh(flow, first.text("/refresh_token")), "invalid_grant");
    EXPECT_EQ(at_mcp(second), 401);
    expect_refused(refresh(flow, second.text("/refresh_token")), "invalid_grant");
    EXPECT_EQ(token_states(), "true");
}

TEST_F(OAuthRefresh, AnOlderOneEndsItAtOnce) {
    const auto flow = new_flow();
    const auto first = connect(flow);
    const auto second = expect(200, refresh(flow, first.text("/refresh_token")));
    const auto third = expect(200, refresh(flow, second.text("/refresh_token")));
    expect_refused(refresh(flow, first.text("/refresh_token")), "invalid_grant");
    EXPECT_EQ(at_mcp(third), 401);
}

TEST_F(OAuthRefresh, InSeveralRequestsAtOnceItGivesTheSame) {
    const auto flow = new_flow();
    const auto first = connect(flow);
    const auto replies =
        at_once(4, [&](int) { return refresh(flow, first.text("/refresh_token")); });
    EXPECT_EQ(count_status(replies, 200), 4);
    for (const auto& each : replies) EXPECT_EQ(each.body, replies.front().body);
    EXPECT_EQ(at_mcp(replies.front()), 200);
}

TEST_F(OAuthRefresh, OnlyTheClientItWasGivenToUsesIt) {
    const auto flow = new_flow();
    const auto given = connect(flow);
    const auto token = given.text("/refresh_token");
    const auto other = register_client();
    expect_refused(refresh(flow, token, {{"client_id", other}}), "invalid_grant");
    expect_refused(refresh(flow, token, {{"client_id", ""}}), "invalid_request");
    expect_refused(refresh(flow, token, {{"resource", "https://other.example"}}), "invalid_target");
    expect_refused(refresh(flow, given.text("/access_token")), "invalid_grant");
    expect_refused(refresh(flow, "svcr_" + std::string(112, 'A')), "invalid_grant");
    const auto cut = token.substr(0, token.size() - 1) + (token.back() == 'A' ? "E" : "A");
    expect_refused(refresh(flow, cut), "invalid_grant");
    expect(200, refresh(flow, token));
}

TEST_F(OAuthRefresh, AnAccessTokenRunsOutAndTheConnectionGoesOn) {
    const auto flow = new_flow();
    const auto given = connect(flow);
    ask("UPDATE tokens SET access_until = now() - interval '1 second' RETURNING id");
    EXPECT_EQ(at_mcp(given), 401);
    EXPECT_EQ(expect(200, ada.get("/v1/tokens")).text("/results/0/status"), "active");
    EXPECT_EQ(at_mcp(expect(200, refresh(flow, given.text("/refresh_token")))), 200);
    ask("UPDATE tokens SET expires_at = now() - interval '1 second' RETURNING id");
    expect_refused(refresh(flow, given.text("/refresh_token")), "invalid_grant");
}

class StrictRefresh : public OAuthRefresh {
protected:
    StrictRefresh() : OAuthRefresh({"oauth.refresh_leeway_seconds=0"}) {}
};

TEST_F(StrictRefresh, OfTwoAtOnceOneIsTheThief) {
    const auto flow = new_flow();
    const auto first = connect(flow);
    const auto replies =
        at_once(2, [&](int) { return refresh(flow, first.text("/refresh_token")); });
    EXPECT_EQ(count_status(replies, 200), 1);
    EXPECT_EQ(token_states(), "true");
}

}  // namespace
}  // namespace svc::test
