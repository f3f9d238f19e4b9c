#pragma once

#include "core/kernel_impl.hpp"

namespace svc::core {

/// Thrown out of a run when the database says that the caller is not who the hint said.
struct StaleIdentity {};

/// The workspace that the header X-Svc-Org names; when it names none, `wrong` says so.
std::optional<Uuid> org_in_header(const http::Request& request, std::optional<Failure>& wrong);

/// CallerResolver is asking, for the length of one request (docs/identity.md): a credential, the
/// caller it stood for last time, and whether the database has confirmed that.
class CallerResolver {
public:
    /// Finds the credential in the request; no database. Failure 401 when it is malformed.
    CallerResolver(
        Kernel::Impl& kernel, const http::Request& request, const std::optional<Uuid>& requested_org
    );
    /// Nobody: for operations that anyone may run.
    explicit CallerResolver(Kernel::Impl& kernel) : kernel_(kernel), confirmed_(true) {}
    /// A caller somebody vouches for.
    CallerResolver(Kernel::Impl& kernel, Caller caller);

    /// Failure 403 when a browser sent the credential by itself and the request has no proof
    /// that the site meant it.
    void check_csrf(const http::Request& request) const;

    /// Finds out who it is as far as a hint goes, asking the database when there is none. Failure
    /// 401 when there is no credential or it stands for nobody.
    void authenticate();
    /// Null until authenticate(), and when the workspace is out of reach.
    const Caller* caller() const { return caller_ ? &*caller_ : nullptr; }
    /// Failure 404 when the credential does not reach the workspace the request names.
    void require_workspace() const;

    /// CallerResolver vouches for the caller, and by what; null for callers somebody else vouches
    /// for.
    const Authenticator* authenticator() const { return authenticator_; }
    const Credential& credential() const { return credential_; }

    bool confirmed() const { return confirmed_; }
    /// Puts the question in front of what `tx` sends first; StaleIdentity comes out of the
    /// statement that sent it when the answer is another. A transaction that writes asks even
    /// when it is known: authenticators see to it that the answer holds until it is committed.
    void attach_identity_check(Tx& tx);
    /// Whether a statement can ask for itself who the caller is (Call::goes_alone); if so it holds
    /// the caller's rights in `tx`.
    bool leaves_to_statement(Tx& tx) const;
    /// What such a statement found. StaleIdentity when the rights are others.
    void settle_by_statement(bool holds);
    /// Asks now unless it is known. StaleIdentity when the answer is another.
    void confirm();
    /// Asks now, also when it is known: for what has to hold from a moment ago on.
    void confirm_anew();

private:
    void ask();
    bool still_holds();
    void settle(std::optional<Caller> now);

    Kernel::Impl& kernel_;
    const Authenticator* authenticator_ = nullptr;
    Credential credential_;
    std::optional<Caller> caller_;
    std::optional<Failure> unreachable_;  // the workspace is not the caller's
    bool confirmed_ = false;
};

}  // namespace svc::core
