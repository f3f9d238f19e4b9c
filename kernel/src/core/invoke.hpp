#pragma once

#include "core/run.hpp"

/// Operations that code calls, with arguments as one JSON object.
namespace svc::core {

/// Kernel::invoke: for a caller that is vouched for, outside any request.
Invoked invoke_for(Kernel& kernel, const Caller& caller, const Invocation& invocation);
/// RouteCall::invoke: for the caller of a request.
Invoked invoke_within(const Run& run, std::string_view arguments);

}  // namespace svc::core
