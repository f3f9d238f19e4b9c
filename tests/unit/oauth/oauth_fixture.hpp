#pragma once

#include "svc/encoding.hpp"
#include "svc/secrets.hpp"
#include "tests/support/mcp_client.hpp"
#include "tests/support/recurring_jobs.hpp"
#include "tests/unit/agents/agents_fixture.hpp"

/// Clients that connect by OAuth, a person who lets them, on the real program.
namespace svc::test {

using Fields = std::map<std::string, std::string>;

/// A client on its way: what it asks, and what it has to prove.
struct Flow {
    std::string client_id;
    std::string redirect_uri = "https://client.example/callback";
    std::string verifier = random_token();
    Fields more{};  ///< of the question, in place of the usual

    json::object question() const {
        json::object out{
            {"client_id", client_id},
            {"redirect_uri", redirect_uri},
            {"response_type", "code"},
            {"state", "a state"},
            {"code_challenge", base64(sha256(verifier))},
            {"code_challenge_method", "S256"}
        };
        for (const auto& [name, value] : more)
            if (value.empty()) out.erase(name);
            else out[name] = value;
        return out;
    }
};

class OAuthTest : public AgentsTest {
protected:
    explicit OAuthTest(std::vector<std::string> settings = {}) : AgentsTest(std::move(settings)) {}

    static constexpr const char* callback = "https://client.example/callback";
    std::string base() const { return "http://127.0.0.1:" + std::to_string(server.port()); }

    Reply register_with(const json::value& metadata) {
        return once("POST", "/oauth/register", metadata);
    }
    std::string register_client(json::array redirect_uris = {callback}) {
        const json::value metadata{
            {"client_name", "Helper"}, {"redirect_uris", std::move(redirect_uris)}
        };
        return expect(201, register_with(metadata)).text("/client_id");
    }
    Flow new_flow() { return {.client_id = register_client()}; }

    Reply preview(Client& by, const Flow& flow) {
        return by.post("/v1/oauth/authorizations:preview", json::value(flow.question()));
    }
    Reply allow(Client& by, const Flow& flow, json::object choice = {}) {
        choice["query"] = flow.question();
        auto reply = by.post("/v1/oauth/authorizations", json::value(choice));
        EXPECT_LT(reply.status, 500) << server.output();
        return reply;
    }
    /// A member of a query, decoded.
    static std::string member_of(const std::string& url, const std::string& name) {
        const auto query = http::parse_query(std::string_view(url).substr(url.find('?') + 1));
        for (const auto& [key, value] : query.value())
            if (key == name) return value;
        return {};
    }
    std::string code_for(const Flow& flow, json::object choice = {}) {
        const auto allowed = expect(201, allow(ada, flow, std::move(choice)));
        return member_of(allowed.text("/redirect_to"), "code");
    }

    Reply post_form(const std::string& path, const Fields& form) const {
        std::string body;
        for (const auto& [name, value] : form)
            body += (body.empty() ? "" : "&") + name + "=" + percent_encoded(value);
        return client().send(
            "POST", path, body, {{"Content-Type", "application/x-www-form-urlencoded"}}
        );
    }
    static Fields merged(Fields form, const Fields& other) {
        for (const auto& [name, value] : other)
            if (value.empty()) form.erase(name);
            else form[name] = value;
        return form;
    }
    /// `other` in place of the usual; an empty member is left out.
    Reply exchange(const Flow& flow, const std::string& code, const Fields& other = {}) const {
        const Fields usual{
            {"grant_type", "authorization_code"},
            {"code", code},
            {"client_id", flow.client_id},
            {"redirect_uri", flow.redirect_uri},
            {"code_verifier", flow.verifier}
        };
        return post_form("/oauth/token", merged(usual, other));
    }
    Reply refresh(const Flow& flow, const std::string& token, const Fields& other = {}) const {
        const Fields usual{
            {"grant_type", "refresh_token"}, {"refresh_token", token}, {"client_id", flow.client_id}
        };
        return post_form("/oauth/token", merged(usual, other));
    }
    Reply connect(const Flow& flow, json::object choice = {}) {
        return expect(200, exchange(flow, code_for(flow, std::move(choice))));
    }

    /// The status of an answer of MCP to this access token.
    int at_mcp(const std::string& access_token) const {
        return McpClient(server.port(), access_token).initialize().status;
    }
    int at_mcp(const Reply& given) const { return at_mcp(given.text("/access_token")); }
    int at_rest(const Reply& given) const {
        Client bearer = client();
        bearer.token(given.text("/access_token"));
        return bearer.get("/v1/boards").status;
    }
    static void expect_refused(const Reply& reply, const std::string& error) {
        EXPECT_EQ(reply.status, 400) << reply.body;
        EXPECT_EQ(reply.text("/error"), error) << reply.body;
    }
    std::string token_states() {
        return ask("SELECT string_agg((revoked_at IS NOT NULL)::text, ',' ORDER BY id) FROM tokens"
        );
    }
};

}  // namespace svc::test
