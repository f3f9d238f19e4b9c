#pragma once

#include "modules/agents/budget_service.hpp"
#include "modules/auth/api.hpp"
#include "svc/kernel.hpp"

namespace svc::agents {

/// Signs in by `Authorization: Bearer svc_…`.
///
/// A token's caller is worked out of five tables: the token, its agent, its owner's seat, the
/// workspace, the name. All that can change it raises the workspace's `security_epoch`
/// (orgs::Directory::bump_security_epoch), so a caller who is known already is confirmed by that
/// one number.
class BearerAuthenticator final : public Authenticator {
public:
    BearerAuthenticator(Kernel& kernel, BudgetService& budgets)
        : kernel_(kernel), budgets_(budgets) {}

    std::string_view name() const override { return "token"; }
    std::optional<Credential> recognise(const http::Request& request) const override;
    std::function<std::optional<Caller>()> identify(
        Tx& tx, const Credential& credential, const Caller* before
    ) const override;
    bool confirms_by_epoch() const override { return true; }
    void hold(Tx& tx, const Caller& caller) const override;
    void confirmed(const Caller& caller) const override;

    /// Writes down which tokens were used.
    void write_last_seen();

private:
    std::function<std::optional<Caller>()> confirm(Tx& tx, const Caller& before) const;
    std::function<std::optional<Caller>()> resolve(Tx& tx, const Credential& credential) const;

    Kernel& kernel_;
    BudgetService& budgets_;
    mutable auth::LastSeen<std::pair<Uuid, Uuid>> seen_;  // workspace and token
};

}  // namespace svc::agents
