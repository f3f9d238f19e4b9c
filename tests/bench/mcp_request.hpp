#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace svc::bench {

/// A message of the protocol that has no sessions, with the headers that clients of the SDKs send.
/// `members` are those of its parameters, each with a comma behind it; `name` is what a call is of.
inline std::string mcp_request(
    std::string_view token,
    std::string_view method,
    std::string_view members = {},
    std::string_view name = {}
) {
    const auto body = fmt::format(
        R"({{"jsonrpc":"2.0","id":1,"method":"{}","params":{{{})"
        R"("_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"
        R"("io.modelcontextprotocol/clientCapabilities":{{}}}}}}}})",
        method,
        members
    );
    return fmt::format(
        "POST /v1/mcp/http HTTP/1.1\r\nHost: bench\r\nAuthorization: Bearer {}\r\n"
        "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        "Accept-Encoding: gzip, deflate\r\n"
        "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: {}\r\n{}Content-Length: {}\r\n\r\n{}",
        token,
        method,
        name.empty() ? "" : fmt::format("Mcp-Name: {}\r\n", name),
        body.size(),
        body
    );
}

}  // namespace svc::bench
