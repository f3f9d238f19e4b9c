#pragma once

#include "modules/auth/api.hpp"
#include "modules/auth/shapes.hpp"
#include "modules/orgs/api.hpp"

/// Browser sessions: who comes by them, beginning and ending them.
namespace svc::auth {

/// Signs in by the session cookie.
class SessionAuthenticator final : public Authenticator {
public:
    explicit SessionAuthenticator(Kernel& kernel) : kernel_(kernel) {}

    std::string_view name() const override { return "session"; }
    std::optional<Credential> recognise(const http::Request& request) const override;
    std::function<std::optional<Caller>()> identify(
        Tx& tx, const Credential& credential, const Caller* before
    ) const override;
    bool ambient() const override { return true; }
    bool csrf_matches(const http::Request& request, const Credential& credential) const override;

    /// Writes down who was seen and lets those sessions live on.
    void write_sightings();

private:
    Kernel& kernel_;
    mutable Sightings<Uuid> seen_;
};

/// A session that is being begun.
struct NewSession {
    AuthMethod method{};
    /// The hash that the password was found to match; nothing when there is other proof.
    std::optional<std::string> password_hash{};
};

/// Begins a session in the call's transaction, for the verified person whose address is the
/// presented credential, and gives the client its cookies. Ends the session that the request
/// came with. Nothing when there is no such person or the password is no longer that one.
std::optional<AuthSessionResponse> begin_session(Call& call, const NewSession& session);

/// Queues what makes `credential` the one that row-level security goes by in this transaction:
/// the digest of a mailed token, an address.
void present(Tx& tx, std::string_view credential);

/// Queues the deletion of sessions that are long over.
void sweep_sessions(Tx& tx);

class SessionWorkspace final : public orgs::ActiveWorkspace {
public:
    void enter(Call& call, const Uuid& org, OrgRole role) override;
};

void add_session_operations(Kernel& kernel);

}  // namespace svc::auth
