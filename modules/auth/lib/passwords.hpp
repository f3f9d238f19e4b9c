#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace svc::auth {

/// argon2id at one cost. Every function that hashes takes tens of milliseconds; any thread.
class Passwords {
public:
    static constexpr std::string_view name = "auth.Passwords";

    Passwords(std::int64_t memory_mib, std::int64_t passes);

    /// The hash with its salt and cost, as text.
    std::string hash(std::string_view password) const;
    bool matches(const std::string& hash, std::string_view password) const;
    /// The hash was made at another cost than today's.
    bool outdated(const std::string& hash) const;
    /// A hash of no password, as dear to check as any: for addresses without an account.
    std::string decoy() const;

private:
    unsigned long long passes_;
    std::size_t memory_;
};

}  // namespace svc::auth
