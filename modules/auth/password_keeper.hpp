#pragma once

#include "modules/auth/api.hpp"

namespace svc::auth {

/// PasswordKeeper, on what this module does for accounts.
class PasswordKeeperHere final : public PasswordKeeper {
public:
    std::string hash(Call& call, const std::string& password) override;
    bool matches(Call& call, const Guess& guess) override;
};

}  // namespace svc::auth
