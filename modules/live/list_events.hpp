#pragma once

#include "svc/operation.hpp"

namespace svc::live {

/// A workspace's events after one that the caller knows, as far as the caller may see them. It uses
/// the Hub, which is offered, to wait for more.
extern const Operation list_events;

}  // namespace svc::live
