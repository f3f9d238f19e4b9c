#pragma once

#include "modules/boards/statements.hpp"

/// What cards said before they were edited.
namespace svc::boards {

struct Card;

/// Queues what `after` is about to replace of `before`; how many bytes that are.
std::int64_t keep_version(Tx& tx, const Card& before, const Card& after);

}  // namespace svc::boards
