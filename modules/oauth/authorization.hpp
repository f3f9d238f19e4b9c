#pragma once

#include "svc/kernel.hpp"

namespace svc::oauth {

void add_authorization_operations(Kernel& kernel);

}  // namespace svc::oauth
