// What people and agents may do on one board, whatever the workspace says.

#include "modules/boards/sharing/grants.hpp"

#include "modules/boards/statements.hpp"
#include "modules/orgs/api.hpp"

namespace svc::boards {

namespace {

enum class GrantRole { viewer, editor };
BOOST_DESCRIBE_ENUM(GrantRole, viewer, editor)

struct BoardGrant {
    Object<"board_grant"> object;
    Uuid id;
    Uuid org_id;
    Uuid board_id;
    AsJson<PrincipalRef> principal;
    GrantRole role{};
    Timestamp created_time;
    AsJson<PrincipalRef> created_by;
    Timestamp last_edited_time;
    AsJson<PrincipalRef> last_edited_by;
};
SVC_RECORD(
    BoardGrant,
    (object, "Always \"board_grant\"."),
    (id, "The grant's id."),
    (org_id, "The workspace."),
    (board_id, "The board it is about."),
    (principal, "The person or agent that has it."),
    (role, "What they may do there."),
    (created_time, "When it was given."),
    (created_by, "Who gave it."),
    (last_edited_time, "When it was last changed."),
    (last_edited_by, "Who changed it last.")
);

/// What an event of a grant carries: events have a version, grants none.
struct GrantChange {
    Uuid id;
    Uuid board_id;
    AsJson<PrincipalRef> principal;
    std::optional<GrantRole> role;
    std::int64_t version = 1;
};
SVC_RECORD(
    GrantChange,
    (id, "The grant's id."),
    (board_id, "The board it is about."),
    (principal, "The person or agent that has it."),
    (role, "What they may do there; null when the grant was revoked."),
    (version, "Always 1.")
);

constexpr EventKind grant_created{
    .name = "grant.created",
    .object = "board_grant",
    .summary = "Somebody was given a board.",
    .record = &record_of<GrantChange>,
    .at = at::board,
    .said_audience = Audience::admins,
};
constexpr EventKind grant_updated{
    .name = "grant.updated",
    .object = "board_grant",
    .summary = "Somebody may do more or less on a board.",
    .record = &record_of<GrantChange>,
    .at = at::board,
    .said_audience = Audience::admins,
};
constexpr EventKind grant_deleted{
    .name = "grant.deleted",
    .object = "board_grant",
    .summary = "A grant to a board was revoked.",
    .record = &record_of<GrantChange>,
    .at = at::board,
    .said_audience = Audience::admins,
};

constexpr Sql find_principal{"boards.find_grantee", R"(
    SELECT p.id, p.type AS principal_type, p.name
    FROM principals p
    WHERE p.org_id = $1 AND p.id = $2
      AND (EXISTS (SELECT FROM memberships m WHERE m.org_id = $1 AND m.user_id = $2)
          OR EXISTS (SELECT FROM agents a WHERE a.org_id = $1 AND a.id = $2)))"};

constexpr Sql find_grant{"boards.find_grant", R"(
    SELECT * FROM board_grant_view WHERE org_id = $1 AND board_id = $2 AND principal_id = $3)"};

constexpr Sql some_grants{"boards.list_grants", R"(
    SELECT * FROM board_grant_view
    WHERE org_id = $1 AND board_id = $2 AND ($3::uuid IS NULL OR id < $3)
    ORDER BY id DESC
    LIMIT $4)"};

constexpr Sql write_grant{"boards.put_grant", R"(
    INSERT INTO board_grants (
        org_id, principal_id, board_id, id, role, created_by, last_edited_by)
    VALUES ($1, $2, $3, $4, $5, $6, $6)
    ON CONFLICT (org_id, principal_id, board_id) DO UPDATE
    SET role = excluded.role, last_edited_time = now(), last_edited_by = excluded.last_edited_by)"};

constexpr Sql drop_grant{"boards.delete_grant", R"(
    DELETE FROM board_grants WHERE org_id = $1 AND principal_id = $2 AND board_id = $3)"};

constexpr Sql drop_grants_of{"boards.delete_grants_of", R"(
    DELETE FROM board_grants WHERE org_id = $1 AND principal_id = $2)"};

// The seat is there until the hooks have been asked.
constexpr Sql drop_grants_of_seat{"boards.delete_grants_of_seat", R"(
    DELETE FROM board_grants
    WHERE org_id = $1 AND principal_id = (
        SELECT m.user_id FROM memberships m WHERE m.org_id = $1 AND m.id = $2))"};

DeferredRows<BoardAccess> see(Call& call, const Uuid& board) {
    return BoardCaller::of(call).later<BoardAccess>(call.tx(), see_board, board);
}
/// An admin may look after every board of the workspace, but an agent that is confined only after
/// its own: and there it is no admin.
void require_admin(const std::optional<BoardAccess>& board) {
    if (!board || board->in_trash) not_found("board");
    require(board->role, BoardRole::admin, "board");
}

/// What an agent may do in the workspace hangs on whether it is confined.
void bump_security_epoch(Call& call, const PrincipalRef& who) {
    if (who.principal_type == PrincipalType::agent)
        call.use<orgs::Directory>().bump_security_epoch(call.tx(), call.org());
}

/// The last one that an agent loses opens the other boards to it: no agent does that for another.
void require_right_to_free(const Caller& caller, const PrincipalRef& who) {
    if (caller.is_person() || who.principal_type != PrincipalType::agent) return;
    throw Failure(Fault::restricted, "Only a person revokes what confines an agent.");
}

Event changed_grant(
    const EventKind& kind,
    const BoardGrant& grant,
    std::optional<GrantRole> before,
    std::optional<GrantRole> after
) {
    const GrantChange was{grant.id, grant.board_id, grant.principal, before, 1};
    const GrantChange is{grant.id, grant.board_id, grant.principal, after, 1};
    Event event = before ? changed(kind, was, is) : created(kind, is);
    event.name = grant.principal.parsed().name;
    return std::move(event).on_board(grant.board_id);
}

// ------------------------------------------------------------------------------------- list

struct GrantsQuery {
    Uuid board_id;
    Paging paging;
};
SVC_RECORD(GrantsQuery, (board_id, "A board of the workspace."), (paging, "", flatten));

Page<BoardGrant> list(Call& call, const GrantsQuery& in) {
    const auto after = call.after(in.paging);
    auto board = see(call, in.board_id);
    auto found = call.tx().later<BoardGrant>(
        some_grants,
        call.org(),
        in.board_id,
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1
    );
    require_admin(board.one());
    return call.page(found.all(), in.paging, [](const BoardGrant& last) {
        return std::vector{last.id.str()};
    });
}

// -------------------------------------------------------------------------------------- put

struct PutGrantRequest {
    Uuid board_id;
    Uuid principal_id;
    GrantRole role{};
};
SVC_RECORD(
    PutGrantRequest,
    (board_id, "A board of the workspace."),
    (principal_id, "A person or an agent of the workspace."),
    (role, "What they are to be able to do there.")
);

BoardGrant put(Call& call, const PutGrantRequest& in) {
    Tx& tx = call.tx();
    auto board = see(call, in.board_id);
    auto principal = tx.later<PrincipalRef>(find_principal, call.org(), in.principal_id);
    auto found = tx.later<BoardGrant>(find_grant, call.org(), in.board_id, in.principal_id);
    require_admin(board.one());
    const auto who = principal.one();
    if (!who) not_found("person or agent");
    auto grant = found.one();
    if (grant && grant->role == in.role) return *std::move(grant);

    const auto before = grant ? std::optional(grant->role) : std::nullopt;
    if (!grant) {
        grant.emplace();
        grant->id = new_uuid();
        grant->board_id = in.board_id;
        grant->principal = AsJson(*who);
    }
    call.check(changed_grant(before ? grant_updated : grant_created, *grant, before, in.role));
    tx.queue(
        write_grant, call.org(), in.principal_id, in.board_id, grant->id, in.role, call.caller().id
    );
    auto stored = tx.later<BoardGrant>(find_grant, call.org(), in.board_id, in.principal_id);
    call.emit(changed_grant(before ? grant_updated : grant_created, *grant, before, in.role));
    bump_security_epoch(call, *who);
    return stored.one_or_retry();
}

// ----------------------------------------------------------------------------------- delete

struct GrantId {
    Uuid board_id;
    Uuid principal_id;
};
SVC_RECORD(
    GrantId,
    (board_id, "A board of the workspace."),
    (principal_id, "The person or agent that has the grant.")
);

void remove(Call& call, const GrantId& in) {
    Tx& tx = call.tx();
    auto board = see(call, in.board_id);
    auto found = tx.later<BoardGrant>(find_grant, call.org(), in.board_id, in.principal_id);
    require_admin(board.one());
    const auto grant = found.one();
    if (!grant) not_found("grant");
    require_right_to_free(call.caller(), grant->principal.parsed());
    const Event event = changed_grant(grant_deleted, *grant, grant->role, std::nullopt);
    call.check(event);
    tx.queue(drop_grant, call.org(), in.principal_id, in.board_id);
    call.emit(event);
    bump_security_epoch(call, grant->principal.parsed());
}

/// In the transaction that removes an agent: what it was granted goes with it.
void follow_agent(Call& call, const Event& event) {
    call.tx().queue(drop_grants_of, call.org(), event.id);
}

/// In the transaction that takes a seat away: one that is given anew does not bring them back.
void follow_member(Call& call, const Event& event) {
    call.tx().queue(drop_grants_of_seat, call.org(), event.id);
}

const Operation list_board_grants{
    .name = "list_board_grants",
    .route = "GET /v1/boards/{board_id}/access-grants",
    .summary = "List a board's access grants, newest first.",
    .access = Access::admin,
    .handler = list,
};

const Operation put_board_grant{
    .name = "put_board_grant",
    .route = "PUT /v1/boards/{board_id}/access-grants/{principal_id}",
    .summary = "Grant a person or an agent access to a board.",
    .description =
        "For people it is more or less than their role in the workspace gives. An agent with any "
        "grant is confined: it sees the boards it was granted and no others, and does nothing that "
        "takes "
        "the role admin in the workspace.",
    .access = Access::admin,
    .idempotent = true,
    .handler = put,
};

const Operation delete_board_grant{
    .name = "delete_board_grant",
    .route = "DELETE /v1/boards/{board_id}/access-grants/{principal_id}",
    .summary = "Revoke a grant.",
    .description =
        "Afterwards the role in the workspace decides again: an agent that loses its last grant is "
        "no longer confined, so disable it if it is to see nothing. So an agent's grant is revoked "
        "by "
        "a "
        "person.",
    .access = Access::admin,
    .status = 204,
    .destructive = true,
    .handler = remove,
};

}  // namespace

void add_grants(Kernel& kernel) {
    for (const EventKind* each : {&grant_created, &grant_updated, &grant_deleted})
        kernel.add(*each);
    kernel.tag("agents", "");  // it is about them, wherever the boards are kept
    for (const Operation* each : {&list_board_grants, &put_board_grant, &delete_board_grant})
        kernel.add(*each);
    kernel.in_transaction(kernel.event_kind("agent.deleted"), follow_agent);
    kernel.in_transaction(kernel.event_kind("member.removed"), follow_member);
}

}  // namespace svc::boards
