// Workspaces: making one, reading those one is in.

#include "modules/orgs/lib/slug.hpp"
#include "modules/orgs/seats.hpp"

namespace svc::orgs {

namespace {

// Nothing happens when the slug is taken. The principal carries the name people know its owner by.
constexpr Sql insert_org{"orgs.insert_org", R"(
    WITH org AS (
        INSERT INTO orgs (id, name, slug, icon, created_by, last_edited_by)
        VALUES ($1, $2, $3, $4, $5, $5)
        ON CONFLICT (slug) DO NOTHING
        RETURNING id, created_by
    ), seat AS (
        INSERT INTO memberships (org_id, user_id, id, role)
        SELECT org.id, org.created_by, $6, 'owner' FROM org
    )
    INSERT INTO principals (org_id, id, type, name, avatar_url)
    SELECT org.id, u.id, 'user', u.name, u.avatar_url
    FROM org JOIN users u ON u.id = org.created_by)"};

constexpr Sql lock_self{"orgs.lock_self", R"(
    SELECT id FROM users WHERE id = $1 FOR NO KEY UPDATE)"};

constexpr Sql count_own{"orgs.count_own", R"(
    SELECT count(m.org_id) AS orgs
    FROM memberships m
    WHERE m.user_id = $1 AND m.role = 'owner')"};

struct Owned {
    std::int64_t orgs = 0;
};
SVC_RECORD(Owned, (orgs));

constexpr Sql list_mine{"orgs.list_mine", R"(
    SELECT (mine.org).*, CASE WHEN (mine.org).plan = 'free' THEN $5::bigint END AS seat_cap,
        mine.role, NULL::json AS storage
    FROM orgs_of($1, $2, $3, $4) mine)"};

// ---------------------------------------------------------------------------- create

struct CreateOrganizationRequest {
    std::string name;
    std::optional<std::string> slug;
    std::optional<Icon> icon;
};
SVC_RECORD(
    CreateOrganizationRequest,
    (name, "As people will call it.", length(1, 100), trimmed),
    (slug,
     "Its unique short name: small letters, digits and single dashes; made from the name when "
     "left out.",
     length(shortest_slug, longest_slug),
     matches(slug_pattern)),
    (icon, "Shown beside the name.")
);

struct Made {
    OrganizationResponse org;
    MembershipResponse owner;
};

/// Nothing when the slug is taken. One round trip.
std::optional<Made> insert(
    Call& call, const CreateOrganizationRequest& in, const Uuid& id, const std::string& slug
) {
    Tx& tx = call.tx();
    const Uuid owner = *call.caller().user_id;
    const auto free_seats = call.use<Settings>().free_seats;
    tx.queue(insert_org, id, in.name, slug, in.icon, owner, new_uuid());
    auto org = tx.later<OrganizationResponse>(find_org, id, owner, free_seats);
    auto membership = tx.later<MembershipResponse>(find_membership, id, owner);
    auto made = org.one();
    if (!made) return std::nullopt;
    return Made{*std::move(made), membership.one_or_retry()};
}

Made insert_under_some_slug(Call& call, const CreateOrganizationRequest& in, const Uuid& id) {
    if (in.slug) {
        if (auto made = insert(call, in, id, *in.slug)) return *std::move(made);
        throw Failure(Fault::conflict, "Another workspace has the slug " + *in.slug + ".")
            .with("reason", "slug_taken");
    }
    std::string slug = slug_from(in.name);
    for (int tries = 0; tries < 5; ++tries) {
        if (auto made = insert(call, in, id, slug)) return *std::move(made);
        slug = varied(slug_from(in.name));
    }
    throw Failure(Fault::unavailable, "No free slug was found for this name; choose one.");
}

/// Queues the count, under a lock of the person's own: of two at once the second sees the first.
DeferredRows<Owned> count_owned(Call& call) {
    call.tx().queue(lock_self, call.caller().user_id);
    return call.tx().later<Owned>(count_own, call.caller().user_id);
}

void require_room(Call& call, const Owned& owned) {
    const auto most = call.use<Settings>().workspaces_of_one_owner;
    if (owned.orgs < most) return;
    throw Failure(
        Fault::plan_limit,
        "You own " + std::to_string(owned.orgs) +
            " workspaces, as many as one person may; delete one, or hand one over."
    )
        .with("limit", "workspaces");
}

OrganizationResponse create(Call& call, const CreateOrganizationRequest& given) {
    CreateOrganizationRequest in = given;
    in.icon = icon_of(call, in.icon);
    const Caller& caller = call.caller();
    const Uuid id = new_uuid();
    auto owned = count_owned(call);
    call.tx().set_scope(id, caller.user_id);
    Made made = insert_under_some_slug(call, in, id);
    require_room(call, owned.one_or_retry());

    Event event = created(member_added, made.owner).in_org(id);
    event.name = made.owner.user.name;
    call.check(event);
    call.emit(event);
    if (auto* sessions = call.kernel().find<ActiveWorkspace>(); sessions && !caller.org_id)
        sessions->enter(call, id, OrgRole::owner);
    return made.org;
}

const Operation create_org{
    .name = "create_org",
    .route = "POST /v1/orgs",
    .summary = "Create a workspace of your own.",
    .description =
        "Makes a workspace and its first member, you, as its owner. It becomes the workspace of "
        "your browser session if that has none yet.",
    .access = Access::person,
    .status = 201,
    .refuses = {402},
    .guards = {refuse_reading_tokens},
    .handler = create,
};

// ------------------------------------------------------------------------------ read

OrganizationResponse get(Call& call, const OrgId& in) {
    const Caller& caller = call.caller();
    require_here(call, in.org_id);
    auto found = call.tx().later<OrganizationResponse>(
        find_org, in.org_id, caller.user_id, call.use<Settings>().free_seats
    );
    const auto* stored = call.kernel().find<Storage>();
    std::function<std::int64_t()> used;
    if (stored) used = stored->used(call.tx(), in.org_id);
    auto org = found.one();
    if (!org) not_found("workspace");
    narrow(caller, *org);
    if (stored) org->storage = WorkspaceStorage{used(), stored->limit()};
    return *std::move(org);
}

const Operation get_org{
    .name = "get_org",
    .route = "GET /v1/orgs/{org_id}",
    .summary = "Read one of your workspaces.",
    .access = Access::member,
    .handler = get,
};

struct OrgsQuery {
    Paging paging;
};
SVC_RECORD(OrgsQuery, (paging, "", flatten));

Page<OrganizationResponse> list(Call& call, const OrgsQuery& in) {
    const Caller& caller = call.caller();
    const auto after = call.after(in.paging);
    auto rows = call.tx().all<OrganizationResponse>(
        list_mine,
        caller.user_id,
        only_org(caller),
        after ? std::optional(after->front()) : std::nullopt,
        in.paging.page_size + 1,
        call.use<Settings>().free_seats
    );
    for (OrganizationResponse& each : rows) narrow(caller, each);
    return call.page(std::move(rows), in.paging, [](const OrganizationResponse& last) {
        return std::vector{last.id.str()};
    });
}

const Operation list_orgs{
    .name = "list_orgs",
    .route = "GET /v1/orgs",
    .summary = "List the workspaces you are in, the oldest first.",
    .description = "A token sees the one workspace that it is bound to.",
    .access = Access::me,
    .handler = list,
};

}  // namespace

std::optional<Uuid> only_org(const Caller& caller) {
    return caller.token_id ? caller.org_id : std::nullopt;
}

void narrow(const Caller& caller, OrganizationResponse& org) {
    if (caller.token_id) org.role = caller.role;
}

std::optional<Icon> icon_of(Call& call, std::optional<Icon> icon) {
    if (!icon) return icon;
    const bool consistent = icon->emoji.has_value() == (icon->type == IconType::emoji) &&
                            icon->external.has_value() == (icon->type == IconType::external) &&
                            icon->file_id.has_value() == (icon->type == IconType::file);
    if (!consistent)
        throw wrong_field(call, "icon", "give the member that `type` names, and no other");
    if (icon->type != IconType::file) return icon;
    auto* pictures = call.kernel().find<Pictures>();
    const auto address = pictures ? pictures->address_of(call, *icon->file_id) : std::nullopt;
    if (!address) throw wrong_field(call, "icon", "you have uploaded no such picture");
    icon->file = IconFile{*address, std::nullopt};
    return icon;
}

void add_org_operations(Kernel& kernel) {
    kernel.add(member_added);
    kernel.add(member_role_changed);
    kernel.add(member_removed);
    kernel.add(create_org);
    kernel.add(list_orgs);
    kernel.add(get_org);
}

}  // namespace svc::orgs
