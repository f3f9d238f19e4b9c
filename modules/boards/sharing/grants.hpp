#pragma once

#include "svc/kernel.hpp"

namespace svc::boards {

/// Puts the grants into the kernel. The operations that are added later have the tag `agents`.
void add_grants(Kernel& kernel);

}  // namespace svc::boards
