#pragma once

#include "svc/kernel.hpp"

namespace svc::notifications {

/// Emits `card.due` for cards that are due within so many hours, once for each due date.
void add_due_cards(Kernel& kernel, std::int64_t hours);

}  // namespace svc::notifications
