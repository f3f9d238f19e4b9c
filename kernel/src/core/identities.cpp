#include "core/identities.hpp"

namespace svc::core {

Identities::Shard& Identities::shard(std::string_view key) const {
    return shards_[std::hash<std::string_view>{}(key) % shards];
}

bool Identities::same(
    const Entry& entry, std::string_view authenticator, const Credential& credential
) {
    return entry.authenticator == authenticator && entry.credential == credential;
}

std::optional<Caller> Identities::find(const Authenticator& by, const Credential& credential)
    const {
    Shard& in = shard(credential.key);
    std::lock_guard lock(in.mutex);
    const auto [first, last] = in.entries.equal_range(credential.key);
    for (auto each = first; each != last; ++each)
        if (same(each->second, by.name(), credential)) return each->second.caller;
    return std::nullopt;
}

void Identities::remember(
    const Authenticator& by, const Credential& credential, const Caller& caller
) {
    Shard& in = shard(credential.key);
    std::lock_guard lock(in.mutex);
    const auto [first, last] = in.entries.equal_range(credential.key);
    for (auto each = first; each != last; ++each)
        if (same(each->second, by.name(), credential)) {
            each->second.caller = caller;
            return;
        }
    // Losing a hint costs one round trip, so whichever entry comes first makes room.
    if (in.entries.size() >= most_per_shard) in.entries.erase(in.entries.begin());
    in.entries.emplace(credential.key, Entry{std::string(by.name()), credential, caller});
}

void Identities::forget(const Authenticator& by, const Credential& credential) {
    Shard& in = shard(credential.key);
    std::lock_guard lock(in.mutex);
    const auto [first, last] = in.entries.equal_range(credential.key);
    for (auto each = first; each != last; ++each)
        if (same(each->second, by.name(), credential)) {
            in.entries.erase(each);
            return;
        }
}

void Identities::forget_key(std::string_view authenticator, std::string_view key) {
    Shard& in = shard(key);
    std::lock_guard lock(in.mutex);
    auto [each, last] = in.entries.equal_range(std::string(key));
    while (each != last)
        if (each->second.authenticator == authenticator) each = in.entries.erase(each);
        else ++each;
}

}  // namespace svc::core
