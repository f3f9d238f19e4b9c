#pragma once

#include "svc/operation.hpp"

/// What an admin of a workspace sees of the operator's scripts.
namespace svc::automations {

/// Lists the scripts that run, for admins.
extern const Operation list_automations;

}  // namespace svc::automations
