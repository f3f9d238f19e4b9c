#pragma once

#include "modules/auth/api.hpp"

namespace svc::auth {

/// PasswordService, on what this module does for accounts.
class PasswordServiceImpl final : public PasswordService {
public:
    std::string hash(Call& call, const std::string& password) override;
    bool matches(Call& call, const Guess& guess) override;
};

}  // namespace svc::auth
