#pragma once

#include "svc/kernel.hpp"

namespace svc::content {

/// Removes blocks and comments that were deleted before that. A job; any number of servers at once.
void add_purge(Kernel& kernel, std::chrono::seconds kept);

}  // namespace svc::content
