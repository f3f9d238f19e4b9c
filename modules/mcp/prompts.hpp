#pragma once

#include "modules/mcp/resources.hpp"

namespace svc::mcp {

/// Members of results: what a person may have their agent do, by name.
std::string list_prompts();
/// Throws RpcError when there is no such prompt, or an argument of it is missing or wrong.
std::string get_prompt(const Reading& read, const Message& message);

}  // namespace svc::mcp
