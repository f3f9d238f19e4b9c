#pragma once

#include "modules/notifications/facts.hpp"

namespace svc::notifications {

/// Puts back what a comment or blocks that were made say, where it is too long for their event:
/// an event leaves out the largest of its values (docs/events.md). It is what they say now. What
/// was said before a change is nowhere else, so of changes it stays out.
void restore_long_texts(Tx& tx, Facts& facts);

}  // namespace svc::notifications
