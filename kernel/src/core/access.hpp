#pragma once

#include "core/caller_resolver.hpp"

/// Who may call an operation, as far as that is known without its handler: the role on a board is
/// known there alone.
namespace svc::core {

/// Steps 8 and 9 of the order of checks: the workspace, then the role in it.
void check_access(Access access, const CallerResolver& who);
/// Step 8: Failure 403 when the caller's token is limited to other operations.
void check_scope(const Kernel& kernel, const Operation& operation, const CallerResolver& who);
Failure outside_token_scope(const std::string& message);

/// Whether the caller's workspace owes too much for this.
bool is_past_due(const Operation& operation, const CallerResolver& who);

}  // namespace svc::core
