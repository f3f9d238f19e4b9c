#pragma once

#include "modules/agents/ledger.hpp"
#include "modules/auth/api.hpp"
#include "svc/kernel.hpp"

namespace svc::agents {

/// Signs in by `Authorization: Bearer svc_…`.
///
/// A token's caller is worked out of five tables: the token, its agent, its owner's seat, the
/// workspace, the name. All that can change it raises the workspace's `standing`
/// (orgs::Directory::unsettle), so a caller who is known already is confirmed by that one number.
class BearerAuthenticator final : public Authenticator {
public:
    BearerAuthenticator(Kernel& kernel, Ledger& ledger) : kernel_(kernel), ledger_(ledger) {}

    std::string_view name() const override { return "token"; }
    std::optional<Credential> recognise(const http::Request& request) const override;
    std::function<std::optional<Caller>()> identify(
        Tx& tx, const Credential& credential, const Caller* before
    ) const override;

    /// Writes down which tokens were used.
    void write_sightings();

private:
    std::function<std::optional<Caller>()> confirm(Tx& tx, const Caller& before) const;
    std::function<std::optional<Caller>()> work_out(Tx& tx, const Credential& credential) const;

    Kernel& kernel_;
    Ledger& ledger_;
    mutable auth::Sightings<std::pair<Uuid, Uuid>> seen_;  // workspace and token
};

}  // namespace svc::agents
