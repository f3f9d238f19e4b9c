#pragma once

#include "modules/orgs/api.hpp"

namespace svc::auth {

/// Links for people who were added to a workspace before they had an account.
class MailedLinks final : public orgs::Newcomers {
public:
    std::string confirmation_link(Call& call, const Email& email) override;
};

}  // namespace svc::auth
