#pragma once

#include "svc/kernel.hpp"

namespace svc::agents {

/// Puts the operations on tokens into the kernel.
void add_token_operations(Kernel& kernel);

}  // namespace svc::agents
