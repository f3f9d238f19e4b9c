#pragma once

// What most files of this module include besides the kernel's headers.
#include "modules/lib/precompiled.hpp"

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/card_files.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/named_cards.hpp"
#include "modules/boards/api/urls.hpp"
#include "modules/boards/api/watchers.hpp"
#include "modules/boards/placement/moves.hpp"
#include "modules/boards/statements.hpp"
