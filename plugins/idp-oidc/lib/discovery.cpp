#include "plugins/idp-oidc/lib/discovery.hpp"

#include "plugins/idp-oidc/lib/json.hpp"
#include "plugins/idp-oidc/lib/safe_address.hpp"

namespace svc::idp_oidc {

namespace {

namespace json = boost::json;

[[noreturn]] void refuse(const std::string& why) { throw BadDiscovery(why); }

std::string endpoint_in(const json::object& document, std::string_view name, bool may_be_here) {
    auto url = text_in(document, name);
    if (!url) refuse("the discovery document has no " + std::string(name));
    try {
        if (!safe_address(*url).secure && !may_be_here)
            refuse(*url + " has to be https, since the issuer is elsewhere");
    } catch (const HttpError& problem) {
        refuse(problem.what());
    }
    return *std::move(url);
}

}  // namespace

Discovery parse_discovery(const std::string& text, const std::string& issuer) {
    const auto document = parse_object(text);
    if (!document) refuse("the discovery document is no JSON object");
    if (text_in(*document, "issuer") != issuer)
        refuse("the discovery document is of another issuer than " + issuer);
    const bool is_here = is_this_machine(safe_address(issuer).host);
    constexpr std::string_view methods = "token_endpoint_auth_methods_supported";
    const auto* names_itself =
        document->if_contains("authorization_response_iss_parameter_supported");
    Discovery out{
        .authorization_endpoint = endpoint_in(*document, "authorization_endpoint", is_here),
        .token_endpoint = endpoint_in(*document, "token_endpoint", is_here),
        .jwks_uri = endpoint_in(*document, "jwks_uri", is_here),
        .userinfo_endpoint = {},
        .basic_auth =
            !document->contains(methods) || list_has(*document, methods, "client_secret_basic"),
        .names_itself = names_itself && *names_itself == true};
    if (document->contains("userinfo_endpoint"))
        out.userinfo_endpoint = endpoint_in(*document, "userinfo_endpoint", is_here);
    return out;
}

}  // namespace svc::idp_oidc
