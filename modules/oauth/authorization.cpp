// What a person is asked on behalf of a client, and answers: for the consent page.

#include "modules/oauth/authorization.hpp"

#include "modules/oauth/clients.hpp"
#include "modules/oauth/grants.hpp"
#include "modules/oauth/lib/redirect_uri.hpp"
#include "modules/oauth/resources.hpp"
#include "modules/oauth/shapes.hpp"
#include "svc/encoding.hpp"

namespace svc::oauth {

namespace {

/// A grant is what a person decides who looks at it, not what a program does with a token.
void require_session(Call& call) {
    const Caller* caller = call.caller_if_any();
    if (!caller || caller->session_id) return;
    throw Failure(
        Fault::restricted, "Only a person at a browser connects clients; a token does not."
    );
}

/// Client and redirect URI, proven to belong together. Until then nobody is led anywhere.
struct Proven {
    Client client;
    RedirectUri redirect_uri;
};
Proven prove(Call& call, const AuthorizationQuery& query) {
    auto client = find_client(call, query.client_id);
    if (!client)
        throw wrong_field(
            call, "client_id", "there is no such client, or its document is of no use"
        );
    auto redirect_uri =
        RedirectUri::parse(query.redirect_uri, call.use<Settings>().redirect_schemes);
    if (!redirect_uri || !is_registered(*redirect_uri, client->redirect_uris))
        throw wrong_field(call, "redirect_uri", "the client has not registered this address");
    return {*std::move(client), *std::move(redirect_uri)};
}

/// Why the client is told that it asked wrongly: as `error`, in words, and where.
struct Wrong {
    std::string_view error, why, field;
};
std::optional<Wrong> wrong_in(const Kernel& kernel, const AuthorizationQuery& query) {
    if (query.response_type.value_or("") != "code")
        return Wrong{"unsupported_response_type", "response_type has to be code.", "response_type"};
    constexpr std::size_t digest_size = 32;
    const auto challenge = from_base64(query.code_challenge.value_or(""));
    if (query.code_challenge_method.value_or("") != "S256" || !challenge ||
        challenge->size() != digest_size)
        return Wrong{
            "invalid_request",
            "PKCE is needed: a code_challenge, and S256 as its method.",
            "code_challenge"
        };
    if (!find_resource(kernel, query.resource.value_or("")))
        return Wrong{"invalid_target", "resource is no address of this server's.", "resource"};
    return std::nullopt;
}

using Members = std::vector<std::pair<std::string_view, std::string>>;
/// To the client, with what it needs to know that the answer is ours and to this question.
std::string back(
    const Kernel& kernel, const Proven& proven, const AuthorizationQuery& query, Members members
) {
    if (query.state) members.emplace_back("state", *query.state);
    members.emplace_back("iss", kernel.base_url());
    return with_query(proven.redirect_uri.text, members);
}

std::string denial(
    const Kernel& kernel,
    const Proven& proven,
    const AuthorizationQuery& query,
    const std::optional<Wrong>& wrong
) {
    const Wrong said = wrong.value_or(Wrong{"access_denied", "The person has not granted it.", {}});
    return back(
        kernel,
        proven,
        query,
        {{"error", std::string(said.error)}, {"error_description", std::string(said.why)}}
    );
}

// ------------------------------------------------------------------------------ preview

AuthorizationPreview preview(Call& call, const AuthorizationQuery& query) {
    Proven proven = prove(call, query);
    const Kernel& kernel = call.kernel();
    const auto wrong = wrong_in(kernel, query);
    const auto resource = find_resource(kernel, query.resource.value_or(""));
    AuthorizationPreview out{
        .object = {},
        .client_name = proven.client.name,
        .client_host = proven.client.host,
        .redirect_host = proven.redirect_uri.host,
        .to_this_machine = proven.redirect_uri.loopback,
        .read_only = asks_to_read_only(query.scope.value_or("")),
        .for_mcp = !resource || resource->is_mcp,
        .refusal = std::nullopt,
        .denial_url = denial(kernel, proven, query, wrong)
    };
    if (wrong) out.refusal = std::string(wrong->why);
    return out;
}

const Operation preview_authorization{
    .name = "preview_authorization",
    .route = "POST /v1/oauth/authorizations:preview",
    .summary = "What a client asks of you, that wants to connect by OAuth.",
    .description =
        "For the consent page. A client that there is not, or an address that it has not "
        "registered, is a 422: then nobody is to be sent anywhere.",
    .access = Access::person,
    .guards = {require_session},
    .tool = false,
    .for_people = true,
    .reads = true,
    .handler = preview,
};

// -------------------------------------------------------------------------------- allow

agents::ConnectionRequest connection_of(
    Call& call, const Proven& proven, const AuthorizationRequest& in
) {
    const auto& settings = call.use<Settings>();
    const auto resource = find_resource(call.kernel(), in.query.resource.value_or(""));
    agents::ConnectionRequest request{
        .client_name = proven.client.name,
        .client_host = proven.redirect_uri.host,
        .audience = std::nullopt,
        .lifetime = std::chrono::days(settings.connection_days),
        .kind = in.kind,
        .role = in.role,
        .scope = in.scope,
        .agent_id = in.agent_id,
        .new_agent = in.agent_name
    };
    if (resource->is_mcp) request.audience = agents::Connections::mcp_doors;
    if (asks_to_read_only(in.query.scope.value_or(""))) request.scope.read_only = true;
    return request;
}

void check(const Call& call, const AuthorizationRequest& in) {
    const bool acts_as_agent = in.kind == agents::TokenKind::agent;
    if (acts_as_agent == (in.agent_id.has_value() + in.agent_name.has_value() == 1)) return;
    throw wrong_field(
        call,
        "agent_name",
        acts_as_agent ? "give either agent_name or agent_id"
                      : "it acts as you, not as an agent, unless kind is agent"
    );
}

AuthorizationResponse allow(Call& call, const AuthorizationRequest& in) {
    const Proven proven = [&] {
        const InputPart part(call, R"("query")");
        Proven found = prove(call, in.query);
        if (const auto wrong = wrong_in(call.kernel(), in.query))
            throw wrong_field(call, wrong->field, wrong->why);
        return found;
    }();
    check(call, in);
    auto request = connection_of(call, proven, in);
    const auto connection = call.use<agents::Connections>().connect(call, request);
    const auto scope = request.scope.read_only ? read_scope : all_scopes;
    std::string code = store_grant(
        call,
        {.connection = connection,
         .made_agent = in.agent_name.has_value(),
         .client_id = proven.client.id,
         .redirect_uri = proven.redirect_uri.text,
         .code_challenge = *in.query.code_challenge,
         .resource = find_resource(call.kernel(), in.query.resource.value_or(""))->url,
         .scope = std::string(scope)}
    );
    note_use(call.tx(), proven.client);
    call.add_header("Cache-Control", "no-store");
    return {
        {},
        connection.token_id,
        connection.agent_id,
        back(call.kernel(), proven, in.query, {{"code", std::move(code)}})
    };
}

const Operation allow_authorization{
    .name = "allow_authorization",
    .route = "POST /v1/oauth/authorizations",
    .summary = "Connect a client that asks by OAuth.",
    .description =
        "For the consent page. Makes a token as create_token does, with the same refusals, whose "
        "secret the client gets for the code in the answer. When it does not come for it, the "
        "token is revoked, and an agent that was made for it deleted.",
    .access = Access::member,
    .status = 201,
    .guards = {require_session},
    .tool = false,
    .for_people = true,
    .handler = allow,
};

}  // namespace

void add_authorization_operations(Kernel& kernel) {
    kernel.add(preview_authorization);
    kernel.add(allow_authorization);
}

}  // namespace svc::oauth
