#pragma once

#include "modules/agents/api.hpp"

/// What a person is asked on behalf of a client, and answers.
namespace svc::oauth {

/// As it stands in the address that the client sent the person to.
struct AuthorizationQuery {
    std::string client_id;
    std::string redirect_uri;
    std::optional<std::string> response_type, state, scope, code_challenge, code_challenge_method,
        resource;
};
SVC_SHARED_RECORD(
    AuthorizationQuery,
    (client_id,
     "The client, by the id that it has registered under, or the address of its document.",
     length(1, 512)),
    (redirect_uri, "Where the person is sent back to.", length(1, 512)),
    (response_type, "`code`.", length(0, 64)),
    (state, "Goes back to the client as it is.", length(0, 1024)),
    (scope, "`read`, `read write`, or neither; others count for nothing.", length(0, 512)),
    (code_challenge, "Of PKCE.", length(0, 128)),
    (code_challenge_method, "`S256`.", length(0, 16)),
    (resource,
     "What the client wants to use: an MCP endpoint of this server, or all of it.",
     length(0, 512))
);

struct AuthorizationPreview {
    Object<"authorization_preview"> object;
    std::string client_name;
    std::optional<std::string> client_host;
    std::string redirect_host;
    bool to_this_machine = false;
    bool read_only = false;
    bool for_mcp = true;
    std::optional<std::string> refusal;
    std::string denial_url;
};
SVC_SHARED_RECORD(
    AuthorizationPreview,
    (object, "Always \"authorization_preview\"."),
    (client_name, "What the client calls itself; anybody may call a client anything."),
    (client_host, "The site whose document describes it; null when it has registered itself."),
    (redirect_host, "Where the code would be sent: a host, or the scheme of a program."),
    (to_this_machine, "That is a program on the machine that the browser runs on."),
    (read_only, "The client asks for no more than reading."),
    (for_mcp, "What it gets is good for MCP alone; else for all of the API."),
    (refusal, "Why this cannot be granted, whoever wants to; null when it can."),
    (denial_url, "Where the client hears that nothing was granted, once the person follows it.")
);

struct AuthorizationRequest {
    AuthorizationQuery query;
    agents::TokenKind kind = agents::TokenKind::integration;
    agents::TokenRole role = agents::TokenRole::member;
    std::optional<Uuid> agent_id;
    std::optional<std::string> agent_name;
    ToolScope scope;
};
SVC_SHARED_RECORD(
    AuthorizationRequest,
    (query, "What the client asked."),
    (kind,
     "`integration`: it acts as you. `agent`: as an agent; give `agent_id` or `agent_name`.",
     defaulted),
    (role, "The most that it may do; your own role is a ceiling besides.", defaulted),
    (agent_id, "An agent of the workspace."),
    (agent_name, "A new agent, by its name.", length(1, 80), trimmed),
    (scope, "Limits it, for good, to some operations.", defaulted)
);

struct AuthorizationResponse {
    Object<"authorization"> object;
    Uuid token_id;
    std::optional<Uuid> agent_id;
    std::string redirect_to;
};
SVC_SHARED_RECORD(
    AuthorizationResponse,
    (object, "Always \"authorization\"."),
    (token_id, "The token of the connection; it ends when that is revoked."),
    (agent_id, "The agent that the client acts as; null when it acts as you."),
    (redirect_to, "Where to send the person, with the code for the client.", secret)
);

}  // namespace svc::oauth
