#pragma once

#include "svc/call.hpp"

/// For guards (Operation::guards), which run before the kernel looks at what it asks otherwise
/// after the input's syntax.
namespace svc {

/// The caller as they are now, in the workspace that the request names. Failure 422 when what it
/// names can be none, 404 when the caller does not reach it. When their rights have changed the
/// call is run again from the start, so what follows is done for no one else.
const Caller& settled_caller(Call& call);

/// The 402 of a workspace whose writes are blocked.
Failure workspace_past_due();

}  // namespace svc
