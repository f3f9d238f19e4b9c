#pragma once

#include "svc/secrets.hpp"
#include "svc/types.hpp"

namespace svc::queue {

/// What a holder proves its lease with: `lt_` and 43 characters of base64url. Half of it names
/// the card, so that one look-up by key finds the lease; the other half is the secret, of which
/// only the SHA-256 is kept.
class LeaseToken {
public:
    static constexpr std::size_t secret_size = 16;
    using Secret = std::array<std::uint8_t, secret_size>;

    static Secret new_secret();
    LeaseToken(const Uuid& card, const Secret& secret) : card_(card), secret_(secret) {}
    static std::optional<LeaseToken> parse(std::string_view text);

    const Uuid& card() const { return card_; }
    static Sha256 digest_of(const Secret& secret);
    /// Whether this is the token that `digest` (a bytea as PostgreSQL writes it) was kept of;
    /// takes as long for a near miss as for a hit.
    bool matches(std::string_view digest) const;
    /// What is kept of it, in hexadecimal digits.
    std::string digest() const;
    std::string str() const;

private:
    Uuid card_;
    Secret secret_;
};

}  // namespace svc::queue
