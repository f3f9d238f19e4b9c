#pragma once

#include "modules/boards/statements.hpp"

/// What cards said before they were edited.
namespace svc::boards {

/// Queues what `before` says, which is about to be replaced.
void keep_version(Tx& tx, const Card& before);

}  // namespace svc::boards
