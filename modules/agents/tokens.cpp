// Tokens: making one, and the agent it may need; listing them.

#include "modules/agents/tokens.hpp"

#include "modules/agents/agents.hpp"
#include "modules/agents/lib/token_text.hpp"

#include <algorithm>
#include <set>

namespace svc::agents {

namespace {

constexpr EventKind token_created{
    .name = "token.created",
    .object = "token",
    .summary = "A token has been made. The token itself is in no event.",
    .record = &record_of<TokenResponse>,
};
constexpr Sql find_client{"agents.find_client", R"(
    SELECT id FROM tokens WHERE org_id = $1 AND id = $2 AND client_name IS NOT NULL)"};

constexpr Sql insert_token{"agents.insert_token", R"(
    INSERT INTO tokens (
        org_id, id, digest, kind, name, role, agent_id, owner_user_id, hint, expires_at,
        created_by, last_edited_by, scope, client_name, client_host, audience, access_until)
    SELECT $1, $2, decode($3, 'hex'), $4, $5, $6, $7, $8, $9,
        coalesce($10::timestamptz, now() + $16::interval), $11, $11, $12::jsonb,
        $13::text, $14, $15, CASE WHEN $13::text IS NOT NULL THEN now() END
    WHERE $7::uuid IS NULL
       OR EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = $7))"};

// $2 and $3: only those of this owner, of this agent.
constexpr Sql some_tokens{"agents.list_tokens", R"(
    SELECT * FROM token_view
    WHERE org_id = $1
      AND ($2::uuid IS NULL OR owner_user_id = $2)
      AND ($3::uuid IS NULL OR agent_id = $3)
      AND ($4::uuid IS NULL OR agent_id = $4)
      AND ($5::uuid IS NULL OR id < $5)
    ORDER BY id DESC
    LIMIT $6)"};
constexpr Sql connected_tokens{"agents.list_connected_tokens", R"(
    SELECT * FROM token_view
    WHERE org_id = $1
      AND id IN (
          SELECT id FROM tokens
          WHERE org_id = $1 AND client_name IS NOT NULL
            AND ($2::uuid IS NULL OR owner_user_id = $2)
            AND ($3::uuid IS NULL OR agent_id = $3)
            AND ($4::uuid IS NULL OR agent_id = $4)
            AND ($5::uuid IS NULL OR id < $5)
          ORDER BY id DESC
          LIMIT $6)
    ORDER BY id DESC)"};

// --------------------------------------------------------------------------- create

void check(const Call& call, const CreateTokenRequest& in) {
    const int agents = in.agent_id.has_value() + in.agent.has_value();
    if (in.kind == TokenKind::integration && agents)
        throw wrong_field(
            call,
            in.agent ? "agent" : "agent_id",
            "an integration token acts as its owner, not as an agent"
        );
    if (in.kind == TokenKind::agent && agents != 1)
        throw wrong_field(call, "agent", "give either agent or agent_id");
    if (in.expires_at && *in.expires_at <= Timestamp::now())
        throw wrong_field(call, "expires_at", "this is in the past");
}

/// Failure 422 at the first name that is none, with those there are.
void check_names(
    const Call& call,
    std::string_view field,
    const std::vector<std::string>& names,
    const std::set<std::string_view>& known
) {
    for (std::size_t i = 0; i < names.size(); ++i) {
        if (known.contains(names[i])) continue;
        std::string list;
        for (const std::string_view each : known) (list += list.empty() ? "" : ", ") += each;
        throw wrong_at(
            call,
            "\"scope\",\"" + std::string(field) + "\"," + std::to_string(i),
            "Should be one of: " + list
        );
    }
}

void check(Call& call, const ToolScope& scope) {
    if (!scope.names_some()) return;
    std::set<std::string_view> toolsets{"worker"}, tools;
    for (const Declared& each : call.kernel().operations()) {
        if (!each.operation->tool) continue;
        toolsets.insert(each.tag);
        tools.insert(each.operation->name);
    }
    check_names(call, "toolsets", scope.toolsets, toolsets);
    check_names(call, "tools", scope.tools, tools);
}

void require_right(const Caller& caller, const CreateTokenRequest& in) {
    require_person(caller, "makes tokens");
    if (caller.scope.limits())
        throw Failure(
            Fault::restricted, "This token is limited to some operations, so it makes no others."
        );
    if (in.kind == TokenKind::agent && caller.role < OrgRole::admin)
        throw Failure(Fault::restricted, "Only an admin can create agents.");
    if (caller.token_id && as_org_role(in.role) > caller.role)
        throw Failure(
            Fault::restricted,
            "A token cannot give more than it has, which is " + std::string(name_of(caller.role)) +
                "."
        );
}

/// Whoever a client was connected by can end the connection; it leaves nothing behind that lasts.
void require_no_client(Call& call) {
    if (!is_client(call.tx(), call.caller())) return;
    throw Failure(Fault::restricted, "A connected client makes no tokens; a person does.");
}

/// A token makes none that outlives it.
std::optional<Timestamp> end_of(const Caller& caller, const CreateTokenRequest& in) {
    if (!caller.token_id || !caller.until) return in.expires_at;
    return std::min(in.expires_at.value_or(*caller.until), *caller.until);
}

/// The row, which takes an agent that is still there.
TokenResponse stored(Tx& tx, const Uuid& org, const Uuid& id) {
    try {
        if (auto token = tx.one<TokenResponse>(find_token, org, id)) return *std::move(token);
    } catch (const ConstraintError& error) {
        if (error.constraint() != "tokens_agent") throw;  // else it was deleted just now
    }
    not_found("agent");
}

}  // namespace

bool is_client(Tx& tx, const Caller& caller) {
    return caller.token_id && tx.queue(find_client, caller.org_id, caller.token_id).rows() > 0;
}

TokenResponse make_token(
    Call& call, const CreateTokenRequest& in, const std::optional<NewClient>& client
) {
    check(call, in);
    check(call, in.scope);
    const Caller& caller = call.caller();
    require_right(caller, in);
    require_no_client(call);

    Tx& tx = call.tx();
    std::optional<AgentResponse> agent;
    std::optional<DeferredRows<Born>> born;
    if (in.agent) {
        agent = draft(call, in.agent->name, in.role);
        agent->avatar_url = in.agent->avatar_url;
        born = agents::insert(call, *agent);
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
        end_of(caller, in),
        caller.id,
        in.scope,
        client ? std::optional(client->client.name) : std::nullopt,
        client ? std::optional(client->client.host) : std::nullopt,
        client ? client->audience : std::nullopt,
        client ? std::optional(client->lifetime) : std::nullopt
    );
    TokenResponse token = stored(tx, call.org(), id);

    if (agent) announce(call, *agent, *born->one());
    Event event = created(token_created, token);
    event.name = token.name;
    call.check(event);
    call.emit(event);
    if (!client) token.token = secret;
    return token;
}

namespace {

TokenResponse create(Call& call, const CreateTokenRequest& in) { return make_token(call, in); }

const Operation create_token{
    .name = "create_token",
    .route = "POST /v1/tokens",
    .summary = "Create a token for a program, and with it an agent if need be.",
    .description =
        "The answer is the only place where the token is shown. It is bound to this workspace, "
        "and at any moment may do what both its role and its owner's role allow. Making tokens "
        "for agents takes the role admin; agents make none.",
    .access = Access::member,
    .status = 201,
    .for_people = true,
    .handler = create,
};

// ------------------------------------------------------------------------------ list

struct TokensQuery {
    std::optional<Uuid> agent_id;
    bool connected = false;
    Paging paging;
};
SVC_RECORD(
    TokensQuery,
    (agent_id, "Only those of this agent."),
    (connected, "Only those of connected clients.", defaulted),
    (paging, "", flatten)
);

Page<TokenResponse> list(Call& call, const TokensQuery& in) {
    const Reach reach(call.caller());
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<TokenResponse>(
        in.connected ? connected_tokens : some_tokens,
        call.org(),
        reach.owner,
        reach.agent,
        in.agent_id,
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

}  // namespace

void add_token_operations(Kernel& kernel) {
    kernel.add(token_created);
    kernel.add(list_tokens);
    kernel.add(create_token);
}

}  // namespace svc::agents
