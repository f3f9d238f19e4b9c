#include "modules/webhooks/lib/target.hpp"

#include "modules/lib/http_client/http_client.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>

namespace svc::webhooks {

namespace {

/// Names that stand for this machine or its network wherever they are asked for.
bool is_local_name(std::string host) {
    std::ranges::transform(host, host.begin(), [](unsigned char each) {
        return std::tolower(each);
    });
    constexpr std::array<std::string_view, 6> tops{
        "localhost", "local", "internal", "intranet", "home.arpa", "localdomain"
    };
    return host.find('.') == host.npos || std::ranges::any_of(tops, [&](std::string_view top) {
               return host.ends_with("." + std::string(top));
           });
}

}  // namespace

std::string fault_of_target(const std::string& url, Reach reach) {
    WebAddress to;
    try {
        to = WebAddress::parse(url);
    } catch (const HttpError&) {
        return "give an address of https, without user, password and fragment";
    }
    if (reach == Reach::anywhere) return {};
    if (!to.secure) return "events are sent over https alone";
    if (to.port != 443 && to.port != 8443) return "events are sent to the ports 443 and 8443";
    if (to.host.ends_with('.')) to.host.pop_back();
    if (const auto address = address_in(to.host)) {
        if (AddressRules::public_and({}).allows(*address)) return {};
    } else if (!is_local_name(to.host)) {
        return {};
    }
    return "this is not on the public internet";
}

}  // namespace svc::webhooks
