#pragma once

#include "modules/agents/shapes.hpp"
#include "svc/kernel.hpp"

namespace svc::agents {

/// Which tokens a caller may look after: an admin all, a person their own, an agent its own.
struct Reach {
    std::optional<Uuid> owner, agent;

    explicit Reach(const Caller& caller) {
        if (caller.role >= OrgRole::admin) return;
        if (caller.is_person()) owner = caller.user_id;
        else agent = caller.id;
    }
    bool covers(const TokenResponse& token) const {
        return (!owner || token.owner_user_id == *owner) && (!agent || token.agent_id == *agent);
    }
};

struct AgentProfile {
    std::string name;
    std::optional<Url> avatar_url;
};
SVC_SHARED_RECORD(
    AgentProfile,
    (name, "As people will see the agent.", length(1, 80), trimmed),
    (avatar_url, "A picture of it.")
);

struct CreateTokenRequest {
    TokenKind kind{};
    std::string name;
    TokenRole role = TokenRole::member;
    std::optional<Uuid> agent_id;
    std::optional<AgentProfile> agent;
    std::optional<Timestamp> expires_at;
    ToolScope scope;
};
SVC_SHARED_RECORD(
    CreateTokenRequest,
    (kind,
     "`integration`: acts as you. `agent`: acts as an agent, under its own name; give `agent_id` "
     "or `agent`."),
    (name, "What the token is for.", length(1, 80), trimmed),
    (role, "The most that it may do; your own role is a ceiling besides.", defaulted),
    (agent_id, "An agent of the workspace."),
    (agent, "A new agent, which is made with the token and gets its role."),
    (expires_at,
     "When it ends by itself; in the future. Left out: never. One that is made with a token ends "
     "with it at the latest."),
    (scope,
     "Limits it, for good, to some operations, by REST and MCP alike. Left out: whatever its role "
     "allows.",
     defaulted)
);

/// Whether the caller is a client that was connected by OAuth.
bool is_client(Tx& tx, const Caller& caller);

/// A client that is being connected, and gets a secret later.
struct NewClient {
    TokenClient client;
    std::optional<std::string> audience;
    std::chrono::seconds lifetime{};  ///< of the connection while nothing comes over it
};

/// Makes a token, the agent it may need with it, for whoever calls; a Failure when they may not.
/// The secret is in the answer, but for a client's.
TokenResponse make_token(
    Call& call, const CreateTokenRequest& in, const std::optional<NewClient>& client = {}
);

inline constexpr Sql find_token{"agents.find_token", R"(
    SELECT * FROM token_view WHERE org_id = $1 AND id = $2)"};

/// Put the operations on tokens into the kernel.
void add_token_operations(Kernel& kernel);
void add_token_changes(Kernel& kernel);

}  // namespace svc::agents
