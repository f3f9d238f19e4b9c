#pragma once

#include "modules/orgs/shapes.hpp"
#include "svc/kernel.hpp"

/// What orgs offers to other modules, and what it would like from them.
///
/// Its tables are the directory that everything else refers to; statements of other modules may
/// join `users`, `orgs`, `memberships`, `membership_view` and, for every PrincipalRef, in one
/// LEFT JOIN, `principals` (see the migration). Only auth writes `users`. A module that has
/// principals of its own, such as agents, writes their rows of `principals` in the statement
/// that makes, renames or redecorates them, and never deletes them.
namespace svc::orgs {

class Directory {
public:
    static constexpr std::string_view name = "orgs.Directory";
    virtual ~Directory() = default;

    /// Queues the note that something changed which the workspace's tokens stand for or are
    /// allowed: every server works their callers out anew. Call it in the transaction that
    /// changes a role, a seat, a principal's name, an agent's status or a token.
    virtual void unsettle(Tx& tx, const Uuid& org) = 0;
};

/// Asked of whoever keeps sessions.
class ActiveWorkspace {
public:
    static constexpr std::string_view name = "orgs.ActiveWorkspace";
    virtual ~ActiveWorkspace() = default;

    /// Makes the workspace the one that the call's session works in when a request names none,
    /// and gives the client its new cookie. Queued in the call's transaction; nothing happens
    /// when the caller has no session.
    virtual void enter(Call& call, const Uuid& org, OrgRole role) = 0;
};

}  // namespace svc::orgs
