#pragma once

#include "modules/orgs/api.hpp"

namespace svc::auth {

/// Links for people who were added to a workspace before they had an account.
class MailedLinks final : public orgs::SignUpLinks {
public:
    std::string confirmation_link(Call& call, const Email& email) override;
    bool may_be_added(const Kernel& kernel) const override;
};

/// A sign-up without a password that waits for its link, whoever asked for it. Leaves the address
/// as the presented credential.
Uuid wait_for_confirmation(Call& call, const Email& email, const std::string& token);

}  // namespace svc::auth
