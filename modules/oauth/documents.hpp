#pragma once

#include "modules/lib/http_client/http_client.hpp"
#include "modules/lib/slow_work/slow_work.hpp"
#include "modules/oauth/lib/client_metadata.hpp"
#include "modules/oauth/settings.hpp"
#include "svc/rate_limit.hpp"

#include <map>

namespace svc::oauth {

/// The documents by which clients describe themselves, fetched from wherever their ids say: from
/// public addresses, by whoever is signed in, and not too often. What was found is kept for a
/// while. Any thread.
class Documents {
public:
    static constexpr std::string_view name = "oauth.Documents";
    using Found = std::optional<ClientMetadata>;

    Documents(Kernel& kernel, const Settings& settings);

    /// Nothing when it is of no use, for whatever reason; the log has it.
    Found find(Call& call, const std::string& client_id);
    /// Nothing is fetched after that.
    void stop() { pool_.finish(); }

private:
    using Clock = std::chrono::steady_clock;
    struct Kept {
        Found found;
        Clock::time_point until;
    };

    std::optional<Found> kept(const std::string& client_id);
    void keep(const std::string& client_id, const Found& found);
    Found fetch(const std::string& client_id);
    const HttpClient& http();

    const Settings& settings_;
    MemoryRateLimit limit_;
    mutable std::mutex mutex_;
    std::map<std::string, Kept> kept_;
    std::once_flag http_once_;
    std::optional<HttpClient> http_;  // reading all authorities takes a while, and few servers ask
    SlowWork pool_;                   // the last member: its threads fetch
};

}  // namespace svc::oauth
