#include "modules/lib/origin/origin.hpp"

#include <algorithm>
#include <cctype>

namespace svc {

namespace {

/// Scheme and authority of an address, without the port that goes without saying; both empty for
/// "null", a page without an origin.
struct Origin {
    std::string_view scheme, authority;

    explicit Origin(std::string_view url) {
        const auto end = url.find("://");
        if (end == url.npos) return;
        scheme = url.substr(0, end);
        url.remove_prefix(end + 3);
        authority = url.substr(0, url.find('/'));
        const std::string_view usual = scheme == "https" ? ":443" : ":80";
        if (authority.ends_with(usual)) authority.remove_suffix(usual.size());
    }
};

bool same_authority(std::string_view a, std::string_view b) {
    return std::ranges::equal(a, b, [](char x, char y) {
        return std::tolower(static_cast<unsigned char>(x)) ==
               std::tolower(static_cast<unsigned char>(y));
    });
}

}  // namespace

bool from_another_site(std::string_view base_url, const http::Request& request) {
    if (request.header("sec-fetch-site") == "cross-site") return true;
    const std::string_view sent = request.header("origin");
    if (sent.empty()) return false;
    const Origin origin(sent), own(base_url);
    if (origin.authority.empty()) return true;
    // A page that came without TLS may be anybody's, even under our own name.
    if (same_authority(origin.authority, own.authority)) return origin.scheme != own.scheme;
    return !same_authority(origin.authority, request.header("host"));
}

bool names_same_origin(std::string_view a, std::string_view b) {
    const Origin one(a), other(b);
    return !one.authority.empty() && one.scheme == other.scheme &&
           same_authority(one.authority, other.authority);
}

bool names_one_of(const std::vector<std::string>& origins, std::string_view origin) {
    return std::ranges::any_of(origins, [&](const std::string& each) {
        return names_same_origin(each, origin);
    });
}

}  // namespace svc
