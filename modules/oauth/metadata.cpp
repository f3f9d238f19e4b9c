// What clients read first: which server hands out tokens for what (RFC 9728), and how (RFC 8414).

#include "modules/oauth/answers.hpp"
#include "modules/oauth/resources.hpp"
#include "modules/oauth/settings.hpp"

#include <boost/json.hpp>

#include <array>

namespace svc::oauth {

namespace json = boost::json;

namespace {

constexpr std::string_view resource_metadata = "/.well-known/oauth-protected-resource";
constexpr std::string_view server_metadata = "/.well-known/oauth-authorization-server";
constexpr std::array<std::string_view, 2> doors{"/v1/mcp/http", "/v1/mcp/sse"};

json::object describe_resource(const Kernel& kernel, std::string_view path) {
    const std::string& base = kernel.base_url();
    return {
        {"resource", base + std::string(path)},
        {"authorization_servers", json::array{base}},
        {"scopes_supported", {"read", "write"}},
        {"bearer_methods_supported", json::array{"header"}},
        {"resource_name", "Workboard"},
        {"resource_documentation", base + "/docs"}
    };
}

json::object describe_server(const Kernel& kernel) {
    const std::string& base = kernel.base_url();
    const auto& settings = kernel.use<Settings>();
    json::object out{
        {"issuer", base},
        {"authorization_endpoint", base + "/oauth/authorize"},
        {"token_endpoint", base + "/oauth/token"},
        {"revocation_endpoint", base + "/oauth/revoke"},
        {"scopes_supported", {"read", "write"}},
        {"response_types_supported", json::array{"code"}},
        {"response_modes_supported", json::array{"query"}},
        {"grant_types_supported", {"authorization_code", "refresh_token"}},
        {"token_endpoint_auth_methods_supported", json::array{"none"}},
        {"revocation_endpoint_auth_methods_supported", json::array{"none"}},
        {"code_challenge_methods_supported", json::array{"S256"}},
        {"authorization_response_iss_parameter_supported", true},
        {"client_id_metadata_document_supported", settings.client_documents},
        {"service_documentation", base + "/docs"}
    };
    if (settings.registration) out["registration_endpoint"] = base + "/oauth/register";
    return out;
}

/// Of programs alone, which any page may read.
void add_document(Kernel& kernel, std::string path, std::function<json::object()> describe) {
    kernel.add(Route{
        .method = "GET",
        .path = path,
        .handle =
            [describe = std::move(describe)](RouteCall&) {
                http::Answer answer = json_answer(200, describe());
                for (auto& [name, value] : answer.headers)
                    if (name == "Cache-Control") value = "public, max-age=300";
                return answer;
            }
    });
    kernel.add(Route{.method = "OPTIONS", .path = std::move(path), .handle = [](RouteCall&) {
                         return preflight_answer();
                     }});
}

}  // namespace

std::optional<Resource> find_resource(const Kernel& kernel, const std::string& asked) {
    const std::string& base = kernel.base_url();
    if (asked.empty()) return Resource{base + std::string(doors.front())};
    if (asked == base || asked == base + "/") return Resource{.url = asked, .is_mcp = false};
    for (const std::string_view door : doors)
        if (asked == base + std::string(door)) return Resource{asked};
    return std::nullopt;
}

void add_metadata(Kernel& kernel) {
    add_document(kernel, std::string(resource_metadata), [&kernel] {
        return describe_resource(kernel, "");
    });
    for (const std::string_view door : doors)
        add_document(kernel, std::string(resource_metadata) + std::string(door), [&kernel, door] {
            return describe_resource(kernel, door);
        });
    add_document(kernel, std::string(server_metadata), [&kernel] {
        return describe_server(kernel);
    });
}

std::string challenge_at(const Kernel& kernel, std::string_view path) {
    const std::string_view door = path == doors.front() ? doors.front() : doors.back();
    return "Bearer error=\"invalid_token\", resource_metadata=\"" + kernel.base_url() +
           std::string(resource_metadata) + std::string(door) + "\", scope=\"" +
           std::string(all_scopes) + "\"";
}

}  // namespace svc::oauth
