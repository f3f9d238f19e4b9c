// The descriptions of the structs that several files use.

#include "modules/boards/api/moves.hpp"
#include "modules/files/api.hpp"

#include "svc/define_records.hpp"

#include "modules/files/files.hpp"
