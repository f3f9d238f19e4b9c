#include "svc/module.hpp"

#include "plugins/idp-oidc/provider.hpp"

/// Signing in with an OpenID Connect provider, Google or another.
namespace svc::idp_oidc {

namespace {

class IdpOidc final : public Module {
public:
    void open(Kernel& kernel) override {
        auto settings = kernel.settings<Settings>();
        if (settings.client_id.empty()) return;
        try {
            provider_.emplace(std::move(settings));
        } catch (const FetchError& problem) {
            throw std::runtime_error(std::string("idp-oidc.issuer: ") + problem.what());
        }
        kernel.offer<auth::IdentityProvider>(*provider_);
    }
    void stop() noexcept override {
        if (provider_) provider_->stop();
    }

private:
    std::optional<Provider> provider_;
};

}  // namespace

}  // namespace svc::idp_oidc

SVC_MODULE(svc::idp_oidc::IdpOidc, "idp-oidc", "auth");
