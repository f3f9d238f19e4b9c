#include "tests/unit/oauth/oauth_fixture.hpp"

namespace svc::test {
namespace {

using testing::HasSubstr;

class Registration : public OAuthTest {
protected:
    Registration()
        : OAuthTest({"oauth.registrations_from_one_place=8", "oauth.unused_registration_days=1"}) {}
};

TEST_F(Registration, AClientGetsAnIdAndNoSecret) {
    const auto made = expect(
        201,
        register_with(
            {{"client_name", "Helper\n"},
             {"redirect_uris", {callback, "http://127.0.0.1/callback"}},
             {"token_endpoint_auth_method", "client_secret_post"}}
        )
    );
    EXPECT_EQ(made.text("/client_name"), "Helper");
    EXPECT_EQ(made.text("/token_endpoint_auth_method"), "none");
    EXPECT_EQ(made.text("/redirect_uris/1"), "http://127.0.0.1/callback");
    EXPECT_FALSE(made.json().as_object().contains("client_secret"));
    EXPECT_EQ(made.header("cache-control"), "no-store");
    EXPECT_EQ(made.header("access-control-allow-origin"), "*");
}

TEST_F(Registration, WhatIsNoneIsRefusedAsTheRfcHasIt) {
    expect_refused(
        register_with({{"redirect_uris", {"http://evil.example/", callback}}}),
        "invalid_redirect_uri"
    );
    expect_refused(register_with(json::object{}), "invalid_redirect_uri");
    expect_refused(client().send("POST", "/oauth/register", "{"), "invalid_client_metadata");
    EXPECT_EQ(client().send("POST", "/oauth/register", std::string(70'000, ' ')).status, 413);
    EXPECT_EQ(client().get("/oauth/register").status, 405);
}

TEST_F(Registration, OnePlaceRegistersNoMoreThanItMay) {
    for (int i = 0; i < 8; ++i) register_client();
    const auto refused = register_with({{"redirect_uris", {callback, callback}}});
    EXPECT_EQ(refused.status, 429);
    EXPECT_FALSE(refused.header("retry-after").empty());
}

TEST_F(Registration, AClientThatNobodyUsesIsForgotten) {
    const auto unused = register_client(), used = register_client();
    const Flow flow{.client_id = used};
    connect(flow);
    ask("UPDATE oauth_clients SET created_time = now() - interval '2 days' RETURNING id");
    do_now("oauth.forget_clients", database);
    EXPECT_TRUE(becomes("SELECT id FROM oauth_clients", used));
    EXPECT_EQ(preview(ada, {.client_id = unused}).status, 422);
}

class NoRegistration : public OAuthTest {
protected:
    NoRegistration() : OAuthTest({"oauth.registration=false"}) {}
};

TEST_F(NoRegistration, WhereItIsOffNobodyIsToldOfIt) {
    EXPECT_EQ(register_with({{"redirect_uris", {callback, callback}}}).status, 403);
    const auto metadata = expect(200, client().get("/.well-known/oauth-authorization-server"));
    EXPECT_FALSE(metadata.json().as_object().contains("registration_endpoint"));
}

class Metadata : public OAuthTest {};

TEST_F(Metadata, TheDoorsLeadToWhatDescribesThem) {
    for (const std::string door : {"/v1/mcp/http", "/v1/mcp/sse"}) {
        Client stranger = client();
        for (const char* token : {"", "svc_nothing", "Bearer"}) {
            if (*token) stranger.token(token);
            const auto refused = stranger.get(door);
            EXPECT_EQ(refused.status, 401);
            const auto path = "/.well-known/oauth-protected-resource" + door;
            EXPECT_THAT(
                refused.header("www-authenticate"),
                HasSubstr(
                    "Bearer error=\"invalid_token\", resource_metadata=\"" + base() + path + "\""
                )
            );
            const auto resource = expect(200, client().get(path));
            EXPECT_EQ(resource.text("/resource"), base() + door);
            EXPECT_EQ(resource.text("/authorization_servers/0"), base());
            EXPECT_EQ(resource.header("access-control-allow-origin"), "*");
        }
    }
    EXPECT_EQ(client().get("/v1/boards").header("www-authenticate"), "Bearer");
}

TEST_F(Metadata, TheServerSaysWhatItDoes) {
    const auto server_says = expect(200, client().get("/.well-known/oauth-authorization-server"));
    EXPECT_EQ(server_says.text("/issuer"), base());
    EXPECT_EQ(server_says.text("/token_endpoint"), base() + "/oauth/token");
    EXPECT_EQ(server_says.text("/code_challenge_methods_supported"), R"(["S256"])");
    EXPECT_EQ(server_says.text("/response_types_supported"), R"(["code"])");
    EXPECT_EQ(server_says.text("/token_endpoint_auth_methods_supported"), R"(["none"])");
    EXPECT_EQ(server_says.text("/authorization_response_iss_parameter_supported"), "true");
}

TEST_F(Metadata, PagesOfAnySiteMayAsk) {
    for (const char* path :
         {"/.well-known/oauth-authorization-server",
          "/.well-known/oauth-protected-resource/v1/mcp/http",
          "/oauth/register",
          "/oauth/token",
          "/oauth/revoke"}) {
        const auto allowed = client().send(
            "OPTIONS",
            path,
            "",
            {{"Origin", "https://app.example"}, {"Access-Control-Request-Method", "POST"}}
        );
        EXPECT_EQ(allowed.status, 204) << path;
        EXPECT_EQ(allowed.header("access-control-allow-origin"), "*");
        EXPECT_THAT(
            allowed.header("access-control-allow-headers"), HasSubstr("MCP-Protocol-Version")
        );
        EXPECT_EQ(allowed.header("access-control-allow-credentials"), "");
    }
    for (const char* path : {"/oauth/register", "/oauth/token", "/oauth/revoke"}) {
        const auto refused = client().send(
            "POST", path, std::string(100'000, 'a'), {{"Origin", "https://app.example"}}
        );
        EXPECT_EQ(refused.status, 413) << path;
        EXPECT_EQ(refused.header("access-control-allow-origin"), "*");
    }
}

}  // namespace
}  // namespace svc::test
