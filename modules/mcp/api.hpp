#pragma once

#include "svc/kernel.hpp"

/// What other modules may add to MCP.
namespace svc::mcp {

/// A message whose sender has been let in, and whose envelope is right.
struct Incoming {
    RouteCall& call;
    const json::object& message;  ///< as it came
    std::string_view id;          ///< JSON; empty of a notification
    std::string_view method;      ///< empty when it answers a request of the server's
    const json::object* params;   ///< null when there are none
    std::string_view version;     ///< of the protocol
    bool stateless;               ///< it belongs to no session
};

/// Tools, resources and prompts that are no operations: what a plugin offers to have MCP speak of
/// more than the product does. One at most. Any thread.
class Extension {
public:
    static constexpr std::string_view name = "mcp.extension";
    virtual ~Extension() = default;

    /// What it adds to the first page that tools/list, resources/list, resources/templates/list or
    /// prompts/list gives: JSON, separated by commas; empty when there is nothing.
    virtual std::string listed(std::string_view method) const = 0;
    /// The whole answer, be it a stream; nothing when the message is not for it.
    virtual std::optional<http::Answer> answer(const Incoming& incoming) = 0;
};

/// Where clients without a good token get one. Offered by who hands them out; any thread.
class TokenSource {
public:
    static constexpr std::string_view name = "mcp.token_source";
    virtual ~TokenSource() = default;

    /// The WWW-Authenticate of a 401 at this path of MCP, in place of `Bearer`.
    virtual std::string challenge(std::string_view path) const = 0;
};

}  // namespace svc::mcp
