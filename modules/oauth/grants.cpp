// Codes and refresh tokens: what is given for them, and when they are worth nothing.

#include "modules/oauth/grants.hpp"

#include "modules/oauth/answers.hpp"
#include "svc/encoding.hpp"
#include "svc/secrets.hpp"

#include <Poco/Logger.h>

namespace svc::oauth {

namespace {

constexpr Sql insert_grant{"oauth.insert_grant", R"(
    INSERT INTO oauth_grants (
        org_id, token_id, user_id, made_agent_id, client_id, redirect_uri, code_challenge,
        resource, scope, code_digest, code_expires_at)
    VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, decode($10, 'hex'), now() + $11::interval))"};

// Where there is no leeway nothing was just refreshed, not even by somebody who had the lock when
// this transaction had begun.
constexpr Sql lock_grant{"oauth.lock_grant", R"(
    SELECT user_id, client_id, redirect_uri, code_challenge, resource, scope,
        encode(code_digest, 'hex') AS code_digest,
        exchanged_at IS NOT NULL AS exchanged, code_expires_at > now() AS code_stands,
        coalesce(encode(refresh_digest, 'hex'), '') AS refresh_digest,
        coalesce(encode(refresh_before, 'hex'), '') AS refresh_before,
        coalesce($3::interval > interval '0' AND refreshed_at > now() - $3::interval, false)
            AS just_refreshed
    FROM oauth_grants
    WHERE org_id = $1 AND token_id = $2
    FOR UPDATE)"};

constexpr Sql mark_exchanged{"oauth.mark_exchanged", R"(
    UPDATE oauth_grants SET exchanged_at = now(), refresh_digest = decode($3, 'hex')
    WHERE org_id = $1 AND token_id = $2)"};

constexpr Sql mark_refreshed{"oauth.mark_refreshed", R"(
    UPDATE oauth_grants
    SET refresh_before = refresh_digest, refresh_digest = decode($3, 'hex'), refreshed_at = now()
    WHERE org_id = $1 AND token_id = $2)"};

constexpr Sql find_grant_client{"oauth.find_grant_client", R"(
    SELECT client_id FROM oauth_grants WHERE org_id = $1 AND token_id = $2)"};

struct Grant {
    Uuid user_id;
    std::string client_id, redirect_uri, code_challenge, resource, scope, code_digest;
    bool exchanged = false, code_stands = false;
    std::string refresh_digest, refresh_before;
    bool just_refreshed = false;
};
SVC_RECORD(
    Grant,
    (user_id),
    (client_id),
    (redirect_uri),
    (code_challenge),
    (resource),
    (scope),
    (code_digest),
    (exchanged),
    (code_stands),
    (refresh_digest),
    (refresh_before),
    (just_refreshed)
);

struct GrantClient {
    std::string client_id;
};
SVC_RECORD(GrantClient, (client_id));

OAuthError invalid_grant(const std::string& why) { return {"invalid_grant", why}; }

std::chrono::seconds access_time(const Settings& settings) {
    return std::chrono::minutes(settings.access_minutes);
}
std::chrono::seconds connection_time(const Settings& settings) {
    return std::chrono::days(settings.connection_days);
}

/// The grant, locked, in a transaction that acts for whoever granted it.
std::optional<Grant> lock(Tx& tx, const agents::TokenPlace& place, const Settings& settings) {
    tx.set_scope(place.org_id, std::nullopt);
    auto grant = tx.one<Grant>(
        lock_grant,
        place.org_id,
        place.token_id,
        std::chrono::seconds(settings.refresh_leeway_seconds)
    );
    if (grant) tx.set_scope(place.org_id, grant->user_id);
    return grant;
}

void require_same(const Grant& grant, const std::string& client_id, const std::string& resource) {
    if (grant.client_id != client_id) throw invalid_grant("It was given to another client.");
    if (!resource.empty() && resource != grant.resource)
        throw OAuthError("invalid_target", "It was granted for another resource.");
}

void end_as_stolen(Kernel& kernel, const agents::TokenPlace& place, std::string_view why) {
    Poco::Logger::get("oauth").warning(
        std::string(why) + ": the connection of token " + place.token_id.str() + " is ended"
    );
    kernel.use<agents::Connections>().end(kernel, place, why);
}

/// The token of the grant gets the secret that belongs to this refresh token.
GivenTokens give(
    Kernel& kernel,
    Tx& tx,
    const agents::TokenPlace& place,
    const Grant& grant,
    const std::string& refresh_token
) {
    const auto& settings = kernel.use<Settings>();
    auto& connections = kernel.use<agents::Connections>();
    const std::string seed = access_seed(kernel, refresh_token);
    const bool stands =
        connections.renew(tx, place, seed, access_time(settings), connection_time(settings));
    if (!stands) throw invalid_grant("The connection is over; ask the person for another.");
    return {connections.secret_of(seed), refresh_token, grant.scope, access_time(settings).count()};
}

bool proves(const std::string& verifier, const std::string& challenge) {
    constexpr std::size_t shortest = 43, longest = 128;
    return verifier.size() >= shortest && verifier.size() <= longest &&
           same_secret(base64(sha256(verifier)), challenge);
}

}  // namespace

std::string store_grant(Call& call, const NewGrant& grant) {
    const auto& settings = call.use<Settings>();
    const agents::TokenPlace place{call.org(), grant.connection.token_id};
    std::string code = new_secret(call.kernel(), SecretKind::code, place);
    call.tx().queue(
        insert_grant,
        place.org_id,
        place.token_id,
        call.caller().id,
        grant.made_agent ? grant.connection.agent_id : std::nullopt,
        grant.client_id,
        grant.redirect_uri,
        grant.code_challenge,
        grant.resource,
        grant.scope,
        digest_of(code),
        std::chrono::seconds(settings.code_seconds)
    );
    return code;
}

// ----------------------------------------------------------------------------- the code

namespace {

void check(const Grant& grant, const CodeUse& use) {
    if (!grant.code_stands) throw invalid_grant("The code has run out.");
    require_same(grant, use.client_id, use.resource);
    if (grant.redirect_uri != use.redirect_uri)
        throw invalid_grant("The code was sent to another redirect_uri.");
    if (!proves(use.code_verifier, grant.code_challenge))
        throw invalid_grant("The code_verifier does not belong to the code_challenge.");
}

}  // namespace

GivenTokens exchange_code(Kernel& kernel, const CodeUse& use) {
    const auto shown = read_secret(kernel, SecretKind::code, use.code);
    if (!shown) throw invalid_grant("There is no such code.");
    const auto& place = shown->place;
    bool used = false;
    std::optional<GivenTokens> given;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        given.reset();
        const auto grant = lock(tx, place, kernel.use<Settings>());
        if (!grant || !same_secret(grant->code_digest, digest_of(use.code)))
            throw invalid_grant("There is no such code.");
        used = grant->exchanged;
        if (used) return;
        check(*grant, use);
        const auto refresh_token = new_secret(kernel, SecretKind::refresh, place);
        given = give(kernel, tx, place, *grant, refresh_token);
        tx.queue(mark_exchanged, place.org_id, place.token_id, digest_of(refresh_token));
    });
    if (given) return *std::move(given);
    end_as_stolen(kernel, place, "An OAuth code was used twice");
    throw invalid_grant("The code was used before; what it gave is revoked.");
}

// ------------------------------------------------------------------------ refresh tokens

GivenTokens refresh(Kernel& kernel, const RefreshUse& use) {
    const auto shown = read_secret(kernel, SecretKind::refresh, use.refresh_token);
    if (!shown) throw invalid_grant("There is no such refresh token.");
    const auto& place = shown->place;
    const std::string digest = digest_of(use.refresh_token);
    std::optional<GivenTokens> given;
    kernel.transact(Tx::Mode::write, [&](Tx& tx) {
        given.reset();
        const auto grant = lock(tx, place, kernel.use<Settings>());
        if (!grant) throw invalid_grant("The connection is over.");
        require_same(*grant, use.client_id, use.resource);
        const bool is_next = same_secret(grant->refresh_digest, digest);
        const bool is_repeat = same_secret(grant->refresh_before, digest) && grant->just_refreshed;
        if (!is_next && !is_repeat) return;
        const auto next = next_refresh_token(kernel, use.refresh_token);
        given = give(kernel, tx, place, *grant, next);
        if (is_next) tx.queue(mark_refreshed, place.org_id, place.token_id, digest_of(next));
    });
    if (given) return *std::move(given);
    end_as_stolen(kernel, place, "An OAuth refresh token was used twice");
    throw invalid_grant("The refresh token was used before; the connection is ended.");
}

// ----------------------------------------------------------------------------- the end

void revoke(Kernel& kernel, const std::string& token, const std::string& client_id) {
    auto& connections = kernel.use<agents::Connections>();
    const auto shown = read_secret(kernel, SecretKind::refresh, token);
    const auto place = shown ? std::optional(shown->place) : connections.find(kernel, token);
    if (!place) return;
    bool is_theirs = false;
    kernel.transact(Tx::Mode::read, [&](Tx& tx) {
        tx.set_scope(place->org_id, std::nullopt);
        const auto found = tx.one<GrantClient>(find_grant_client, place->org_id, place->token_id);
        is_theirs = found && found->client_id == client_id;
    });
    if (is_theirs) connections.end(kernel, *place, "An OAuth client ended its connection");
}

}  // namespace svc::oauth
