#include "svc/module.hpp"

#include "modules/lib/http_client/dial.hpp"
#include "plugins/idp-oidc/provider.hpp"

/// Signing in with an OpenID Connect provider, Google or another.
namespace svc::idp_oidc {

SVC_RECORD(
    Settings,
    (issuer,
     "The OpenID Connect provider that people may sign in with; Google, unless it is another.",
     length(8, 2000),
     defaulted),
    (client_id,
     "What the provider calls this server; empty: nobody signs in this way. The provider has to "
     "know the address `/v1/auth/google/callback` of this server.",
     length(0, 500),
     defaulted),
    (client_secret,
     "What the provider gave with it; empty where it gave none.",
     length(0, 4096),
     defaulted,
     secret),
    (scope, "What is asked for; `openid` and `email` are needed.", length(6, 500), defaulted),
    (ca_file,
     "A PEM file with the authorities that may vouch for the provider; empty: the system's.",
     length(0, 4096),
     defaulted),
    (timeout_seconds, "For one request to the provider.", range(1, 7), defaulted)
);

namespace {

class IdpOidc final : public Module {
public:
    void open(Kernel& kernel) override {
        auto settings = kernel.settings<Settings>();
        if (settings.client_id.empty()) return;
        check_ca_file("idp-oidc.ca_file", settings.ca_file);
        try {
            provider_.emplace(std::move(settings));
        } catch (const HttpError& problem) {
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
