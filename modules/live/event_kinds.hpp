#pragma once

#include "svc/kernel.hpp"

/// The catalogue of events: the kinds that the modules which are on declare.
namespace svc::live {

/// Lists the kinds with the shape of their data, for everybody.
extern const Operation list_event_kinds;

/// The part of docs/events.md that is made of the declarations: a table of kinds, and one of what
/// each type of subject has.
std::string kinds_as_markdown(const Kernel& kernel);

}  // namespace svc::live
