#pragma once

// What most files of this module include besides the kernel's headers. A card's shape is not among
// it, as half of them do without.
#include "modules/lib/precompiled.hpp"

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/moves.hpp"
#include "modules/queue/lib/rows.hpp"
#include "modules/queue/operations.hpp"
