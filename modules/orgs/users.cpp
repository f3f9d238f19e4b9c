// Everybody who works in a workspace, people and agents alike, as client libraries know users.

#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

struct UserObject {
    Object<"user"> object;
    Uuid id;
    UserType type{};
    std::optional<std::string> name;
    std::optional<Url> avatar_url;
    std::optional<PersonDetails> person;
    std::optional<BotDetails> bot;
};
SVC_RECORD(
    UserObject,
    (object, "Always \"user\"."),
    (id, "Id of the person or agent."),
    (type, "`person`, or `bot` for an agent."),
    (name, "As people see it; null when none was given."),
    (avatar_url, "A picture; null when there is none."),
    (person, "Only of a person.", omit_empty),
    (bot, "Only of a bot.", omit_empty)
);

// $2: only this one; $3: after this one; $4: only people, or only bots.
constexpr Sql some_users{"orgs.list_users", R"(
    SELECT id, type, name, avatar_url, person, bot
    FROM (
        SELECT u.id, 'person' AS type, u.name, u.avatar_url,
            json_build_object('email', u.email) AS person, NULL::json AS bot
        FROM memberships m
        JOIN users u ON u.id = m.user_id
        WHERE m.org_id = $1
        UNION ALL
        SELECT p.id, 'bot', p.name, p.avatar_url, NULL::json,
            json_build_object(
                'owner', json_build_object('type', 'workspace', 'workspace', true),
                'workspace_id', o.id,
                'workspace_name', o.name,
                'workspace_limits', json_build_object(
                    'max_file_upload_size_in_bytes', $6::bigint))
        FROM principals p
        JOIN orgs o ON o.id = p.org_id
        WHERE p.org_id = $1 AND p.type = 'agent' AND p.gone_at IS NULL
    ) everybody
    WHERE ($2::uuid IS NULL OR id = $2)
      AND ($3::uuid IS NULL OR id > $3)
      AND ($4::text IS NULL OR type = $4)
    ORDER BY id
    LIMIT $5)"};

struct Choice {
    std::optional<Uuid> id, after;
    std::optional<UserType> type;
    std::int64_t limit = 1;
};

std::vector<UserObject> find(Call& call, const Choice& choice) {
    return call.tx().all<UserObject>(
        some_users,
        call.org(),
        choice.id,
        choice.after,
        choice.type,
        choice.limit,
        WorkspaceLimits{}.max_file_upload_size_in_bytes
    );
}

struct UsersQuery {
    std::optional<UserType> type;
    Paging paging;
};
SVC_RECORD(UsersQuery, (type, "Only people, or only bots."), (paging, "", flatten));

Page<UserObject> list(Call& call, const UsersQuery& in) {
    const auto after = call.after(in.paging);
    auto rows = find(
        call,
        {.id = {},
         .after = after ? Uuid::parse(after->front()) : std::nullopt,
         .type = in.type,
         .limit = in.paging.page_size + 1}
    );
    return call.page(std::move(rows), in.paging, [](const UserObject& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_users{
    .name = "list_users",
    .route = "GET /v1/users",
    .summary = "List the people and agents of the workspace, the oldest first.",
    .description = "list_members returns people's roles.",
    .access = Access::member,
    .handler = list,
};

struct UserId {
    Uuid user_id;
};
SVC_RECORD(UserId, (user_id, "A person or an agent of the workspace."));

UserObject get(Call& call, const UserId& in) {
    auto rows = find(call, {.id = in.user_id, .after = {}, .type = {}, .limit = 1});
    if (rows.empty()) not_found("user");
    return std::move(rows.front());
}

const Operation get_user{
    .name = "get_user",
    .route = "GET /v1/users/{user_id}",
    .summary = "Read a person or an agent of the workspace.",
    .access = Access::member,
    .handler = get,
};

}  // namespace

void add_user_operations(Kernel& kernel) {
    kernel.add(list_users);
    kernel.add(get_user);
}

}  // namespace svc::orgs
