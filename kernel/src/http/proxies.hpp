#pragma once

#include "svc/http.hpp"

#include <netinet/in.h>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

struct sockaddr;

namespace svc::http {

/// An IPv4 or IPv6 address; IPv4 in its mapped form, so that both are one kind.
class Address {
public:
    static std::optional<Address> parse(std::string_view text);
    explicit Address(const sockaddr& from);
    Address() = default;  ///< nobody's
    std::string str() const;

    /// The first `bits` of both are the same.
    bool agrees(const Address& other, int bits) const;
    bool is_v4() const;
    bool operator==(const Address& other) const { return agrees(other, 128); }

private:
    in6_addr bytes_{};
};

/// The proxies whose word counts about where a request came from.
class Proxies {
public:
    /// Addresses and CIDR blocks; throws std::runtime_error naming the one that is neither.
    explicit Proxies(std::span<const std::string> trusted);
    bool trusts(const Address& address) const;

    struct Origin {
        std::string_view address;
        bool secure;
    };
    /// Where a request from a trusted peer came from: the right-most X-Forwarded-For address that
    /// is not trusted itself. Falls back on what `peer` says of the connection.
    Origin origin(const Origin& peer, std::span<const Header> headers) const;

private:
    struct Block {
        Address base;
        int bits;
    };
    std::vector<Block> blocks_;
};

}  // namespace svc::http
