#pragma once

#include "svc/types.hpp"

#include <vector>

/// Who is asking.
namespace svc {

/// Rights rise from viewer to owner, so that roles compare with <.
enum class OrgRole { viewer, member, admin, owner };
BOOST_DESCRIBE_ENUM(OrgRole, viewer, member, admin, owner)

enum class PrincipalType { user, agent, automation, system, share_link };
BOOST_DESCRIBE_ENUM(PrincipalType, user, agent, automation, system, share_link)

/// The surface a call came in by; worked out, never claimed.
enum class Surface { web, api, mcp, automation, system };
BOOST_DESCRIBE_ENUM(Surface, web, api, mcp, automation, system)

/// What a token is limited to besides its role, for good: to what only reads, and to the operations
/// of some toolsets and some others by their names. Without either it reaches all.
struct ToolScope {
    bool read_only = false;
    std::vector<std::string> toolsets;
    std::vector<std::string> tools;
    bool operator==(const ToolScope&) const = default;

    bool names_some() const { return !toolsets.empty() || !tools.empty(); }
    bool limits() const { return read_only || names_some(); }
};
SVC_SHARED_RECORD(
    ToolScope,
    (read_only, "Only what changes nothing.", defaulted),
    (toolsets,
     "Only what is in these toolsets: tags of the OpenAPI document, or `worker`, which is what "
     "working a queue takes.",
     length(0, 50),
     items_up_to(50),
     defaulted),
    (tools, "And these, by their names.", length(0, 200), items_up_to(100), defaulted)
);

/// A verified caller: an identity and, where the request resolved one, a workspace with the
/// caller's effective role in it.
struct Caller {
    PrincipalType type = PrincipalType::user;
    Uuid id;                          ///< of the user, the agent or the automation
    std::optional<std::string> name;  ///< as people see it
    std::optional<Uuid> user_id;      ///< the person behind it: the user, or the token's owner
    std::optional<Uuid> org_id;
    OrgRole role = OrgRole::viewer;  ///< effective: the lower of the token's and the owner's
    bool past_due = false;           ///< the workspace's writes are blocked (402)
    std::optional<Uuid> token_id;
    std::optional<Uuid> session_id;
    Surface surface = Surface::api;
    std::optional<Timestamp> until;  ///< when the credential runs out by itself
    std::int64_t as_of = 0;          ///< what its authenticator confirms it by, if by anything
    ToolScope scope{};               ///< which operations its token reaches
    bool operator==(const Caller&) const = default;

    bool is_person() const { return type == PrincipalType::user; }
};

/// PrincipalRef of the contract: who did something, as answers name them.
struct PrincipalRef {
    Object<"user"> object;
    Uuid id;
    PrincipalType principal_type = PrincipalType::user;
    std::optional<std::string> name;
    bool operator==(const PrincipalRef&) const = default;
};
SVC_SHARED_RECORD(
    PrincipalRef,
    (object, "Always \"user\"."),
    (id, "Id of the person, agent or automation."),
    (principal_type, "What sort of principal it is."),
    (name, "As people see it; null when it is gone.")
);
PrincipalRef ref_of(const Caller& caller);

}  // namespace svc
