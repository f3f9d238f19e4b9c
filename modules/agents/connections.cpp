// The tokens of connected clients.

#include "modules/agents/connections.hpp"

#include "modules/agents/lib/token_text.hpp"
#include "modules/agents/system_actor.hpp"
#include "modules/agents/tokens.hpp"
#include "modules/orgs/api.hpp"

#include <boost/json.hpp>

namespace svc::agents {

namespace {

// A connection that is over is not renewed. That of a disabled agent is: clients throw away what is
// no longer good for refreshing, and this one is again once the agent is enabled. Until then the
// token is refused with the reason.
constexpr Sql renew_secret{"agents.renew_secret", R"(
    UPDATE tokens t
    SET digest = decode($3, 'hex'), hint = $4, access_until = now() + $5::interval,
        expires_at = now() + $6::interval
    WHERE t.org_id = $1 AND t.id = $2 AND t.client_name IS NOT NULL
        AND t.revoked_at IS NULL AND t.expires_at > now()
        AND EXISTS (
            SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = t.owner_user_id)
        AND EXISTS (SELECT FROM users u WHERE u.id = t.owner_user_id AND u.disabled_at IS NULL))"};

constexpr Sql present{"agents.present_secret", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};

constexpr Sql find_secret{"agents.find_secret", R"(
    SELECT org_id, id AS token_id FROM tokens WHERE digest = decode($1, 'hex'))"};

constexpr Sql find_standing{"agents.find_standing_token", R"(
    SELECT org_id, id AS token_id FROM tokens
    WHERE org_id = $1 AND id = $2 AND revoked_at IS NULL)"};

constexpr Sql find_agent_to_delete{"agents.find_agent_to_delete", R"(
    SELECT org_id, id AS token_id FROM agents WHERE org_id = $1 AND id = $2)"};

struct FoundPlace {
    Uuid org_id, token_id;
};
SVC_RECORD(FoundPlace, (org_id), (token_id));

CreateTokenRequest token_for(const ConnectionRequest& request) {
    CreateTokenRequest token{
        .kind = request.kind,
        .name = request.client_name,
        .role = request.role,
        .agent_id = request.agent_id,
        .agent = std::nullopt,
        .expires_at = std::nullopt,
        .scope = request.scope
    };
    if (request.new_agent) token.agent = AgentProfile{*request.new_agent, std::nullopt};
    return token;
}

bool is_there(Kernel& kernel, const Sql& sql, const Uuid& org, const Uuid& id) {
    bool found = false;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(org, std::nullopt);
        found = tx.queue(sql, org, id).rows() > 0;
    });
    return found;
}

}  // namespace

Connection ConnectionsImpl::connect(Call& call, const ConnectionRequest& request) {
    const TokenResponse token = make_token(
        call,
        token_for(request),
        NewClient{
            .client = {request.client_name, request.client_host},
            .audience = request.audience,
            .lifetime = request.lifetime
        }
    );
    return {token.id, token.agent_id};
}

bool ConnectionsImpl::renew(
    Tx& tx,
    const TokenPlace& place,
    std::string_view seed,
    std::chrono::seconds access,
    std::chrono::seconds lifetime
) {
    const std::string secret = token_of(seed);
    auto renewed = tx.queue(
        renew_secret,
        place.org_id,
        place.token_id,
        digest_of(secret),
        hint_of(secret),
        access,
        lifetime
    );
    kernel_.use<orgs::Directory>().bump_security_epoch(tx, place.org_id);
    return renewed.affected() > 0;
}

std::string ConnectionsImpl::secret_of(std::string_view seed) const { return token_of(seed); }

std::optional<TokenPlace> ConnectionsImpl::find(Kernel& kernel, std::string_view secret) const {
    if (!is_token(secret)) return std::nullopt;
    const std::string digest = digest_of(secret);
    std::optional<FoundPlace> found;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.queue(present, digest);
        found = tx.one<FoundPlace>(find_secret, digest);
    });
    if (!found) return std::nullopt;
    return TokenPlace{found->org_id, found->token_id};
}

void ConnectionsImpl::end(Kernel& kernel, const TokenPlace& place, std::string_view why) {
    if (!is_there(kernel, find_standing, place.org_id, place.token_id)) return;
    run_as_system(kernel, place.org_id, why, "revoke_token", {{"token_id", place.token_id.str()}});
}

void ConnectionsImpl::delete_agent(
    Kernel& kernel, const Uuid& org, const Uuid& agent, std::string_view why
) {
    if (!is_there(kernel, find_agent_to_delete, org, agent)) return;
    run_as_system(kernel, org, why, "delete_agent", {{"agent_id", agent.str()}});
}

}  // namespace svc::agents
