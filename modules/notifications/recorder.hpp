#pragma once

#include "svc/kernel.hpp"

namespace svc::notifications {

/// Writes down which events somebody may have to be told of: a durable consumer of events.
Consumer recorder(Kernel& kernel);

}  // namespace svc::notifications
