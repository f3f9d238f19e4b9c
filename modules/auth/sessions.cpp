// A session from its beginning: who comes by it, where it works, when it ends.

#include "modules/auth/sessions.hpp"

#include "modules/auth/cookies.hpp"
#include "modules/auth/settings.hpp"
#include "modules/auth/users.hpp"

namespace svc::auth {

namespace {

// Each step is let through by what the one before it found: the session by its id, the person and
// the workspace by the session. OFFSET 0 keeps the steps apart.
constexpr Sql who_is_it{"auth.session_caller", R"(
    SELECT s.user_id, u.name, m.org_id, m.role,
        coalesce(o.billing_state = 'past_due', false) AS past_due
    FROM (SELECT set_config('app.credential', $1::uuid::text, true) AS id OFFSET 0) presented
    CROSS JOIN LATERAL (
        SELECT set_config('app.user_id', user_id::text, true)::uuid AS user_id,
            nullif(
                set_config('app.org_id', coalesce($2::uuid, active_org_id)::text, true), ''
            )::uuid AS org_id
        FROM sessions
        WHERE id = $1 AND presented.id IS NOT NULL AND revoked_at IS NULL AND expires_at > now()
        OFFSET 0
    ) s
    JOIN users u ON u.id = s.user_id
    LEFT JOIN memberships m ON m.org_id = s.org_id AND m.user_id = s.user_id
    LEFT JOIN orgs o ON o.id = m.org_id)"};

constexpr Sql set_credential{"auth.present", R"(
    SELECT WHERE set_config('app.credential', $1, true) IS NOT NULL)"};

// Works where its owner last did, or else in the workspace he has been in for the longest.
constexpr Sql insert_session{"auth.insert_session", R"(
    WITH person AS MATERIALIZED (
        SELECT set_config('app.user_id', u.id::text, true)::uuid AS user_id
        FROM users u
        WHERE u.email_key = svc_credential() AND u.email_verified
          AND ($3::text IS NULL
               OR EXISTS (SELECT FROM passwords p WHERE p.user_id = u.id AND p.hash = $3))
    )
    INSERT INTO sessions
        (id, user_id, auth_method, active_org_id, ip_address, user_agent, expires_at)
    SELECT $1, person.user_id, $2,
        coalesce(
            (SELECT m.org_id
             FROM sessions s
             JOIN memberships m ON m.org_id = s.active_org_id AND m.user_id = s.user_id
             WHERE s.user_id = person.user_id
             ORDER BY s.last_seen_at DESC LIMIT 1),
            (SELECT m.org_id FROM memberships m
             WHERE m.user_id = person.user_id
             ORDER BY m.joined_at LIMIT 1)),
        nullif($4, ''), nullif(left($5, 512), ''), now() + $6
    FROM person)"};

constexpr Sql find_session{"auth.find_session", R"(
    SELECT id, auth_method, active_org_id, ip_address, user_agent, created_time, last_seen_at,
        expires_at, true AS is_current
    FROM sessions WHERE id = $1)"};

constexpr Sql end_session{"auth.end_session", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE id = $1 AND revoked_at IS NULL AND expires_at > now())"};

constexpr Sql end_own_session{"auth.end_own_session", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now())"};

constexpr Sql end_all_sessions{"auth.end_all_sessions", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE user_id = $1 AND revoked_at IS NULL
    RETURNING id)"};

constexpr Sql list_sessions{"auth.list_sessions", R"(
    SELECT id, auth_method, active_org_id, ip_address, user_agent, created_time, last_seen_at,
        expires_at, coalesce(id = $2, false) AS is_current
    FROM sessions
    WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
      AND ($3::uuid IS NULL OR id < $3)
    ORDER BY id DESC
    LIMIT $4)"};

constexpr Sql seen_now{"auth.sessions_seen", R"(
    UPDATE sessions
    SET last_seen_at = now(),
        expires_at = least(now() + $2, created_time + $3)
    WHERE id = ANY ($1) AND revoked_at IS NULL AND expires_at > now())"};

constexpr Sql members_seen_now{"auth.members_seen", R"(
    UPDATE memberships m SET last_active_at = now()
    FROM sessions s
    WHERE s.id = ANY ($1) AND m.org_id = s.active_org_id AND m.user_id = s.user_id)"};

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
SVC_RECORD(SessionCaller, (user_id, ""), (name, ""), (org_id, ""), (role, ""), (past_due, ""));

struct SessionRow {
    Uuid id;
};
SVC_RECORD(SessionRow, (id, ""));

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
    auto answer = tx.later<SessionCaller>(who_is_it, session, credential.wanted_org);
    return
        [this, session, wanted = credential.wanted_org, answer]() mutable -> std::optional<Caller> {
            auto found = answer.one();
            if (!found) return std::nullopt;
            if (wanted && !found->org_id) not_found("workspace");
            seen_.note(session);
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

void SessionAuthenticator::write_sightings() {
    const auto sessions = seen_.take();
    if (sessions.empty()) return;
    const auto& settings = kernel_.use<Settings>();
    kernel_.transact(Tx::Mode::write, [&](Tx& tx) {
        tx.act_for_all_orgs();
        tx.queue(
            seen_now,
            sessions,
            std::chrono::seconds(std::chrono::days(settings.session_days)),
            std::chrono::seconds(std::chrono::days(settings.session_most_days))
        );
        tx.queue(members_seen_now, sessions);
    });
}

// ------------------------------------------------------------------- beginning and ending

void present(Tx& tx, std::string_view credential) { tx.queue(set_credential, credential); }

std::optional<AuthSessionResponse> begin_session(Call& call, const NewSession& session) {
    Tx& tx = call.tx();
    const Uuid id = new_uuid();
    auto inserted = tx.queue(
        insert_session,
        id,
        session.method,
        session.password_hash,
        call.client_address(),
        call.user_agent(),
        std::chrono::seconds(std::chrono::days(call.use<Settings>().session_days))
    );
    auto person = find_user_of_session(tx, id);
    auto begun = tx.later<UserSessionResponse>(find_session, id);
    if (inserted.affected() == 0) return std::nullopt;

    const http::Request* request = call.request();
    if (const auto old = request ? session_in(call.kernel(), *request) : std::nullopt) {
        present(tx, old->str());
        tx.queue(end_session, *old);
    }
    AuthSessionResponse answer{
        .object = {},
        .user = *person.one(),
        .session = *begun.one(),
        .active_org_id = {},
        .csrf_token = {}};
    answer.active_org_id = answer.session.active_org_id;
    answer.csrf_token =
        give_session(call, {id, answer.user.id, answer.active_org_id, answer.user.role});
    return answer;
}

void sweep_sessions(Tx& tx) { tx.queue(delete_old); }

void SessionWorkspace::enter(Call& call, const Uuid& org, OrgRole role) {
    const Caller& caller = call.caller();
    if (!caller.session_id) return;
    call.tx().queue(work_in, *caller.session_id, org, caller.user_id);
    renew_session(call, {*caller.session_id, caller.id, org, role});
}

namespace {

// ---------------------------------------------------------------------------- log out

void log_out_now(Call& call, const Nothing&) {
    take_session(call);
    const http::Request* request = call.request();
    const auto session = request ? session_in(call.kernel(), *request) : std::nullopt;
    if (!session) return;
    present(call.tx(), session->str());
    const bool ended = call.tx().run(end_session, *session) > 0;
    // Nobody signs another out from a page of his own. What is over already needs no proof.
    if (ended && !csrf_matches(call.kernel(), *request, *session))
        throw Failure(
            Fault::csrf,
            "Signing out needs the header X-CSRF-Token; GET /v1/auth/csrf gives the token."
        );
    call.after_commit([&kernel = call.kernel(), key = session->str()] {
        kernel.forget("session", key);
    });
}

const Operation log_out{
    .name = "log_out",
    .route = "POST /v1/auth/logout",
    .summary = "End the browser session.",
    .description = "Takes the cookies back, whether or not there was a session.",
    .access = Access::anyone,
    .status = 204,
    .guards = {refuse_other_sites},
    .tool = false,
    .handler = log_out_now,
};

// -------------------------------------------------------------------------- one's sessions

struct SessionsQuery {
    Paging paging;
};
SVC_RECORD(SessionsQuery, (paging, "", spread));

Page<UserSessionResponse> list(Call& call, const SessionsQuery& in) {
    const Caller& caller = call.caller();
    if (!caller.is_person()) return {};
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<UserSessionResponse>(
        list_sessions,
        caller.user_id,
        caller.session_id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const UserSessionResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_my_sessions{
    .name = "list_my_sessions",
    .route = "GET /v1/me/sessions",
    .summary = "List the browser sessions of your account, newest first.",
    .description = "Sessions that have ended are not listed. An agent has none.",
    .access = Access::me,
    .handler = list,
};

struct SessionId {
    Uuid session_id;
};
SVC_RECORD(SessionId, (session_id, "One of your own sessions."));

void revoke(Call& call, const SessionId& in) {
    if (call.tx().run(end_own_session, in.session_id, call.caller().user_id) == 0)
        not_found("session");
    if (call.caller().session_id == in.session_id) take_session(call);
    call.after_commit([&kernel = call.kernel(), key = in.session_id.str()] {
        kernel.forget("session", key);
    });
}

const Operation revoke_my_session{
    .name = "revoke_my_session",
    .route = "DELETE /v1/me/sessions/{session_id}",
    .summary = "End one of your browser sessions.",
    .access = Access::person,
    .status = 204,
    .destructive = true,
    .handler = revoke,
};

void revoke_all(Call& call, const Nothing&) {
    const auto ended = call.tx().all<SessionRow>(end_all_sessions, call.caller().user_id);
    if (call.caller().session_id) take_session(call);
    call.after_commit([&kernel = call.kernel(), ended] {
        for (const SessionRow& each : ended) kernel.forget("session", each.id.str());
    });
}

const Operation revoke_my_sessions{
    .name = "revoke_my_sessions",
    .route = "DELETE /v1/me/sessions",
    .summary = "End all your browser sessions, this one too.",
    .access = Access::person,
    .status = 204,
    .destructive = true,
    .idempotent = true,
    .handler = revoke_all,
};

}  // namespace

void add_session_operations(Kernel& kernel) {
    kernel.add(log_out);
    kernel.add(list_my_sessions);
    kernel.add(revoke_my_sessions);
    kernel.add(revoke_my_session);
}

}  // namespace svc::auth
