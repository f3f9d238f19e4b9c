#pragma once

#include "svc/kernel.hpp"

namespace svc::mcp {

/// Which sites' pages may talk to MCP: the server's own, and those the operator names. A page of
/// those sends its token itself; cookies are never let through. Any thread.
class Origins {
public:
    Origins(const Kernel& kernel, std::vector<std::string> allowed)
        : kernel_(kernel), allowed_(std::move(allowed)) {}

    /// A page of another site must not reach a server on its reader's own machine.
    bool admits(std::string_view origin) const;
    /// By which a browser lets the page read an answer, if it is one of those that are admitted.
    http::Headers for_page(const http::Request& request) const;
    /// To a browser that asks on behalf of a page whether it may send one of these methods.
    http::Answer preflight(const http::Request& request, std::string_view methods) const;

private:
    const Kernel& kernel_;
    const std::vector<std::string> allowed_;
};

}  // namespace svc::mcp
