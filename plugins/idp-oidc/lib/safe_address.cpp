#include "plugins/idp-oidc/lib/safe_address.hpp"

namespace svc::idp_oidc {

WebAddress safe_address(const std::string& url) {
    WebAddress address = WebAddress::parse(url);
    if (!address.secure && !is_this_machine(address.host))
        throw HttpError(url + " has to be https");
    return address;
}

}  // namespace svc::idp_oidc
