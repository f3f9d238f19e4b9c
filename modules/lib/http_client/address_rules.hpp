#pragma once

#include <Poco/Net/IPAddress.h>

#include <string>
#include <vector>

namespace svc {

/// Which addresses may be dialled. What the operator has configured may be anywhere. An address
/// that users name must be on the public internet: everything that only this machine, its network
/// or its cloud provider answers is refused, as are addresses that stand for such ones (IPv4 within
/// IPv6, 6to4, NAT64).
class AddressRules {
public:
    /// Every address.
    AddressRules() = default;
    /// Public addresses, and those within `networks` ("10.1.0.0/16", "fd00::/8"), which the
    /// operator allows. Throws std::runtime_error naming one that is none.
    static AddressRules public_and(const std::vector<std::string>& networks);

    bool allows(const Poco::Net::IPAddress& address) const;
    /// What is dialled by them is not the operator's choice alone.
    bool only_public() const { return public_only_; }

private:
    struct Network {
        std::string bytes;  ///< 16, of IPv6; IPv4 is mapped
        int bits = 0;
        bool holds(const std::string& address) const;
    };
    static Network network_of(const std::string& text);
    static const std::vector<Network>& not_public();
    static std::string bytes_of(const Poco::Net::IPAddress& address);

    bool public_only_ = false;
    std::vector<Network> allowed_;
};

}  // namespace svc
