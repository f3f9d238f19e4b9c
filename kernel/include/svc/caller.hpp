#pragma once

#include "svc/types.hpp"

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
    auto operator<=>(const Caller&) const = default;

    bool is_person() const { return type == PrincipalType::user; }
};

/// PrincipalRef of the contract: who did something, as answers name them.
struct PrincipalRef {
    Object<"user"> object;
    Uuid id;
    PrincipalType principal_type = PrincipalType::user;
    std::optional<std::string> name;
    auto operator<=>(const PrincipalRef&) const = default;
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
