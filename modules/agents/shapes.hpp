#pragma once

#include "svc/caller.hpp"

/// Agents and tokens as they are shown (contract sections 6.29 and 6.30).
namespace svc::agents {

/// Roles that can be handed out with a token.
enum class TokenRole { viewer, member, admin };
BOOST_DESCRIBE_ENUM(TokenRole, viewer, member, admin)

inline OrgRole as_org_role(TokenRole role) {
    switch (role) {
        case TokenRole::viewer: return OrgRole::viewer;
        case TokenRole::member: return OrgRole::member;
        case TokenRole::admin: return OrgRole::admin;
    }
    return OrgRole::viewer;
}

enum class TokenKind { agent, integration };
BOOST_DESCRIBE_ENUM(TokenKind, agent, integration)

enum class TokenStatus { active, revoked, expired };
BOOST_DESCRIBE_ENUM(TokenStatus, active, revoked, expired)

/// A client that a person has connected by OAuth, which renews its token's secret.
struct TokenClient {
    std::string name;
    std::string host;
    bool operator==(const TokenClient&) const = default;
};
SVC_SHARED_RECORD(
    TokenClient,
    (name, "What the client calls itself."),
    (host, "Where it has its codes sent: the host of its redirect URI, or a program's scheme.")
);

struct TokenResponse {
    Object<"token"> object;
    Uuid id;
    Uuid org_id;
    TokenKind kind{};
    std::string name;
    TokenRole role{};
    OrgRole effective_role{};
    std::optional<Uuid> agent_id;
    Uuid owner_user_id;
    std::string hint;
    TokenStatus status{};
    std::optional<Timestamp> expires_at;
    std::optional<Timestamp> last_used_at;
    std::optional<Timestamp> revoked_at;
    Timestamp created_time;
    PrincipalRef created_by;
    Timestamp last_edited_time;
    PrincipalRef last_edited_by;
    std::int64_t version = 1;
    ToolScope scope;
    std::optional<TokenClient> client;
    std::optional<std::string> token;
};
SVC_SHARED_RECORD(
    TokenResponse,
    (object, "Always \"token\"."),
    (id, "The token's id; not a secret."),
    (org_id, "The one workspace it is good for."),
    (kind,
     "With an `agent` token the agent acts, under its own name; with an `integration` token its "
     "owner does."),
    (name, "What it is for."),
    (role, "The most that it may do."),
    (effective_role, "What it may do now: the lower of its role, its agent's and its owner's."),
    (agent_id, "The agent that it signs in; null of an integration token."),
    (owner_user_id, "The person whose role is its ceiling."),
    (hint, "Its first and last characters, to recognize it by."),
    (status, "Only an `active` one signs in."),
    (expires_at, "When it ends by itself; null when it does not."),
    (last_used_at, "When it was last used, give or take a minute; null when it never was."),
    (revoked_at, "When it was revoked; null while it is valid."),
    (created_time, "When it was made."),
    (created_by, "Who made it."),
    (last_edited_time, "When it was last changed."),
    (last_edited_by, "Who changed it last."),
    (version, "Rises by one with every change; also the ETag."),
    (scope,
     "What it is limited to, for good: reading alone when `read_only`, and its toolsets and tools "
     "where it names some."),
    (client, "The client that it was granted to by OAuth; null of others."),
    (token,
     "The token itself; shown once, in the answer that made it. Keep it: only a digest is stored.",
     omit_empty,
     secret)
);

enum class AgentStatus { active, disabled };
BOOST_DESCRIBE_ENUM(AgentStatus, active, disabled)

enum class BoardGrantRole { viewer, editor };
BOOST_DESCRIBE_ENUM(BoardGrantRole, viewer, editor)

/// A limit of a budget; so far beyond what a server can serve that more makes no difference.
inline constexpr std::int64_t most_budget = 1'000'000'000;

/// Of an agent's leases: a claim counts them.
inline constexpr std::int64_t most_leases = 10'000;

/// What every request is held against.
struct RequestBudgets {
    std::optional<std::int64_t> requests_per_minute;
    std::optional<std::int64_t> requests_per_day;
    std::optional<std::int64_t> daily_writes;
    bool operator==(const RequestBudgets&) const = default;
};
SVC_SHARED_RECORD(
    RequestBudgets,
    (requests_per_minute, "Requests a minute; null: no limit.", range(0, most_budget)),
    (requests_per_day, "Requests a day, by UTC; null: no limit.", range(0, most_budget)),
    (daily_writes, "Writes a day, by UTC; null: no limit.", range(0, most_budget))
);

struct AgentBudgets {
    RequestBudgets requests;
    std::optional<std::int64_t> max_leases;
    bool operator==(const AgentBudgets&) const = default;
};
SVC_SHARED_RECORD(
    AgentBudgets,
    (requests, "", flatten),
    (max_leases, "Cards that it may have leased at a time; null: no limit.", range(0, most_leases))
);

struct AgentUsage {
    std::int64_t requests_today = 0;
    std::int64_t writes_today = 0;
    Timestamp resets_at;
};
SVC_SHARED_RECORD(
    AgentUsage,
    (requests_today, "Requests since midnight UTC."),
    (writes_today, "Writes since then."),
    (resets_at, "The next midnight UTC.")
);

struct AgentBoardGrant {
    Uuid board_id;
    BoardGrantRole role{};
};
SVC_SHARED_RECORD(
    AgentBoardGrant, (board_id, "A board that it may see."), (role, "What it may do there.")
);

struct AgentResponse {
    Object<"agent"> object;
    Uuid id;
    Uuid org_id;
    std::string name;
    std::optional<Url> avatar_url;
    std::optional<std::string> description;
    TokenRole role{};
    AgentStatus status{};
    std::optional<Timestamp> disabled_at;
    std::optional<PrincipalRef> disabled_by;
    std::optional<std::string> disabled_reason;
    Uuid owner_user_id;
    AgentBudgets budgets;
    AgentUsage usage;
    std::vector<AgentBoardGrant> board_grants;
    bool is_free = false;
    std::optional<Timestamp> last_active_at;
    Timestamp created_time;
    PrincipalRef created_by;
    Timestamp last_edited_time;
    PrincipalRef last_edited_by;
    std::int64_t version = 1;
};
SVC_SHARED_RECORD(
    AgentResponse,
    (object, "Always \"agent\"."),
    (id, "The agent's id, wherever it is named."),
    (org_id, "The workspace it works in."),
    (name, "As people see it."),
    (avatar_url, "A picture; null when there is none."),
    (description, "What it does; null when not given."),
    (role, "The most that it may do."),
    (status, "A `disabled` one is refused at once, whatever its tokens."),
    (disabled_at, "When it was disabled; null when it is not."),
    (disabled_by, "Who disabled it; null when it is not."),
    (disabled_reason, "Why it was disabled; null when nobody said."),
    (owner_user_id, "The person who made it, whose role is its ceiling."),
    (budgets, "How much it may do."),
    (usage, "How much it has done today."),
    (board_grants, "The boards that it is confined to; empty: its role decides."),
    (is_free, "It is the workspace's first, which is free on every plan."),
    (last_active_at, "When it was last seen, give or take a minute; null when it never was."),
    (created_time, "When it was made."),
    (created_by, "Who made it."),
    (last_edited_time, "When it was last changed."),
    (last_edited_by, "Who changed it last."),
    (version, "Rises by one with every change; also the ETag.")
);

}  // namespace svc::agents
