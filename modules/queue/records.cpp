// The descriptions of the structs that several files use.

#include "modules/boards/api/moves.hpp"
#include "modules/boards/api/shapes.hpp"
#include "modules/queue/api.hpp"
#include "modules/queue/lib/rows.hpp"

#include "svc/define_records.hpp"

#include "modules/queue/column_of_board.hpp"
#include "modules/queue/completion.hpp"
#include "modules/queue/holder_request.hpp"
#include "modules/queue/taking.hpp"
