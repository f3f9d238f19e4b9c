// Tokens: making one, and the agent it may need; listing and revoking them.

#include "modules/agents/tokens.hpp"

#include "modules/agents/parts/token_text.hpp"
#include "modules/agents/shapes.hpp"
#include "modules/orgs/api.hpp"

namespace svc::agents {

namespace {

constexpr EventKind agent_created{
    .name = "agent.created",
    .object = "agent",
    .summary = "An agent has joined the workspace.",
    .record = &record_of<AgentResponse>,
};
constexpr EventKind token_created{
    .name = "token.created",
    .object = "token",
    .summary = "A token has been made. The token itself is in no event.",
    .record = &record_of<TokenResponse>,
};
constexpr EventKind token_revoked{
    .name = "token.revoked",
    .object = "token",
    .summary = "A token has been taken back.",
    .record = &record_of<TokenResponse>,
};

constexpr Sql insert_agent{"agents.insert_agent", R"(
    WITH named AS (
        INSERT INTO principals (org_id, id, type, name, avatar_url)
        VALUES ($1, $2, 'agent', $3, $4)
    )
    INSERT INTO agents (org_id, id, role, owner_user_id, created_by, last_edited_by)
    VALUES ($1, $2, $5, $6, $7, $7)
    RETURNING created_time,
        date_trunc('day', now(), 'UTC') + interval '1 day' AS resets_at,
        NOT EXISTS (SELECT FROM agents o WHERE o.org_id = $1 AND o.id <> $2) AS is_free)"};

constexpr Sql insert_token{"agents.insert_token", R"(
    INSERT INTO tokens (
        org_id, id, digest, kind, name, role, agent_id, owner_user_id, hint, expires_at,
        created_by, last_edited_by)
    SELECT $1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9, $10::timestamptz, $11, $11
    WHERE $7::uuid IS NULL
       OR EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = $7))"};

constexpr Sql find_token{"agents.find_token", R"(
    SELECT * FROM token_view WHERE org_id = $1 AND id = $2)"};

// $2 and $3: only those of this owner, of this agent.
constexpr Sql some_tokens{"agents.list_tokens", R"(
    SELECT * FROM token_view
    WHERE org_id = $1
      AND ($2::uuid IS NULL OR owner_user_id = $2)
      AND ($3::uuid IS NULL OR agent_id = $3)
      AND ($4::uuid IS NULL OR id < $4)
    ORDER BY id DESC
    LIMIT $5)"};

constexpr Sql end_token{"agents.revoke_token", R"(
    UPDATE tokens
    SET revoked_at = now(), last_edited_time = now(), last_edited_by = $5, version = version + 1
    WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL
      AND ($3::uuid IS NULL OR owner_user_id = $3)
      AND ($4::uuid IS NULL OR agent_id = $4)
    RETURNING now() AS now)"};

struct NewAgent {
    Timestamp created_time, resets_at;
    bool is_free = false;
};
SVC_RECORD(NewAgent, (created_time, ""), (resets_at, ""), (is_free, ""));

struct Now {
    Timestamp now;
};
SVC_RECORD(Now, (now, ""));

// --------------------------------------------------------------------------- create

struct AgentProfile {
    std::string name;
    std::optional<Url> avatar_url;
};
SVC_RECORD(
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
};
SVC_RECORD(
    CreateTokenRequest,
    (kind,
     "`integration`: acts as you. `agent`: acts as an agent, under its own name; give `agent_id` "
     "or `agent`."),
    (name, "What the token is for.", length(1, 80), trimmed),
    (role, "The most that it may do; your own role is a ceiling besides.", defaulted),
    (agent_id, "An agent of the workspace."),
    (agent, "A new agent, which is made with the token and gets its role."),
    (expires_at, "When it ends by itself; in the future. Left out: never.")
);

void check(const CreateTokenRequest& in) {
    const int agents = in.agent_id.has_value() + in.agent.has_value();
    if (in.kind == TokenKind::integration && agents)
        throw Failure::invalid_at(
            in.agent ? R"(["body","agent"])" : R"(["body","agent_id"])",
            "value_error",
            "Value error, an integration token acts as its owner, not as an agent"
        );
    if (in.kind == TokenKind::agent && agents != 1)
        throw Failure::invalid_at(
            R"(["body","agent"])", "value_error", "Value error, give either agent or agent_id"
        );
    if (in.expires_at && *in.expires_at <= Timestamp::now())
        throw Failure::invalid_at(
            R"(["body","expires_at"])", "value_error", "Value error, this is in the past"
        );
}

void require_right(const Caller& caller, const CreateTokenRequest& in) {
    if (in.kind == TokenKind::agent && caller.role < OrgRole::admin)
        throw Failure(Fault::restricted, "Only an admin can bring agents into the workspace.");
    if (in.kind == TokenKind::integration && !caller.is_person())
        throw Failure(
            Fault::restricted, "An integration token acts as a person, so only a person makes one."
        );
    if (caller.token_id && as_org_role(in.role) > caller.role)
        throw Failure(
            Fault::restricted,
            "A token cannot give more than it has, which is " + std::string(name_of(caller.role)) +
                "."
        );
}

Later<NewAgent> make_agent(Call& call, const AgentResponse& agent) {
    return call.tx().later<NewAgent>(
        insert_agent,
        agent.org_id,
        agent.id,
        agent.name,
        agent.avatar_url,
        agent.role,
        agent.owner_user_id,
        call.caller().id
    );
}

AgentResponse agent_from(Call& call, const CreateTokenRequest& in) {
    AgentResponse agent;
    agent.id = new_uuid();
    agent.org_id = call.org();
    agent.name = in.agent->name;
    agent.avatar_url = in.agent->avatar_url;
    agent.role = in.role;
    agent.owner_user_id = *call.caller().user_id;
    agent.created_by = agent.last_edited_by = ref_of(call.caller());
    return agent;
}

void announce(Call& call, AgentResponse& agent, const NewAgent& made) {
    agent.created_time = agent.last_edited_time = made.created_time;
    agent.usage.resets_at = made.resets_at;
    agent.is_free = made.is_free;
    Event event = created(agent_created, agent);
    event.name = agent.name;
    call.ask(event);
    call.tell(event);
}

TokenResponse create(Call& call, const CreateTokenRequest& in) {
    check(in);
    const Caller& caller = call.caller();
    require_right(caller, in);

    Tx& tx = call.tx();
    std::optional<AgentResponse> agent;
    std::optional<Later<NewAgent>> made;
    if (in.agent) {
        agent = agent_from(call, in);
        made = make_agent(call, *agent);
    }
    const std::string secret = new_token();
    const Uuid id = new_uuid();
    tx.queue(
        insert_token,
        call.org(),
        id,
        digest_of(secret),
        in.kind,
        in.name,
        in.role,
        agent ? std::optional(agent->id) : in.agent_id,
        caller.user_id,
        hint_of(secret),
        in.expires_at,
        caller.id
    );
    auto token = tx.one<TokenResponse>(find_token, call.org(), id);
    if (!token) not_found("agent");

    if (agent) announce(call, *agent, *made->one());
    Event event = created(token_created, *token);
    event.name = token->name;
    call.ask(event);
    call.tell(event);
    token->token = secret;
    return *std::move(token);
}

const Operation create_token{
    .name = "create_token",
    .route = "POST /v1/tokens",
    .summary = "Make a token for a program, and with it an agent if need be.",
    .description =
        "The answer is the only place where the token is shown. It is bound to this workspace, "
        "and at any moment may do what both its role and its owner's role allow. Making tokens "
        "for agents takes the role admin.",
    .access = Access::member,
    .status = 201,
    .handler = create,
};

// ------------------------------------------------------------------------ list, revoke

/// Which tokens a caller may look after.
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

struct TokensQuery {
    Paging paging;
};
SVC_RECORD(TokensQuery, (paging, "", spread));

Page<TokenResponse> list(Call& call, const TokensQuery& in) {
    const Reach reach(call.caller());
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<TokenResponse>(
        some_tokens,
        call.org(),
        reach.owner,
        reach.agent,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const TokenResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_tokens{
    .name = "list_tokens",
    .route = "GET /v1/tokens",
    .summary = "List your tokens in this workspace, newest first; an admin sees everybody's.",
    .access = Access::member,
    .handler = list,
};

struct TokenId {
    Uuid token_id;
};
SVC_RECORD(TokenId, (token_id, "One of your own tokens; an admin may name any."));

void revoke(Call& call, const TokenId& in) {
    const Reach reach(call.caller());
    Tx& tx = call.tx();
    auto found = tx.later<TokenResponse>(find_token, call.org(), in.token_id);
    auto ended = tx.later<Now>(
        end_token, call.org(), in.token_id, reach.owner, reach.agent, call.caller().id
    );
    const auto before = found.one();
    if (!before || !reach.covers(*before)) not_found("token");
    const auto done = ended.one();
    if (!done) return;  // it was revoked already

    TokenResponse after = *before;
    after.status = TokenStatus::revoked;
    after.revoked_at = after.last_edited_time = done->now;
    after.last_edited_by = ref_of(call.caller());
    after.version += 1;
    Event event = changed(token_revoked, *before, after);
    event.name = after.name;
    call.ask(event);
    call.tell(event);
    call.use<orgs::Directory>().unsettle(tx, call.org());
}

const Operation revoke_token{
    .name = "revoke_token",
    .route = "DELETE /v1/tokens/{token_id}",
    .summary = "Take a token back; it stops working at once.",
    .access = Access::member,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .handler = revoke,
};

}  // namespace

void add_token_operations(Kernel& kernel) {
    kernel.add(agent_created);
    kernel.add(token_created);
    kernel.add(token_revoked);
    kernel.add(list_tokens);
    kernel.add(create_token);
    kernel.add(revoke_token);
}

}  // namespace svc::agents
