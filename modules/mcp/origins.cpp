#include "modules/mcp/origins.hpp"

#include "modules/lib/origin/origin.hpp"

namespace svc::mcp {

namespace {

constexpr std::string_view sent_by_clients =
    "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, "
    "Mcp-Name, Mcp-Session-Id, X-MCP-Readonly, X-MCP-Tools, X-MCP-Toolsets, X-Svc-Org";
constexpr std::string_view read_by_clients =
    "Mcp-Session-Id, Retry-After, WWW-Authenticate, X-Request-Id";

struct Place {
    std::string_view host, port;

    explicit Place(std::string_view origin) {
        const auto scheme = origin.find("://");
        if (scheme == origin.npos) return;
        origin.remove_prefix(scheme + 3);
        origin = origin.substr(0, origin.find('/'));
        const auto colon = origin.find(':', origin.starts_with('[') ? origin.find(']') : 0);
        host = origin.substr(0, colon);
        if (colon != origin.npos) port = origin.substr(colon + 1);
    }
    bool loopback() const { return host == "localhost" || host == "127.0.0.1" || host == "[::1]"; }
};

}  // namespace

bool Origins::admits(std::string_view origin) const {
    const std::string& own = kernel_.base_url();
    if (names_same_origin(own, origin) || names_one_of(allowed_, origin)) return true;
    const Place theirs(origin), ours(own);
    return ours.loopback() && theirs.loopback() && ours.port == theirs.port;
}

http::Headers Origins::for_page(const http::Request& request) const {
    const std::string_view origin = request.header("origin");
    http::Headers headers{{"Vary", "Origin"}};  // for whichever page it is kept
    if (!admits(origin)) return headers;
    headers.emplace_back("Access-Control-Allow-Origin", origin);
    headers.emplace_back("Access-Control-Expose-Headers", read_by_clients);
    return headers;
}

http::Answer Origins::preflight(const http::Request& request, std::string_view methods) const {
    http::Answer answer{.status = 204, .headers = for_page(request), .content_type = {}};
    if (admits(request.header("origin"))) {
        answer.headers.emplace_back("Access-Control-Allow-Methods", methods);
        answer.headers.emplace_back("Access-Control-Allow-Headers", sent_by_clients);
        answer.headers.emplace_back("Access-Control-Max-Age", "7200");
    }
    answer.headers.emplace_back("Allow", std::string(methods) + ", OPTIONS");
    return answer;
}

}  // namespace svc::mcp
