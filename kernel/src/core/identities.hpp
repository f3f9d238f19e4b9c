#pragma once

#include "svc/kernel.hpp"

#include <array>
#include <mutex>
#include <optional>
#include <unordered_map>

namespace svc::core {

/// CallerResolver presented which credential last time: hints, never facts. A request that runs on
/// one is answered only after the database has confirmed it (docs/identity.md). Bounded; any
/// thread.
class Identities {
public:
    std::optional<Caller> find(const Authenticator& by, const Credential& credential) const;
    void remember(const Authenticator& by, const Credential& credential, const Caller& caller);
    void forget(const Authenticator& by, const Credential& credential);
    /// Forgets the credential for every workspace it was used in.
    void forget_key(std::string_view authenticator, std::string_view key);

private:
    static constexpr std::size_t shards = 16, most_per_shard = 4096;
    struct Entry {
        std::string authenticator;
        Credential credential;
        Caller caller;
    };
    struct Shard {
        mutable std::mutex mutex;
        std::unordered_multimap<std::string, Entry> entries;  // by the credential's key
    };
    Shard& shard(std::string_view key) const;
    static bool same(
        const Entry& entry, std::string_view authenticator, const Credential& credential
    );

    mutable std::array<Shard, shards> shards_;
};

}  // namespace svc::core
