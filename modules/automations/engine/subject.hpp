#pragma once

#include "svc/kernel.hpp"

/// What an event is about, as scripts get it: the whole record
/// (docs/decisions/0031-an-event-has-its-subject.md).
namespace svc::automations {

/// The operation that reads the subject of this kind of events, and the arguments that it takes
/// from `data`; a std::logic_error when a kind that is to be read has none.
const Operation& reader_of(const Kernel& kernel, const EventKind& kind);

/// The subject of an event that has happened: as it was kept with the event, or as it is now. Empty
/// when it is gone meanwhile. Throws when the database fails.
std::string subject_of(Kernel& kernel, const StoredEvent& event);

/// The envelope with `subject` as its last member; without one when that is empty.
std::string with_subject(std::string envelope, std::string_view subject);

}  // namespace svc::automations
