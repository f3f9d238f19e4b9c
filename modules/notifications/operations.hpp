#pragma once

#include "modules/boards/api/access.hpp"

namespace svc::notifications {

/// Whose notifications are asked for, and as whom they are judged: in no workspace there are only
/// those that are of none.
inline boards::BoardCaller reader_of(const Call& call) {
    const Caller& caller = call.caller();
    return boards::BoardCaller::of(caller, caller.org_id.value_or(Uuid{}));
}

void add_list(Kernel& kernel);
void add_reading(Kernel& kernel);

}  // namespace svc::notifications
