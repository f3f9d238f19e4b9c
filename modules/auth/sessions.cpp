// A session from its beginning: who comes by it, where it works, when it ends.

#include "modules/auth/sessions.hpp"
#include "modules/orgs/api/directory_writes.hpp"

#include "modules/auth/admission.hpp"
#include "modules/auth/cookies.hpp"
#include "modules/auth/settings.hpp"
#include "modules/auth/users.hpp"

namespace svc::auth {

namespace {

constexpr Sql who_is_it{"auth.session_caller", R"(
    SELECT * FROM session_caller($1, $2))"};

constexpr Sql set_credential{"auth.present", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};

constexpr Sql set_person{"auth.act_for", R"(
    SELECT WHERE set_config('app.user_id', $1::uuid::text, true) IS NOT NULL)"};

constexpr Sql act_for_proven{"auth.act_for_proven_address", R"(
    SELECT act_for_proven_address($1))"};

// Why nobody is acted for.
constexpr Sql find_disabled{"auth.find_disabled", R"(
    SELECT u.id FROM users u
    WHERE u.email_key = svc_credential() AND u.email_verified AND u.disabled_at IS NOT NULL)"};

// Works where its owner last did if that is still allowed, or else in the workspace joined for the
// longest. One session is looked at, not all: a program may begin one every minute.
constexpr Sql insert_session{"auth.insert_session", R"(
    INSERT INTO sessions
        (id, user_id, auth_method, active_org_id, ip_address, user_agent, expires_at)
    SELECT $1, svc_user(), $2,
        coalesce(
            (SELECT m.org_id FROM memberships m
             WHERE m.user_id = svc_user() AND m.org_id =
                 (SELECT s.active_org_id FROM sessions s
                  WHERE s.user_id = svc_user()
                  ORDER BY s.last_seen_at DESC LIMIT 1)),
            (SELECT m.org_id FROM memberships m
             WHERE m.user_id = svc_user()
             ORDER BY m.joined_at LIMIT 1)),
        nullif($3, ''), nullif(left($4, 512), ''), now() + $5
    WHERE svc_user() IS NOT NULL)"};

constexpr Sql find_session{"auth.find_session", R"(
    SELECT id, auth_method, active_org_id, ip_address, user_agent, created_time, last_seen_at,
        expires_at, true AS is_current
    FROM sessions WHERE id = $1)"};

constexpr Sql end_session{"auth.end_session", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE id = $1 AND revoked_at IS NULL AND expires_at > now()
    RETURNING id, user_id)"};

constexpr Sql seen_now{"auth.sessions_seen", R"(
    UPDATE sessions
    SET last_seen_at = now(),
        expires_at = least(now() + $2, created_time + $3)
    WHERE id = ANY ($1) AND revoked_at IS NULL AND expires_at > now())"};

constexpr Sql delete_old{"auth.sweep_sessions", R"(
    DELETE FROM sessions WHERE expires_at < now() - interval '30 days')"};

constexpr Sql work_in{"auth.work_in", R"(
    UPDATE sessions SET active_org_id = $2 WHERE id = $1 AND user_id = $3)"};

struct SessionCaller {
    Uuid user_id;
    std::optional<std::string> name;
    std::optional<Uuid> org_id;
    std::optional<OrgRole> role;
    bool past_due = false;
};
SVC_RECORD(SessionCaller, (user_id), (name), (org_id), (role), (past_due));

}  // namespace

// ------------------------------------------------------------------------ coming by one

std::optional<Credential> SessionAuthenticator::recognise(const http::Request& request) const {
    if (request.has("authorization") || request.cookie("svc_session").empty()) return std::nullopt;
    if (const auto session = session_in(kernel_, request)) return Credential{session->str(), {}};
    throw Failure(Fault::unauthorized, "The session has run out; sign in again.");
}

std::function<std::optional<Caller>()>
SessionAuthenticator::identify(Tx& tx, const Credential& credential, const Caller*) const {
    const Uuid session = *Uuid::parse(credential.key);
    const std::optional<Uuid> wanted = credential.requested_org;
    auto answer = tx.later<SessionCaller>(who_is_it, session, wanted);
    return [this, session, wanted, answer]() mutable -> std::optional<Caller> {
        auto found = answer.one();
        if (!found) return std::nullopt;
        if (wanted && !found->org_id) not_found("workspace");
        seen_.note({session, found->user_id, found->org_id});
        return Caller{
            .type = PrincipalType::user,
            .id = found->user_id,
            .name = std::move(found->name),
            .user_id = found->user_id,
            .org_id = found->org_id,
            .role = found->role.value_or(OrgRole::viewer),
            .past_due = found->past_due,
            .token_id = {},
            .session_id = session,
            .surface = Surface::web,
            .until = {},
        };
    };
}

bool SessionAuthenticator::csrf_matches(const http::Request& request, const Credential& credential)
    const {
    return auth::csrf_matches(kernel_, request, *Uuid::parse(credential.key));
}

void SessionAuthenticator::write_last_seen() {
    std::vector<Uuid> sessions;
    std::vector<orgs::Member> members;
    for (const auto& [session, person, org] : seen_.take()) {
        sessions.push_back(session);
        if (org) members.push_back({*org, person});
    }
    if (sessions.empty()) return;
    const auto& settings = kernel_.use<Settings>();
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.set_scope_to_all_orgs();
        tx.queue(
            seen_now,
            sessions,
            std::chrono::seconds(std::chrono::days(settings.session_days)),
            std::chrono::seconds(std::chrono::days(settings.session_most_days))
        );
        orgs::note_active(tx, members);
    });
}

// ------------------------------------------------------------------- beginning and ending

void present(Tx& tx, std::string_view credential) { tx.queue(set_credential, credential); }

void act_for_person(Tx& tx, const Uuid& person) { tx.queue(set_person, person); }

std::optional<AuthSessionResponse> begin_session(Call& call, const NewSession& session) {
    Tx& tx = call.tx();
    const Uuid id = new_uuid();
    tx.queue(act_for_proven, session.password_version);
    auto inserted = tx.queue(
        insert_session,
        id,
        session.method,
        call.client_address(),
        call.user_agent(),
        std::chrono::seconds(std::chrono::days(call.use<Settings>().session_days))
    );
    auto person = find_user_of_session(tx, id);
    auto begun = tx.later<UserSessionResponse>(find_session, id);
    if (inserted.affected() == 0) {
        if (tx.queue(find_disabled).rows() > 0) throw account_disabled();
        return std::nullopt;
    }

    const http::Request* request = call.request();
    if (const auto old = request ? session_in(call.kernel(), *request) : std::nullopt)
        end_shown_session(tx, *old);
    AuthSessionResponse answer{
        .object = {},
        .user = person.one_or_retry(),
        .session = begun.one_or_retry(),
        .active_org_id = {},
        .csrf_token = {}};
    answer.active_org_id = answer.session.active_org_id;
    answer.csrf_token =
        give_session(call, {id, answer.user.id, answer.active_org_id, answer.user.role});
    return answer;
}

DeferredRows<EndedSession> end_shown_session(Tx& tx, const Uuid& session) {
    present(tx, session.str());
    return tx.later<EndedSession>(end_session, session);
}

void sweep_sessions(Tx& tx) { tx.queue(delete_old); }

void SessionWorkspace::enter(Call& call, const Uuid& org, OrgRole role) {
    const Caller& caller = call.caller();
    if (!caller.session_id) return;
    call.tx().queue(work_in, *caller.session_id, org, caller.user_id);
    renew_session(call, {*caller.session_id, caller.id, org, role});
}

}  // namespace svc::auth
