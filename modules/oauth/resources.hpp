#pragma once

#include "svc/kernel.hpp"

#include <algorithm>

/// What tokens are granted for: this server, or its doors for MCP alone.
namespace svc::oauth {

/// What a client may name as `resource` (RFC 8707). Its token is good for the doors of MCP, or with
/// the server's own address everywhere.
struct Resource {
    std::string url;
    bool is_mcp = true;
};
/// Nothing when it is another server's. A client that names none means MCP.
std::optional<Resource> find_resource(const Kernel& kernel, const std::string& asked);

/// Routes below /.well-known, by which clients find all this.
void add_metadata(Kernel& kernel);

/// The WWW-Authenticate by which the doors of MCP lead there.
std::string challenge_at(const Kernel& kernel, std::string_view path);

inline constexpr std::string_view read_scope = "read", all_scopes = "read write";
/// What is granted to a client that asked for these scopes. Others are none of ours, and those that
/// are not asked for are not granted; who asks for none leaves it to the person.
inline bool asks_to_read_only(std::string_view scopes) {
    bool reads = false;
    while (!scopes.empty()) {
        const auto each = scopes.substr(0, scopes.find(' '));
        scopes.remove_prefix(std::min(each.size() + 1, scopes.size()));
        if (each == "write") return false;
        reads = reads || each == read_scope;
    }
    return reads;
}

}  // namespace svc::oauth
