#pragma once

#include "modules/auth/api.hpp"
#include "plugins/idp-oidc/lib/discovery.hpp"
#include "plugins/idp-oidc/lib/id_token.hpp"
#include "plugins/idp-oidc/lib/safe_address.hpp"
#include "plugins/idp-oidc/settings.hpp"

#include <atomic>
#include <mutex>

/// An OpenID Connect provider, as its discovery document describes it.
namespace svc::idp_oidc {

class Provider final : public auth::IdentityProvider {
public:
    explicit Provider(Settings settings);

    std::string sign_in_page(const auth::ProviderQuestion& question) override;
    auth::Identity identify(const auth::ProviderAnswer& answer) override;

    /// No further requests: whoever waits for one is let go.
    void stop() { stopping_ = true; }

private:
    /// Something fetched, and since when.
    template <class T>
    struct Kept {
        std::optional<T> value;
        std::chrono::steady_clock::time_point at{};
        bool younger_than(std::chrono::seconds age) const {
            return value && std::chrono::steady_clock::now() - at < age;
        }
    };

    Discovery discovery();
    /// Says again why there was none just now, rather than ask again.
    void refuse_when_failed_lately();
    std::vector<Key> keys(const Discovery& from, std::chrono::seconds oldest);
    boost::json::object redeem(const Discovery& at, const auth::ProviderAnswer& answer);
    /// The claims of an ID token that holds.
    boost::json::object believe(
        const Discovery& of, const std::string& id_token, const std::string& nonce
    );
    boost::json::object user_info(
        const Discovery& at, const std::string& access_token, const std::string& subject
    );
    /// The answer to a request, or a ProviderError.
    HttpAnswer get(const std::string& url, HttpRequest::Headers headers = {}) const;
    void refuse_when_stopping() const;

    const Settings settings_;
    const HttpClient client_;
    std::atomic<bool> stopping_{false};
    std::mutex mutex_;  // of what is below; never held while asking
    Kept<Discovery> discovery_;
    Kept<std::string> discovery_failed_;  // why
    Kept<std::vector<Key>> keys_;
};

}  // namespace svc::idp_oidc
