#pragma once

#include "svc/kernel.hpp"

namespace svc::auth {

/// `workboard user …`: what an operator does about accounts. Puts its events into the kernel, too.
void add_user_command(Kernel& kernel);

}  // namespace svc::auth
