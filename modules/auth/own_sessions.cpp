// Ending the session one has, and looking after all of one's own.

#include "modules/auth/cookies.hpp"
#include "modules/auth/sessions.hpp"
#include "modules/auth/users.hpp"
#include "modules/orgs/api.hpp"

#include "svc/open_streams.hpp"

namespace svc::auth {

namespace {

constexpr EventKind sessions_ended{
    .name = "account.sessions_ended",
    .object = "user",
    .summary = "Somebody has ended browser sessions of theirs.",
};

constexpr Sql end_own_session{"auth.end_own_session", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE id = $1 AND user_id = $2 AND revoked_at IS NULL AND expires_at > now()
    RETURNING id, user_id)"};

constexpr Sql end_all_sessions{"auth.end_all_sessions", R"(
    UPDATE sessions SET revoked_at = now()
    WHERE user_id = svc_user() AND revoked_at IS NULL AND ($1::uuid IS NULL OR id <> $1)
    RETURNING id, user_id)"};

constexpr Sql list_sessions{"auth.list_sessions", R"(
    SELECT id, auth_method, active_org_id, ip_address, user_agent, created_time, last_seen_at,
        expires_at, coalesce(id = $2, false) AS is_current
    FROM sessions
    WHERE user_id = $1 AND revoked_at IS NULL AND expires_at > now()
      AND ($3::uuid IS NULL OR id < $3)
    ORDER BY id DESC
    LIMIT $4)"};

// ---------------------------------------------------------------------------- log out

void log_out_now(Call& call, const Nothing&) {
    take_session(call);
    const http::Request* request = call.request();
    const auto session = request ? session_in(call.kernel(), *request) : std::nullopt;
    if (!session) return;
    const auto ended = end_shown_session(call.tx(), *session).all();
    // Nobody signs another out from another site's page. What is over already needs no proof.
    if (!ended.empty() && !csrf_matches(call.kernel(), *request, *session))
        throw Failure(
            Fault::csrf,
            "Signing out needs the header X-CSRF-Token; GET /v1/auth/csrf gives the token."
        );
    forget_sessions(call, ended);
}

const Operation log_out{
    .name = "log_out",
    .route = "POST /v1/auth/logout",
    .summary = "End the browser session.",
    .description = "Clears the cookies, whether or not there was a session.",
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
SVC_RECORD(SessionsQuery, (paging, "", flatten));

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
    .for_people = true,
    .handler = list,
};

struct SessionId {
    Uuid session_id;
};
SVC_RECORD(SessionId, (session_id, "One of your own sessions."));

void revoke(Call& call, const SessionId& in) {
    const Caller& caller = call.caller();
    const auto ended = call.tx().all<EndedSession>(end_own_session, in.session_id, caller.user_id);
    if (ended.empty()) not_found("session");
    if (caller.session_id == in.session_id) take_session(call);
    note_in_audit(call, {.kind = &sessions_ended, .id = caller.id});
    forget_sessions(call, ended);
}

const Operation revoke_my_session{
    .name = "revoke_my_session",
    .route = "DELETE /v1/me/sessions/{session_id}",
    .summary = "End one of your browser sessions.",
    .access = Access::person,
    .status = 204,
    .guards = {orgs::refuse_reading_tokens},
    .destructive = true,
    .handler = revoke,
};

void revoke_all(Call& call, const Nothing&) {
    forget_sessions(call, end_sessions_of_person(call.tx(), std::nullopt).all());
    if (call.caller().session_id) take_session(call);
    note_in_audit(call, {.kind = &sessions_ended, .id = call.caller().id});
}

const Operation revoke_my_sessions{
    .name = "revoke_my_sessions",
    .route = "DELETE /v1/me/sessions",
    .summary = "End all your browser sessions, this one too.",
    .access = Access::person,
    .status = 204,
    .guards = {orgs::refuse_reading_tokens},
    .destructive = true,
    .idempotent = true,
    .handler = revoke_all,
};

}  // namespace

DeferredRows<EndedSession> end_sessions_of_person(Tx& tx, const std::optional<Uuid>& keep) {
    return tx.later<EndedSession>(end_all_sessions, keep);
}

void forget_sessions(Call& call, const std::vector<EndedSession>& ended) {
    call.after_commit([&kernel = call.kernel(), ended] {
        auto* streams = kernel.find<OpenStreams>();
        for (const EndedSession& each : ended) {
            kernel.forget("session", each.id.str());
            if (streams) streams->revalidate_person(each.user_id);
        }
    });
}

void add_session_operations(Kernel& kernel) {
    kernel.add(log_out);
    kernel.add(list_my_sessions);
    kernel.add(revoke_my_sessions);
    kernel.add(revoke_my_session);
}

}  // namespace svc::auth
