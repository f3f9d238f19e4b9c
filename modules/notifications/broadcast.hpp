#pragma once

#include "svc/kernel.hpp"

namespace svc::notifications {

/// `workboard broadcast …`: what whoever runs the service has everybody know.
Command broadcast_command(Kernel& kernel);

}  // namespace svc::notifications
