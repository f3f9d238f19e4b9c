// The descriptions of the structs that several files use.

#include "modules/auth/api.hpp"
#include "modules/lib/rich_text/rich_text.hpp"
#include "modules/orgs/api.hpp"

#include "svc/define_records.hpp"

#include "modules/boards/api/board.hpp"
#include "modules/boards/api/card_link.hpp"
#include "modules/boards/api/card_queue.hpp"
#include "modules/boards/api/column.hpp"
#include "modules/boards/api/definitions.hpp"
#include "modules/boards/api/moves.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/boards/api/stored_bytes.hpp"
