#pragma once

#include "svc/operation.hpp"

/// Short notes that a workspace keeps.
namespace svc::notes {

extern const EventKind note_created;
extern const Operation create_note, list_notes;

}  // namespace svc::notes
