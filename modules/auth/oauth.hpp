#pragma once

#include "modules/auth/api.hpp"
#include "modules/lib/slow_work/slow_work.hpp"

/// Signing in with an outside identity provider (contract sections 4.4 and 11).
namespace svc::auth {

/// The provider, if one is set up, and the threads that wait for it: however slow it is, it holds
/// up nobody but those who sign in with it.
class OutsideSignIn {
public:
    static constexpr std::string_view name = "auth.OutsideSignIn";

    explicit OutsideSignIn(Kernel& kernel) : kernel_(kernel), waiting_(kernel, 4, 32) {}

    IdentityProvider* provider() const { return kernel_.find<IdentityProvider>(); }
    SlowWork& waiting() { return waiting_; }

private:
    Kernel& kernel_;
    SlowWork waiting_;
};

void add_oauth_operations(Kernel& kernel);

}  // namespace svc::auth
