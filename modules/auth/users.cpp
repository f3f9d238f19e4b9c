// Who am I, and where do I belong.

#include "modules/auth/users.hpp"

#include "modules/orgs/api.hpp"

namespace svc::auth {

namespace {

constexpr Sql of_session{"auth.user_of_session", R"(
    SELECT u.id, 'person' AS type, u.name, u.avatar_url,
        json_build_object('email', u.email) AS person, NULL AS bot,
        u.email, u.email_verified,
        p.user_id IS NOT NULL AS has_password,
        array_to_json(array_remove(ARRAY[
            CASE WHEN p.user_id IS NOT NULL THEN 'password' END,
            CASE WHEN EXISTS (SELECT FROM identities i WHERE i.user_id = u.id) THEN 'google' END
        ], NULL)) AS auth_methods,
        NULL AS agent_id, s.active_org_id, m.role,
        u.created_time, u.last_edited_time, u.version
    FROM users u
    LEFT JOIN passwords p ON p.user_id = u.id
    LEFT JOIN sessions s ON s.id = $1 AND s.user_id = u.id
    LEFT JOIN memberships m ON m.org_id = s.active_org_id AND m.user_id = u.id
    WHERE u.id = svc_user())"};

constexpr Sql as_person{"auth.person", R"(
    SELECT u.id, 'person' AS type, u.name, u.avatar_url,
        json_build_object('email', u.email) AS person, NULL AS bot,
        u.email, u.email_verified,
        p.user_id IS NOT NULL AS has_password,
        array_to_json(array_remove(ARRAY[
            CASE WHEN p.user_id IS NOT NULL THEN 'password' END,
            CASE WHEN EXISTS (SELECT FROM identities i WHERE i.user_id = u.id) THEN 'google' END
        ], NULL)) AS auth_methods,
        NULL AS agent_id, $2::uuid AS active_org_id,
        CASE WHEN $2 IS NOT NULL THEN $3::text END AS role,
        u.created_time, u.last_edited_time, u.version
    FROM users u
    LEFT JOIN passwords p ON p.user_id = u.id
    WHERE u.id = $1)"};

constexpr Sql as_bot{"auth.bot", R"(
    SELECT b.id, 'bot' AS type, b.name, b.avatar_url, NULL AS person,
        json_build_object(
            'owner', json_build_object('type', 'workspace', 'workspace', true),
            'workspace_id', o.id,
            'workspace_name', o.name,
            'workspace_limits', json_build_object('max_file_upload_size_in_bytes', $4::bigint)
        ) AS bot,
        NULL AS email, false AS email_verified, false AS has_password, '[]' AS auth_methods,
        CASE WHEN b.type = 'agent' THEN b.id END AS agent_id,
        b.org_id AS active_org_id, $3::text AS role,
        b.created_time, b.last_edited_time, b.version
    FROM principals b
    JOIN orgs o ON o.id = b.org_id
    WHERE b.org_id = $2 AND b.id = $1)"};

constexpr Sql my_memberships{"auth.my_memberships", R"(
    SELECT * FROM seats_of($1, $2, $3, $4))"};

// ---------------------------------------------------------------------------- who am I

UserResponse me(Call& call, const Nothing&) {
    const Caller& caller = call.caller();
    auto found = caller.is_person()
                     ? call.tx().one<UserResponse>(as_person, caller.id, caller.org_id, caller.role)
                     : call.tx().one<UserResponse>(
                           as_bot,
                           caller.id,
                           caller.org_id,
                           caller.role,
                           WorkspaceLimits{}.max_file_upload_size_in_bytes
                       );
    if (!found) not_found("account");
    return *std::move(found);
}

const Operation get_me{
    .name = "get_me",
    .route = "GET /v1/me",
    .summary = "Read who you are: the account or the agent behind this request.",
    .description =
        "With a person's session or integration token it is the person; with an agent's token it "
        "is the agent, of type `bot`. Also says which workspace the request resolved to and what "
        "you may do there.",
    .access = Access::me,
    .handler = me,
};

const Operation get_current_user{
    .name = "get_current_user",
    .route = "GET /v1/users/me",
    .summary = "Read who you are; the same as get_me.",
    .description = "For client libraries that know this path.",
    .access = Access::me,
    .tool = false,
    .handler = me,
};

// ---------------------------------------------------------------------- where I belong

struct MembershipsQuery {
    Paging paging;
};
SVC_RECORD(MembershipsQuery, (paging, "", flatten));

Page<orgs::MembershipResponse> list(Call& call, const MembershipsQuery& in) {
    const Caller& caller = call.caller();
    if (!caller.is_person()) return {};
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<orgs::MembershipResponse>(
        my_memberships,
        caller.id,
        caller.token_id ? caller.org_id : std::nullopt,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    return call.page(std::move(rows), in.paging, [](const orgs::MembershipResponse& last) {
        return std::vector{last.org_id.str()};
    });
}

const Operation list_my_memberships{
    .name = "list_my_memberships",
    .route = "GET /v1/me/memberships",
    .summary = "List your memberships, oldest workspace first.",
    .description = "A token sees the membership in its own workspace alone. An agent has none.",
    .access = Access::me,
    .for_people = true,
    .handler = list,
};

}  // namespace

DeferredRows<UserResponse> find_user_of_session(Tx& tx, const std::optional<Uuid>& session) {
    return tx.later<UserResponse>(of_session, session);
}

const Caller& person_of(const Call& call) {
    if (call.caller().is_person()) return call.caller();
    throw Failure(
        Fault::restricted,
        "Only a person may do this: sign in, or use an integration token instead of an agent's."
    );
}

void note_in_audit(Call& call, const Event& event) {
    if (call.caller().org_id) call.emit(event);
}

void add_user_operations(Kernel& kernel) {
    kernel.add(get_me);
    kernel.add(get_current_user);
    kernel.add(list_my_memberships);
}

}  // namespace svc::auth
