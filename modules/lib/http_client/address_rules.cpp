#include "modules/lib/http_client/address_rules.hpp"

#include <arpa/inet.h>

#include <stdexcept>

namespace svc {

using Poco::Net::IPAddress;

/// An IPv4 address as IPv6 writes it, so that each is compared in one way.
std::string AddressRules::bytes_of(const IPAddress& address) {
    const std::string bytes(static_cast<const char*>(address.addr()), address.length());
    if (bytes.size() == 16) return bytes;
    return std::string(10, '\0') + "\xFF\xFF" + bytes;
}

bool AddressRules::Network::holds(const std::string& address) const {
    for (int bit = 0; bit < bits; ++bit) {
        const auto at = static_cast<std::size_t>(bit / 8);
        const int mask = 0x80 >> (bit % 8);
        if ((address[at] & mask) != (bytes[at] & mask)) return false;
    }
    return true;
}

AddressRules::Network AddressRules::network_of(const std::string& text) {
    const auto slash = text.find('/');
    const auto name = text.substr(0, slash);
    in_addr v4{};
    in6_addr v6{};
    const bool is_v4 = inet_pton(AF_INET, name.c_str(), &v4) == 1;
    if (!is_v4 && inet_pton(AF_INET6, name.c_str(), &v6) != 1)
        throw std::runtime_error(text + " is no network, such as 10.1.0.0/16");
    const IPAddress address = is_v4 ? IPAddress(&v4, sizeof v4) : IPAddress(&v6, sizeof v6);
    const int most = is_v4 ? 32 : 128;
    int bits = most;
    if (slash != text.npos) {
        const auto length = text.substr(slash + 1);
        const bool is_number = !length.empty() && length.size() <= 3 &&
                               length.find_first_not_of("0123456789") == length.npos;
        if (!is_number || (bits = std::stoi(length)) > most)
            throw std::runtime_error(text + " is no network, such as 10.1.0.0/16");
    }
    return {bytes_of(address), is_v4 ? bits + 96 : bits};
}

/// IANA's registries of special-purpose addresses, and what carries an IPv4 address within.
const std::vector<AddressRules::Network>& AddressRules::not_public() {
    static const std::vector<Network> all = [] {
        std::vector<Network> out;
        for (const char* each :
             {"0.0.0.0/8",       "10.0.0.0/8",      "100.64.0.0/10",   "127.0.0.0/8",
              "169.254.0.0/16",  "172.16.0.0/12",   "192.0.0.0/24",    "192.0.2.0/24",
              "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24",  "192.168.0.0/16",
              "192.175.48.0/24", "198.18.0.0/15",   "198.51.100.0/24", "203.0.113.0/24",
              "224.0.0.0/4",     "240.0.0.0/4",     "::/96",           "::1/128",
              "64:ff9b::/96",    "64:ff9b:1::/48",  "100::/64",        "2001::/23",
              "2001:db8::/32",   "2002::/16",       "3fff::/20",       "5f00::/16",
              "fc00::/7",        "fe80::/10",       "fec0::/10",       "ff00::/8"})
            out.push_back(network_of(each));
        return out;
    }();
    return all;
}

AddressRules AddressRules::public_and(const std::vector<std::string>& networks) {
    AddressRules rules;
    rules.public_only_ = true;
    for (const std::string& each : networks) rules.allowed_.push_back(network_of(each));
    return rules;
}

bool AddressRules::allows(const IPAddress& address) const {
    if (!public_only_) return true;
    const std::string bytes = bytes_of(address);
    for (const Network& each : allowed_)
        if (each.holds(bytes)) return true;
    for (const Network& each : not_public())
        if (each.holds(bytes)) return false;
    // Of IPv6 only this is given out for the internet; an IPv4 address is written as one.
    static const Network unicast = network_of("2000::/3");
    return address.length() == 4 || unicast.holds(bytes);
}

}  // namespace svc
