#include "modules/agents/bearer.hpp"

#include "modules/agents/api.hpp"
#include "modules/orgs/api/directory_writes.hpp"

#include "modules/agents/lib/token_text.hpp"
#include "modules/agents/writes.hpp"

#include <algorithm>

namespace svc::agents {

namespace {

constexpr Sql confirm_caller{"agents.confirm_caller", R"(
    SELECT security_epoch, billing_state = 'past_due' AS past_due, coalesce(now() < $2, true) AS running
    FROM orgs
    WHERE id = $1)"};

constexpr Sql who_is_it{"agents.token_caller", R"(
    SELECT * FROM token_caller($1))"};

constexpr Sql tokens_seen{"agents.tokens_seen", R"(
    UPDATE tokens t SET last_used_at = now()
    FROM unnest($1::uuid[], $2::uuid[]) AS seen (org_id, id)
    WHERE t.org_id = seen.org_id AND t.id = seen.id)"};

constexpr Sql agents_seen{"agents.agents_seen", R"(
    UPDATE agents a SET last_active_at = now()
    FROM unnest($1::uuid[], $2::uuid[]) AS seen (org_id, id)
    JOIN tokens t ON t.org_id = seen.org_id AND t.id = seen.id
    WHERE a.org_id = t.org_id AND a.id = t.agent_id)"};

constexpr Sql owners_seen{"agents.owners_seen", R"(
    SELECT DISTINCT t.org_id, t.owner_user_id AS user_id
    FROM unnest($1::uuid[], $2::uuid[]) AS seen (org_id, id)
    JOIN tokens t ON t.org_id = seen.org_id AND t.id = seen.id
    WHERE t.agent_id IS NULL)"};

struct CurrentEpoch {
    std::int64_t security_epoch = 0;
    bool past_due = false;
    bool running = false;
};
SVC_RECORD(CurrentEpoch, (security_epoch), (past_due), (running));

struct TokenCaller {
    Uuid org_id;
    Uuid token_id;
    std::optional<Uuid> agent_id;
    Uuid owner_id;
    OrgRole token_role{};
    std::optional<OrgRole> agent_role;
    RequestBudgets budgets;
    OrgRole owner_role{};
    std::optional<OrgRole> agent_owner_role;
    std::optional<Timestamp> expires_at;
    bool past_due = false;
    std::int64_t security_epoch = 0;
    std::optional<std::string> name;
    bool confined = false;
    ToolScope scope;
};
SVC_RECORD(
    TokenCaller,
    (org_id),
    (token_id),
    (agent_id),
    (owner_id),
    (token_role),
    (agent_role),
    (budgets, "", flatten),
    (owner_role),
    (agent_owner_role),
    (expires_at),
    (past_due),
    (security_epoch),
    (name),
    (confined),
    (scope)
);

/// The least of those that count. Whoever is confined to some boards looks after none of the
/// workspace.
OrgRole role_of(const TokenCaller& found) {
    return std::min(
        {found.token_role,
         found.owner_role,
         found.agent_role.value_or(OrgRole::owner),
         found.agent_owner_role.value_or(OrgRole::owner),
         found.confined ? OrgRole::member : OrgRole::owner}
    );
}

Caller caller_of(const TokenCaller& found) {
    return {
        .type = found.agent_id ? PrincipalType::agent : PrincipalType::user,
        .id = found.agent_id.value_or(found.owner_id),
        .name = found.name,
        .user_id = found.owner_id,
        .org_id = found.org_id,
        .role = role_of(found),
        .past_due = found.past_due,
        .token_id = found.token_id,
        .session_id = {},
        .surface = Surface::api,
        .until = found.expires_at,
        .as_of = found.security_epoch,
        .scope = found.scope,
    };
}

std::string_view after_scheme(std::string_view authorization) {
    constexpr std::string_view scheme = "bearer ";
    const auto same = [](char a, char b) { return (a | 0x20) == (b | 0x20); };
    if (authorization.size() <= scheme.size() ||
        !std::ranges::equal(authorization.substr(0, scheme.size()), scheme, same))
        return {};
    authorization.remove_prefix(scheme.size());
    return authorization.substr(std::min(authorization.find_first_not_of(' '), authorization.size())
    );
}

/// Tokens may be good at some doors alone (Connections::mcp_doors).
std::string doors_of(std::string_view path) {
    return path.starts_with("/v1/mcp/") ? "@" + std::string(Connections::mcp_doors)
                                        : std::string();
}

}  // namespace

std::optional<Credential> BearerAuthenticator::recognise(const http::Request& request) const {
    if (!request.has("authorization")) return std::nullopt;
    const std::string_view token = after_scheme(request.header("authorization"));
    if (is_token(token)) return Credential{digest_of(token) + doors_of(request.path), {}};
    if (token.starts_with("sl_")) return std::nullopt;  // a share link's, for boards to judge
    throw Failure(
        Fault::unauthorized,
        "The Authorization header is not `Bearer` and a token of ours: `svc_` and 43 characters."
    );
}

std::function<std::optional<Caller>()> BearerAuthenticator::identify(
    Tx& tx, const Credential& credential, const Caller* before
) const {
    if (!before) return resolve(tx, credential);
    if (tx.mode() == Tx::Mode::write) hold(tx, *before);
    return confirm(tx, *before);
}

void BearerAuthenticator::hold(Tx& tx, const Caller& caller) const {
    hold_writes(tx, caller.is_person() ? *caller.token_id : caller.id);
}

void BearerAuthenticator::confirmed(const Caller& caller) const {
    seen_.note({*caller.org_id, *caller.token_id});
}

std::function<std::optional<Caller>()> BearerAuthenticator::confirm(Tx& tx, const Caller& before)
    const {
    auto answer = tx.later<CurrentEpoch>(confirm_caller, before.org_id, before.until);
    return [this, known = before, answer]() mutable -> std::optional<Caller> {
        const auto now = answer.one();
        if (!now || now->security_epoch != known.as_of || !now->running) return std::nullopt;
        seen_.note({*known.org_id, *known.token_id});
        known.past_due = now->past_due;
        return known;
    };
}

std::function<std::optional<Caller>()> BearerAuthenticator::resolve(
    Tx& tx, const Credential& credential
) const {
    auto answer = tx.later<TokenCaller>(who_is_it, credential.key);
    return [this, wanted = credential.requested_org, answer]() mutable -> std::optional<Caller> {
        const auto found = answer.one();
        if (!found) return std::nullopt;
        if (wanted && *wanted != found->org_id) not_found("workspace");
        seen_.note({found->org_id, found->token_id});
        if (found->agent_id) budgets_.know(found->org_id, *found->agent_id, found->budgets);
        return caller_of(*found);
    };
}

void BearerAuthenticator::write_last_seen() {
    std::vector<Uuid> orgs, tokens;
    for (const auto& [org, token] : seen_.take()) {
        orgs.push_back(org);
        tokens.push_back(token);
    }
    if (tokens.empty()) return;
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        tx.queue(tokens_seen, orgs, tokens);
        tx.queue(agents_seen, orgs, tokens);
        orgs::note_active(tx, tx.all<orgs::Member>(owners_seen, orgs, tokens));
    });
}

}  // namespace svc::agents
