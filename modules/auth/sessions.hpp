#pragma once

#include "modules/auth/api.hpp"
#include "modules/auth/shapes.hpp"
#include "modules/orgs/api.hpp"

#include <tuple>

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
    void write_last_seen();

private:
    Kernel& kernel_;
    /// A session, whose it is, and the workspace that a request was about.
    mutable LastSeen<std::tuple<Uuid, Uuid, std::optional<Uuid>>> seen_;
};

/// A session that is being begun.
struct NewSession {
    AuthMethod method{};
    /// Which of the person's passwords was given; nothing when there is other proof.
    std::optional<std::int64_t> password_version{};
};

/// Begins a session in the call's transaction, for the verified person whose address is the
/// presented credential, and gives the client its cookies. Ends the session that the request
/// came with. Nothing when there is no such person or the password is no longer that one; Failure
/// 403, reason `account_disabled` when the operator has shut the person out.
std::optional<AuthSessionResponse> begin_session(Call& call, const NewSession& session);

/// A session that was ended.
struct EndedSession {
    Uuid id;
    Uuid user_id;
};
SVC_SHARED_RECORD(EndedSession, (id), (user_id));

/// Queues the end of a session by whoever shows it, which makes it the presented credential.
DeferredRows<EndedSession> end_shown_session(Tx& tx, const Uuid& session);
/// Queues the end of every session of the person the transaction acts for, save `keep`.
DeferredRows<EndedSession> end_sessions_of_person(Tx& tx, const std::optional<Uuid>& keep);
/// Once the call is committed nobody runs on what was known of them, and their streams are closed.
void forget_sessions(Call& call, const std::vector<EndedSession>& ended);

/// Queues what makes `credential` the one that row-level security goes by in this transaction:
/// the digest of a mailed token, an address.
void present(Tx& tx, std::string_view credential);
/// Queues what makes `person` the one the transaction acts for, with the credential as it is.
void act_for_person(Tx& tx, const Uuid& person);

/// Queues the deletion of sessions that are long over.
void sweep_sessions(Tx& tx);

class SessionWorkspace final : public orgs::ActiveWorkspace {
public:
    void enter(Call& call, const Uuid& org, OrgRole role) override;
};

void add_session_operations(Kernel& kernel);

}  // namespace svc::auth
