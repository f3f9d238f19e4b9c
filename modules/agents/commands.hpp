#pragma once

#include "svc/kernel.hpp"

namespace svc::agents {

/// `workboard token …` and `workboard agent …`.
Command token_command(Kernel& kernel);
Command agent_command(Kernel& kernel);

/// Revokes every token that a person owns, in every workspace, as an operator's `command`. How many
/// they were.
std::size_t revoke_tokens_of(Kernel& kernel, const Uuid& person, std::string_view command);

}  // namespace svc::agents
