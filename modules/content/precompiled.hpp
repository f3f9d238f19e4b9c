#pragma once

// What most files of this module include besides the kernel's headers.
#include "modules/lib/precompiled.hpp"

#include "modules/boards/api/access.hpp"
#include "modules/boards/api/bodies.hpp"
#include "modules/boards/api/card_ref.hpp"
#include "modules/content/api.hpp"
#include "modules/content/lib/block_input.hpp"
#include "modules/content/lib/payloads.hpp"
#include "modules/content/lib/rich_text.hpp"
#include "modules/content/lib/shown_files.hpp"
#include "modules/content/statements.hpp"
#include "modules/content/tree.hpp"
#include "modules/files/api.hpp"
