#pragma once

#include "modules/orgs/shapes.hpp"
#include "svc/kernel.hpp"

/// What orgs offers to other modules, and what it would like from them.
///
/// Its tables are the directory that everything else refers to. Statements of other modules read of
/// them what `api.sql` says, such as `principals` for every PrincipalRef; what others know of
/// people and agents is written by `api/directory_writes.hpp`.
namespace svc::orgs {

/// A token with the role viewer reads: it changes nothing of the account that its owner has
/// everywhere.
inline bool only_reads(const Caller& caller) {
    return caller.token_id && caller.role == OrgRole::viewer;
}

/// Guard of what a person does about the account.
inline void refuse_reading_tokens(Call& call) {
    if (const Caller* caller = call.caller_if_any(); !caller || !only_reads(*caller)) return;
    throw Failure(
        Fault::restricted,
        "A token with the role viewer reads; sign in, or use one that may do more."
    );
}

class Directory {
public:
    static constexpr std::string_view name = "orgs.Directory";
    virtual ~Directory() = default;

    /// Queues the note that something changed which the workspace's tokens stand for or are
    /// allowed: every server works their callers out anew. Call it in the transaction that
    /// changes a role, a seat, a principal's name, an agent's status or a token.
    virtual void bump_security_epoch(Tx& tx, const Uuid& org) = 0;

    /// Whether nothing in the workspace may be changed for want of payment. For callers that a
    /// module vouches for (Kernel::invoke); of all others the kernel knows it.
    virtual bool past_due(Tx& tx, const Uuid& org) const = 0;
};

/// Offered to whoever takes sign-ups.
class Invitations {
public:
    static constexpr std::string_view name = "orgs.Invitations";
    virtual ~Invitations() = default;

    /// Queues the question whether `token` came with the newest mail of a live invitation to this
    /// address, and so whether whoever shows it has read that mail; the function returned reads
    /// the answer. The address has to be the presented credential (docs/tenancy.md).
    virtual std::function<bool()> proves(Tx& tx, std::string_view token, const Email& email)
        const = 0;

    /// Queues the question whether any live invitation waits for this address, likewise.
    virtual std::function<bool()> awaits(Tx& tx, const Email& email) const = 0;
};

/// Asked of whoever keeps accounts.
class SignUpLinks {
public:
    static constexpr std::string_view name = "orgs.SignUpLinks";
    virtual ~SignUpLinks() = default;

    /// A new link by which the owner of an address that somebody else has brought in confirms it
    /// and signs in, for a mail to that address alone. Queued in the call's transaction, whose
    /// presented credential is the address from then on.
    virtual std::string confirmation_link(Call& call, const Email& email) = 0;

    /// Whether an address without an account may be brought in at all.
    virtual bool may_be_added(const Kernel& kernel) const = 0;
};

/// Asked of whoever keeps tokens.
class TokenHolders {
public:
    static constexpr std::string_view name = "orgs.TokenHolders";
    virtual ~TokenHolders() = default;

    /// Queues whether the person has tokens of their own in a workspace, which the transaction acts
    /// for; the function returned reads the answer. Such tokens carry the person's name.
    virtual std::function<bool()> has_tokens(Tx& tx, const Uuid& org, const Uuid& person) = 0;

    /// Revokes every token that the person owns, in every workspace, each in a transaction of its
    /// own; `command` is the operator's that does so. How many they were.
    virtual std::size_t end_all_of(
        Kernel& kernel, const Uuid& person, std::string_view command
    ) = 0;
};

/// Asked of whoever keeps files.
class Pictures {
public:
    static constexpr std::string_view name = "orgs.Pictures";
    virtual ~Pictures() = default;

    /// The lasting public address of a picture that the caller has uploaded; nothing when there is
    /// none of that id.
    virtual std::optional<Url> address_of(Call& call, const Uuid& file) = 0;
};

/// Asked of whoever keeps what a workspace writes and uploads.
class Storage {
public:
    static constexpr std::string_view name = "orgs.Storage";

    /// Queues the question how many bytes the workspace has stored; the function returned reads the
    /// answer.
    virtual std::function<std::int64_t()> used(Tx& tx, const Uuid& org) const = 0;
    /// How many it may store; nothing: any number.
    virtual std::optional<std::int64_t> limit() const = 0;

protected:
    ~Storage() = default;
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
