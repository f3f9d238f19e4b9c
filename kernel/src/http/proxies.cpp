#include "http/proxies.hpp"

#include "http/text.hpp"
#include "svc/rate_limit.hpp"

#include <arpa/inet.h>

#include <charconv>
#include <cstring>
#include <stdexcept>

namespace svc::http {

namespace {

constexpr int v4_prefix = 96;  // bits in front of an IPv4 address in its mapped form

in6_addr mapped(const in_addr& v4) {
    in6_addr out{};
    out.s6_addr[10] = out.s6_addr[11] = 0xff;
    std::memcpy(out.s6_addr + 12, &v4, sizeof v4);
    return out;
}

/// An X-Forwarded-For entry without the port some proxies add.
std::string_view without_port(std::string_view entry) {
    if (entry.starts_with('[')) return entry.substr(1, entry.find(']') - 1);
    const auto colon = entry.find(':');
    const bool v4_with_port =
        colon != std::string_view::npos && entry.find(':', colon + 1) == std::string_view::npos;
    return v4_with_port ? entry.substr(0, colon) : entry;
}

std::string_view header_of(std::span<const Header> headers, std::string_view name) {
    for (const Header& each : headers)
        if (same_name(each.name, name)) return each.value;
    return {};
}

/// The last element of a list and what stands before it.
std::pair<std::string_view, std::string_view> cut_last(std::string_view list) {
    const auto comma = list.rfind(',');
    if (comma == std::string_view::npos) return {{}, without_blanks(list)};
    return {list.substr(0, comma), without_blanks(list.substr(comma + 1))};
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
    char copy[INET6_ADDRSTRLEN];
    if (text.empty() || text.size() >= sizeof copy) return std::nullopt;
    copy[text.copy(copy, text.size())] = '\0';
    Address out;
    if (in_addr v4{}; inet_pton(AF_INET, copy, &v4) == 1) {
        out.bytes_ = mapped(v4);
        return out;
    }
    if (inet_pton(AF_INET6, copy, &out.bytes_) == 1) return out;
    return std::nullopt;
}

Address::Address(const sockaddr& from) {
    if (from.sa_family == AF_INET)
        bytes_ = mapped(reinterpret_cast<const sockaddr_in&>(from).sin_addr);
    else if (from.sa_family == AF_INET6)
        bytes_ = reinterpret_cast<const sockaddr_in6&>(from).sin6_addr;
}

bool Address::is_v4() const { return IN6_IS_ADDR_V4MAPPED(&bytes_); }

std::string Address::str() const {
    char text[INET6_ADDRSTRLEN];
    const bool v4 = is_v4();
    const void* from = v4 ? static_cast<const void*>(bytes_.s6_addr + 12) : &bytes_;
    return inet_ntop(v4 ? AF_INET : AF_INET6, from, text, sizeof text);
}

bool Address::agrees(const Address& other, int bits) const {
    const auto whole = static_cast<std::size_t>(bits / 8);
    if (std::memcmp(bytes_.s6_addr, other.bytes_.s6_addr, whole) != 0) return false;
    const int rest = bits % 8;
    if (rest == 0) return true;
    return (bytes_.s6_addr[whole] ^ other.bytes_.s6_addr[whole]) >> (8 - rest) == 0;
}

Proxies::Proxies(std::span<const std::string> trusted) {
    for (const std::string& each : trusted) {
        const std::string_view text = each;
        const auto slash = text.find('/');
        const auto base = Address::parse(text.substr(0, slash));
        int bits = base && base->is_v4() ? 32 : 128;
        bool good = base.has_value();
        if (slash != std::string_view::npos) {
            int given = -1;
            const auto* end = text.data() + text.size();
            const auto read = std::from_chars(text.data() + slash + 1, end, given);
            good = good && read.ec == std::errc() && read.ptr == end && given >= 0 && given <= bits;
            bits = given;
        }
        if (!good)
            throw std::runtime_error(
                "server.trusted_proxies: \"" + each +
                "\" is neither an address nor a block such as 10.0.0.0/8"
            );
        blocks_.push_back({*base, base->is_v4() ? bits + v4_prefix : bits});
    }
}

bool Proxies::trusts(const Address& address) const {
    for (const Block& each : blocks_)
        if (address.agrees(each.base, each.bits)) return true;
    return false;
}

Proxies::Origin Proxies::origin(const Origin& peer, std::span<const Header> headers) const {
    Origin out = peer;
    auto rest = header_of(headers, "x-forwarded-for");
    while (!rest.empty()) {
        const auto [before, last] = cut_last(rest);
        const auto text = without_port(last);
        const auto address = Address::parse(text);
        if (!address) break;  // nobody vouches for what stands before it
        out.address = text;
        if (!trusts(*address)) break;
        rest = before;
    }
    const auto scheme = cut_last(header_of(headers, "x-forwarded-proto")).second;
    if (!scheme.empty()) out.secure = same_name(scheme, "https");
    return out;
}

}  // namespace svc::http

namespace svc {

std::string network_of(std::string_view client_address) {
    constexpr std::size_t network_bytes = 8;
    const std::string text(client_address);
    in6_addr v6{};
    if (inet_pton(AF_INET6, text.c_str(), &v6) != 1 || IN6_IS_ADDR_V4MAPPED(&v6)) return text;
    std::memset(v6.s6_addr + network_bytes, 0, sizeof v6.s6_addr - network_bytes);
    char network[INET6_ADDRSTRLEN] = {};
    inet_ntop(AF_INET6, &v6, network, sizeof network);
    return std::string(network) + "/64";
}

}  // namespace svc
